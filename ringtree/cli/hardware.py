"""`ringtree hardware`: what is known of GPUs, links, networks and systems, and where each number is from.

For: options and tables of the catalogue. Not for: its entries (ringtree.hardware), what this machine can do
(ringtree.probe).
"""

from __future__ import annotations

import json as json_format
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

from ringtree.cli.options import AsJson
from ringtree.cli.outcome import exit_codes
from ringtree.errors import UsageError
from ringtree.hardware import Catalogue, Gpu, System, load_catalogue, match_gpu
from ringtree.hardware.entries import Sourced
from ringtree.show.cells import cell, console_for_tables, plain_table

FORMAT = "ringtree.hardware/1"
SINGULAR = {"gpus": "GPU", "links": "link", "switches": "switch", "networks": "network", "systems": "system"}
KINDS = tuple(SINGULAR)


def hardware(
    name: Annotated[
        str | None,
        typer.Argument(help="An entry, or a GPU as the driver names it: show its numbers and their sources."),
    ] = None,
    json: AsJson = False,
) -> None:
    """List known GPUs, links, networks and systems, or show one with its sources. Rates are per direction."""
    with exit_codes():
        known = load_catalogue()
        if name is not None:
            entries = find(known, name)
            if json:
                shown = [{"kind": kind, **_with_sources(known, entry)} for kind, entry in entries]
                typer.echo(json_format.dumps({"format": FORMAT, "entries": shown}, indent=1, ensure_ascii=False))
                return
            for kind, entry in entries:
                _show(console_for_tables(), known, kind, entry)
            return
        if json:
            lists = {kind: [entry.model_dump(mode="json") for entry in _all(known, kind).values()] for kind in KINDS}
            sources = [source.model_dump(mode="json") for source in known.sources.values()]
            record = {"format": FORMAT, **lists, "sources": sources}
            typer.echo(json_format.dumps(record, indent=1, ensure_ascii=False))
            return
        _list(console_for_tables(), known)


def find(known: Catalogue, name: str) -> list[tuple[str, Sourced]]:
    """The entries that `name` means: one, or several for an ambiguous GPU. Raises UsageError for an unknown name."""
    wanted = name.lower()
    for kind in KINDS:
        for entry in _all(known, kind).values():
            also = entry.names if isinstance(entry, System) else []
            if wanted in [entry.name.lower(), *also]:
                return [(kind, entry)]
    found = match_gpu(name, known)
    if found.candidates:
        return [("gpus", gpu) for gpu in ([found.gpu] if found.gpu is not None else found.candidates)]
    near = [entry.name for kind in KINDS for entry in _all(known, kind).values() if wanted in entry.name.lower()]
    hint = f"; there are {', '.join(near)}" if near else "; `ringtree hardware` lists the catalogue"
    raise UsageError(f"nothing in the catalogue is called {name!r}{hint}")


def _all(known: Catalogue, kind: str) -> Mapping[str, Sourced]:
    entries: Mapping[str, Sourced] = getattr(known, kind)
    return entries


def _with_sources(known: Catalogue, entry: Sourced) -> dict[str, Any]:
    record = entry.model_dump(mode="json")
    record["sources"] = [
        {**known.sources[source].model_dump(mode="json"), "states": keys} for source, keys in entry.sources.items()
    ]
    return record


def _list(console: Console, known: Catalogue) -> None:
    gpus = plain_table("name", "memory GB", "links", "all links GB/s", "to the CPU GB/s", "NVLS", title=cell("GPUs"))
    for gpu in known.gpus.values():
        links = None if gpu.link is None else f"{gpu.link_count} × {gpu.link}"
        rates = [_gb(known.link_rate(gpu)), _gb(known.host_link_rate(gpu))]
        gpus.add_row(cell(gpu.name), cell(f"{gpu.memory_GB:g}"), cell(links), *rates, "yes" if gpu.nvls else "")
    systems = plain_table("name", "maker", "GPUs", "inside", "NICs", "network Gb/s", title=cell("Systems"))
    for system in known.systems.values():
        network = None if system.network is None else f"{system.nics_per_host or '?'} × {system.network}"
        rate = None if system.host_Gbps is None else f"{system.host_Gbps:g}"
        which = f"{system.gpus_per_host} × {' or '.join(system.gpus)}"
        systems.add_row(
            cell(system.name), cell(system.maker), cell(which), cell(_inside(system)), cell(network), cell(rate)
        )
    link_table = plain_table("name", "GB/s", title=cell("Links"))
    for link in known.links.values():
        link_table.add_row(cell(link.name), cell(link.per_direction_GBps))
    networks = plain_table("name", "Gb/s", title=cell("Networks, of one port"))
    for port in known.networks.values():
        networks.add_row(cell(port.name), cell(f"{port.per_direction_Gbps:g}"))
    for table in (gpus, link_table, networks, systems):
        console.print(table)
    console.print(
        "All rates are per direction: what data sheets print for GPUs is both directions together. GB/s: 1e9 bytes/s. "
        "`ringtree hardware NAME` shows where the numbers are from; RINGTREE_HARDWARE names a folder with entries of "
        "your own."
    )


def _inside(system: System) -> str:
    words = system.topology.replace("_", " ")
    if system.switch is not None:
        words = system.switch
    if system.links_per_pair is not None:
        words += f", {system.links_per_pair} a pair"
    if system.domain_hosts is not None:
        words += f", {system.domain_hosts} hosts a domain"
    return words


def _show(console: Console, known: Catalogue, kind: str, entry: Sourced) -> None:
    table = plain_table("", "", "source", title=cell(f"{SINGULAR[kind]}: {entry.name}"))
    for key, value in entry:
        if key in ("name", "sources", "note") or value in (None, [], ""):
            continue
        stated = [source for source, keys in entry.sources.items() if key in keys]
        shown = ", ".join(value) if isinstance(value, list) else value
        table.add_row(key, cell(f"{shown:g}" if isinstance(shown, float) else shown), cell(", ".join(stated)))
    if isinstance(entry, Gpu) and known.link_rate(entry) is not None:
        words = f"{entry.link_count} × {entry.link}"
        table.add_row("all links, per direction", cell(f"{(known.link_rate(entry) or 0) / 1e9:g} GB/s"), cell(words))
    console.print(table)
    if entry.note:
        console.print(cell(entry.note))
    for source in entry.sources:
        record = known.sources[source]
        read = f"read {record.accessed}" if record.accessed else "known by name, not read"
        console.print(cell(f"{source}: {record.title}, {record.published or 'no date'}, {record.address} ({read})"))
    console.print()


def _gb(rate: float | None) -> Any:
    return cell(None if rate is None else f"{rate / 1e9:.4g}")
