"""Reads the catalogue: the TOML files of this package, then the user's own.

For: files in, checked `Catalogue` out; errors name file, entry and key. Not for: what an entry holds (entries.py).

A file has tables `[source.ID]`, `[link.NAME]`, `[gpu.NAME]`, `[switch.NAME]`, `[network.NAME]`, `[system.NAME]`. Own
entries: every *.toml of the folder that RINGTREE_HARDWARE names, else of ~/.config/ringtree/hardware, in the format of
the files in ringtree/hardware/catalogue; one may refer to entries and sources of the package. An own entry replaces one
of the same kind and name.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ringtree.errors import UsageError
from ringtree.hardware.entries import Catalogue, Gpu, Link, Network, Source, Sourced, Switch, System
from ringtree.user_files import configured

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VARIABLE = "RINGTREE_HARDWARE"
PACKAGE = Path(__file__).parent / "catalogue"
KINDS: dict[str, type[Source] | type[Sourced]] = {
    "source": Source,
    "link": Link,
    "gpu": Gpu,
    "switch": Switch,
    "network": Network,
    "system": System,
}

# (kind, name) -> the file and the entry that count.
_Entries = dict[tuple[str, str], tuple[Path, Any]]


def load_catalogue(own: Path | None = None) -> Catalogue:
    """The package's entries and those of the folder `own` (None: as RINGTREE_HARDWARE says). UsageError names
    file and key."""
    folder = configured(VARIABLE, "hardware") if own is None else own
    named = own is not None or bool(os.environ.get(VARIABLE))
    if named and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: {VARIABLE} names the one with your own hardware files (*.toml)")
    files = sorted(folder.glob("*.toml")) if folder.is_dir() else []
    return _load(tuple((file, file.stat().st_mtime_ns) for file in files))


@lru_cache(maxsize=8)
def _load(own_files: tuple[tuple[Path, int], ...]) -> Catalogue:
    """The times of the files are part of the key, so that an edited file is read again."""
    entries: _Entries = {}
    for file in [*sorted(PACKAGE.glob("*.toml")), *(file for file, _ in own_files)]:
        seen: set[tuple[str, str]] = set()
        for key, entry in _read(file):
            entries[key] = (file, entry)
            seen.add(key)
    for (kind, name), (file, entry) in entries.items():
        for wrong, problem in _problems(kind, entry, entries):
            raise UsageError(f"{file}: {kind}.{name}, key {wrong}: {problem}")
    fields: dict[str, dict[str, Any]] = {_plural(kind): {} for kind in KINDS}
    for (kind, name), (_, entry) in entries.items():
        fields[_plural(kind)][name] = entry
    return Catalogue(**fields)


def _read(file: Path) -> Iterator[tuple[tuple[str, str], Any]]:
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file}: {error}") from None
    for kind, named in tables.items():
        if kind not in KINDS:
            raise UsageError(f"{file}: key {kind}: no such kind of entry; there are {', '.join(KINDS)}")
        if not isinstance(named, Mapping):
            raise UsageError(f"{file}: key {kind}: must hold tables such as [{kind}.NAME]")
        for name, values in named.items():
            yield (kind, name), _entry(file, kind, name, values)


def _entry(file: Path, kind: str, name: str, values: Any) -> Any:
    if not isinstance(values, Mapping):
        raise UsageError(f"{file}: key {kind}.{name}: must be a table")
    try:
        return KINDS[kind].model_validate({"id" if kind == "source" else "name": name, **values})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "(the whole entry)"
        message = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{file}: {kind}.{name}, key {key}: {message}") from None


def _problems(kind: str, entry: Any, entries: _Entries) -> Iterator[tuple[str, str]]:
    """(key, what is wrong) of references and of sums that need other entries."""
    if isinstance(entry, Sourced):
        for source in entry.sources:
            if ("source", source) not in entries:
                yield "sources", f"there is no source {source!r}"
    for key, target in _references(entry):
        if (_kind_of(key), target) not in entries:
            yield key, f"there is no {_kind_of(key)} {target!r}"
            return
    if isinstance(entry, Gpu):
        yield from _gpu_problems(entry, entries)
    if isinstance(entry, System):
        yield from _system_problems(entry, entries)


def _plural(kind: str) -> str:
    return kind + ("es" if kind == "switch" else "s")


def _kind_of(key: str) -> str:
    return {"host_link": "link", "gpus": "gpu"}.get(key, key)


def _references(entry: Any) -> Iterator[tuple[str, str]]:
    if isinstance(entry, (Gpu, Switch, System)):
        for key in ("link", "host_link", "gpus", "switch", "network"):
            value = getattr(entry, key, None)
            for target in value if isinstance(value, list) else [value]:
                if target is not None:
                    yield key, target


def _gpu_problems(gpu: Gpu, entries: _Entries) -> Iterator[tuple[str, str]]:
    if (gpu.link is None) != (gpu.link_count is None):
        yield "link_count", "`link` and `link_count` belong together"
    elif gpu.link is not None and gpu.link_count is not None and gpu.stated_total_both_ways_GBps is not None:
        rate = entries["link", gpu.link][1].per_direction_GBps
        total = 2 * gpu.link_count * rate
        if not math.isclose(total, gpu.stated_total_both_ways_GBps, rel_tol=0.01):
            yield (
                "stated_total_both_ways_GBps",
                f"{gpu.stated_total_both_ways_GBps:g} is not 2 directions × {gpu.link_count} links × {rate:g} GB/s = "
                f"{total:g}",
            )


def _system_problems(system: System, entries: _Entries) -> Iterator[tuple[str, str]]:
    if (system.topology == "nvswitch") != (system.switch is not None):
        yield "switch", "belongs to the topology nvswitch, and to no other"
    if (system.topology in ("mesh", "bridge")) != (system.links_per_pair is not None):
        yield "links_per_pair", "belongs to the topologies mesh and bridge, and to no other"
    if system.network is not None and system.nics_per_host is not None and system.host_Gbps is not None:
        rate = entries["network", system.network][1].per_direction_Gbps
        if not math.isclose(rate * system.nics_per_host, system.host_Gbps, rel_tol=0.01):
            yield "host_Gbps", f"{system.host_Gbps:g} is not {system.nics_per_host} NICs × {rate:g} Gb/s"
    for name in system.gpus:
        gpu = entries["gpu", name][1]
        if system.topology not in ("pcie", "bridge") and gpu.link is None:
            yield "topology", f"{name} has no links for {system.topology}"
        if system.topology == "mesh" and gpu.link_count is not None and system.links_per_pair is not None:
            used = system.links_per_pair * (system.gpus_per_host - 1)
            if used > gpu.link_count:
                yield "links_per_pair", f"{used} links to the other GPUs, but {name} has {gpu.link_count}"
