"""`ringtree play`: algorithms, animated, in an HTML file.

For: seeing what ranks send to each other and what each of them then holds. Not for: real times (ringtree trace-run).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ringtree.cli.options import written
from ringtree.cli.outcome import exit_codes
from ringtree.errors import RingtreeError, UsageError, os_errors
from ringtree.schedules import algorithms
from ringtree.schedules.format import from_json
from ringtree.schedules.schedule import Schedule, schedule
from ringtree.show.player import headline, page, recorded_page, scene, simulated_scene
from ringtree.simulate.cluster import Cluster, load_cluster
from ringtree.simulate.played import hosts_of, simulated
from ringtree.units import parse_duration, parse_hosts, parse_rate, parse_size

LAYOUTS = {"auto": "auto", "ring": "circle", "tree": "tree", "hosts": "hosts"}


def play(
    context: typer.Context,
    schedules: Annotated[
        str,
        typer.Argument(metavar="ALGORITHMS", help="Up to four algorithms or schedule files: ring,tree,my.json"),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path("play.html"),
    collective: Annotated[str, typer.Option(help="Collective.")] = "all_reduce",
    ranks: Annotated[int | None, typer.Option(min=1, max=1024, help="Number of ranks. Default: 8.")] = None,
    hosts: Annotated[
        str | None,
        typer.Option(help="Ranks on several hosts: 2x4 (hosts x ranks per host), or 3,2 (ranks of each host)."),
    ] = None,
    size: Annotated[str, typer.Option(help="Initial size; a slider changes it.")] = "1M",
    alpha: Annotated[str, typer.Option(help="Initial latency of a message.")] = "10us",
    bandwidth: Annotated[str, typer.Option(help="Initial bandwidth of a rank's port, each direction.")] = "25GB/s",
    slice_size: Annotated[
        str, typer.Option("--slice", help="Initial size of a slice, the piece that travels at once.")
    ] = "128K",
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Animate what `ringtree simulate` computes for a described cluster, message by message.",
        ),
    ] = None,
    nodes: Annotated[int, typer.Option(min=1, help="With --cluster: number of hosts.")] = 1,
    layout: Annotated[str | None, typer.Option(help="How ranks are drawn: ring, tree, hosts or auto.")] = None,
) -> None:
    """Write an HTML page that animates schedules side by side on one clock, step by step."""
    with exit_codes():
        on = None if cluster is None else load_cluster(cluster)
        _refuse_both(context, has_cluster=on is not None)
        drawn = layout or "auto"
        if drawn not in LAYOUTS:
            raise UsageError(f"{drawn!r} is not a way to draw ranks: choose one of {', '.join(LAYOUTS)}")
        where: Sequence[int] | None = _hosts(hosts, ranks) if on is None else hosts_of(on, nodes)
        num_ranks = len(where) if where is not None else ranks or 8
        names = [name for name in schedules.split(",") if name]
        domain = 1 if on is None else on.domain_hosts
        chosen = [_schedule(name, collective, num_ranks, where, domain) for name in names]
        title = f"{_joined([one.name for one in chosen])}, step by step"
        if on is not None:
            text = _simulated(on, chosen, nodes, parse_size(size), title, LAYOUTS[drawn])
        else:
            text = page(
                [scene(one, where if where is not None and one.num_ranks == len(where) else None) for one in chosen],
                title=title,
                alpha=parse_duration(alpha),
                bandwidth=parse_rate(bandwidth),
                size_bytes=parse_size(size),
                slice_bytes=parse_size(slice_size),
                layout=LAYOUTS[drawn],
            )
        with os_errors(f"can't write {output}", kind=RingtreeError):
            output.write_text(text, encoding="utf-8")
        typer.echo(f"{output}: {len(text) // 1024} KB, open it in a browser")


def _refuse_both(context: typer.Context, has_cluster: bool) -> None:
    """A cluster says where ranks are and what links do; without one there are no nodes of it."""
    of_links = ("ranks", "hosts", "alpha", "bandwidth", "slice_size")
    said = ", ".join(written(context, *(of_links if has_cluster else ("nodes",))))
    if said:
        both = f"--cluster sets {said}: leave out one or the other"
        raise UsageError(both if has_cluster else f"{said} is for --cluster")


def _hosts(hosts: str | None, ranks: int | None) -> list[int] | None:
    """Of every rank; None where all share one."""
    where = None if hosts is None else parse_hosts(hosts)
    if where is not None and ranks not in (None, len(where)):
        raise UsageError(f"--hosts {hosts} are {len(where)} ranks, --ranks says {ranks}")
    return where


def _simulated(on: Cluster, chosen: list[Schedule], nodes: int, size_bytes: int, title: str, layout: str) -> str:
    calls = [simulated(on, one, nodes, size_bytes) for one in chosen]
    scenes = [simulated_scene(one) for one in calls]
    return recorded_page(scenes, title=title, size_bytes=size_bytes, headline=headline(calls, scenes), layout=layout)


def _is_file(name: str) -> bool:
    return name.endswith(".json") or Path(name).is_file()


def _schedule(name: str, collective: str, num_ranks: int, hosts: Sequence[int] | None, domain_hosts: int) -> Schedule:
    """`domain_hosts`: that share a switch, which is what a schedule with switches takes for a host."""
    if _is_file(name):
        try:
            with os_errors(f"can't read {name}"):
                return from_json(Path(name).read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            raise UsageError(f"{name} is not text: {error.reason}") from error
    if hosts is not None and algorithms.uses_switch(name):
        hosts = [host // domain_hosts for host in hosts]
    return schedule(collective, name, num_ranks, hosts=hosts)


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
