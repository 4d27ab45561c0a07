"""`ringtree play`: algorithms, animated, in an HTML file.

For: seeing what ranks send to each other and what each of them then holds. Not for: real times (ringtree trace-run).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtree.cli.options import written
from ringtree.cli.outcome import exit_codes
from ringtree.errors import RingtreeError, UsageError, os_errors
from ringtree.schedules.format import from_json
from ringtree.schedules.schedule import Schedule, schedule
from ringtree.show.player import page, scene
from ringtree.simulate.cluster import Cluster, load_cluster
from ringtree.simulate.on_core import CORE
from ringtree.simulate.played import Clock, played, simulated_seconds
from ringtree.units import count, format_size, format_time, parse_duration, parse_hosts, parse_rate, parse_size

LAYOUTS = {"auto": "auto", "ring": "circle", "tree": "tree", "hosts": "hosts"}


def play(
    context: typer.Context,
    schedules: Annotated[
        str,
        typer.Argument(metavar="ALGORITHMS", help="Up to four, by name or as files of schedules: ring,tree,my.json"),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path("play.html"),
    collective: Annotated[str, typer.Option(help="Which collective.")] = "all_reduce",
    ranks: Annotated[int | None, typer.Option(min=1, max=1024, help="How many ranks (default: 8).")] = None,
    hosts: Annotated[
        str | None,
        typer.Option(help="Ranks on several hosts: hosts x ranks per host, or ranks of each host: 2x4; 3,2."),
    ] = None,
    size: Annotated[str, typer.Option(help="Size at the beginning; a slider changes it.")] = "1M",
    alpha: Annotated[str, typer.Option(help="Latency of a message at the beginning.")] = "10us",
    bandwidth: Annotated[str, typer.Option(help="Of a rank's port in each direction at the beginning.")] = "25GB/s",
    slice_size: Annotated[str, typer.Option("--slice", help="Pieces that travel at once, at the beginning.")] = "128K",
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Ranks, latencies and rates of a described cluster; the page also says what `ringtree simulate` says.",
        ),
    ] = None,
    nodes: Annotated[int, typer.Option(min=1, help="With --cluster: hosts.")] = 1,
    layout: Annotated[str | None, typer.Option(help="How ranks are drawn: ring, tree, hosts or auto.")] = None,
) -> None:
    """Write a page that plays schedules side by side on one clock, step by step."""
    with exit_codes():
        on = None if cluster is None else load_cluster(cluster)
        own = (
            written(context, "ranks", "hosts", "alpha", "bandwidth", "slice_size") if on else written(context, "nodes")
        )
        if own:
            said = ", ".join(own)
            raise UsageError(f"--cluster sets {said}: leave out one or the other" if on else f"{said} is for --cluster")
        described = None if on is None else played(on, nodes)
        where = described.hosts if described is not None else None if hosts is None else parse_hosts(hosts)
        if where is not None and ranks not in (None, len(where)):
            raise UsageError(f"--hosts {hosts} are {len(where)} ranks, --ranks says {ranks}")
        drawn = layout or "auto"
        if drawn not in LAYOUTS:
            raise UsageError(f"{drawn!r} is not a way to draw ranks: choose one of {', '.join(LAYOUTS)}")
        num_ranks = len(where) if where is not None else ranks or 8
        names = [name for name in schedules.split(",") if name]
        chosen = [_schedule(name, collective, num_ranks, where) for name in names]
        scenes = [scene(one, where if where is not None and one.num_ranks == len(where) else None) for one in chosen]
        between = Clock(parse_duration(alpha), parse_rate(bandwidth)) if described is None else described.between
        text = page(
            scenes,
            title=f"{_joined([one.name for one in chosen])}, step by step",
            alpha=between.alpha,
            bandwidth=between.bandwidth,
            size_bytes=parse_size(size),
            slice_bytes=parse_size(slice_size) if described is None else described.slot_bytes,
            layout=LAYOUTS[drawn],
            inside=None if described is None else described.inside,
            note="" if on is None else _simulated(on, names, collective, nodes, parse_size(size)),
        )
        with os_errors(f"can't write {output}", kind=RingtreeError):
            output.write_text(text, encoding="utf-8")
        typer.echo(f"{output}: {len(text) // 1024} KB, open it in a browser")


def _simulated(cluster: Cluster, names: list[str], collective: str, nodes: int, size_bytes: int) -> str:
    """What `ringtree simulate` says of the same calls; not of schedules in files, which it does not take."""
    told = [
        f"{name} {format_time(simulated_seconds(cluster, CORE, collective, name, nodes, size_bytes))}"
        for name in names
        if not _is_file(name)
    ]
    said = f"Simulated there: {', '.join(told)} for {format_size(size_bytes)}. " if told else ""
    return (
        f"On {count(nodes, 'node')} of {cluster.title or cluster.name}, as described. {said}The animation has these "
        "links' latencies and rates, one port a rank and one channel; the simulator also has links that are shared, "
        "slots, copying and all channels."
    )


def _is_file(name: str) -> bool:
    return name.endswith(".json") or Path(name).is_file()


def _schedule(name: str, collective: str, num_ranks: int, hosts: list[int] | None) -> Schedule:
    if _is_file(name):
        try:
            with os_errors(f"can't read {name}"):
                return from_json(Path(name).read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            raise UsageError(f"{name} is not text: {error.reason}") from error
    return schedule(collective, name, num_ranks, hosts=hosts)


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
