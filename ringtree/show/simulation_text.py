"""A simulation on a terminal: times and rates by size, what is fastest, what limits, and what is not modelled.

For: `ringtree simulate`. Not for: computing any of it (ringtree.simulate), stored runs (comparison_table.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table

from ringtree.show.cells import cell, plain_table, say
from ringtree.simulate.points import Point, Simulation, fastest
from ringtree.units import count, format_rate, format_share, format_size, format_size_range, format_time

CAUSES = {
    "latency": "latency",
    "link": "link",
    "copy": "copying",
    "reduce": "reduction",
    "slots": "full slots",
    "launch": "launch",
}


def print_simulation(console: Console, result: Simulation) -> None:
    """Prints a table for each number of nodes, then what follows from all of them."""
    changed = f", what if {'; '.join(result.what_if)}" if result.what_if else ""
    say(console, f"simulated, not measured: {result.collective} on {result.title or result.cluster}{changed}")
    for nodes, points in groupby(result.points, key=lambda one: one.nodes):
        console.print()
        console.print(_table(nodes, list(points)))
    for line in conclusions(result):
        say(console, line)


def conclusions(result: Simulation) -> Iterator[str]:
    """Yields crossovers, what was left out, what is assumed and not modelled, where runs are stored."""
    yield from crossing_lines(result)
    yield from symmetry_lines(result.points)
    yield from left_out_lines(result)
    if result.assumed:
        what = count(len(result.assumed), "constant")
        yield f"assumed: {what} of {result.cluster}: `ringtree cluster show {result.asked}`"
    yield f"not modelled: {result.not_modelled}"
    for path in result.runs:
        yield f"stored, marked as simulated: {path}"


def left_out_lines(result: Simulation) -> Iterator[str]:
    """Yields, for each arm that could not be simulated, on which numbers of nodes, and why on the first of them."""
    for arm in dict.fromkeys(one.arm for one in result.left_out):
        of_arm = [one for one in result.left_out if one.arm == arm]
        where = ", ".join(str(one.nodes) for one in of_arm)
        nodes = count(of_arm[0].nodes, "node") if len(of_arm) == 1 else f"{where} nodes"
        yield f"left out: {arm} on {nodes}: {of_arm[0].why}"


def symmetry_lines(points: Sequence[Point]) -> Iterator[str]:
    """Yields, if any call was simulated by some of its lanes, how few of them an arm took; the result is the same."""
    shares: dict[str, float] = {}
    for one in points:
        shares[one.arm] = min(shares.get(one.arm, 1), one.lanes / one.all_lanes)
    told = [f"{arm} from {format_share(share)} of its lanes" for arm, share in shares.items() if share < 1]
    if told:
        yield f"exactly alike, so simulated once: {', '.join(told)}"


def crossing_lines(result: Simulation) -> Iterator[str]:
    """Yields where the fastest arm changes, a line for each number of nodes; without a change, which one it is."""
    best = fastest(result.points)
    if len({one.arm for one in result.points}) < 2:
        return
    for nodes in dict.fromkeys(one.nodes for one in result.points):
        of_nodes = [one for one in result.crossings if one.nodes == nodes]
        if of_nodes:
            told = "; ".join(f"{one.first} below {format_size_range(one.at, one.at)}, {one.second} above"
                             for one in of_nodes)  # fmt: skip
        else:
            told = f"{next(point.arm for (of, _), point in best.items() if of == nodes)} at every size"
        yield f"fastest on {count(nodes, 'node')}: {told}"


def _table(nodes: int, points: list[Point]) -> Table:
    ranks, channels = points[0].num_ranks, points[0].channels
    table = plain_table(
        "size",
        "arm",
        right=("time", "busbw"),
        title=cell(f"{count(nodes, 'node')}, {count(ranks, 'rank')}, {count(channels, 'channel')} (simulated)"),
    )
    for heading in ("limited by", "busiest link"):
        table.add_column(heading, no_wrap=True)
    best = fastest(points)
    for size, group in groupby(sorted(points, key=lambda one: one.size_bytes), key=lambda one: one.size_bytes):
        for number, point in enumerate(group):
            mark = " *" if best[nodes, size] is point and len({one.arm for one in points}) > 1 else ""
            table.add_row(
                cell("" if number else format_size(size)),
                cell(f"{point.arm}{mark}"),
                cell(format_time(point.seconds)),
                cell("" if point.busbw is None else format_rate(point.busbw)),
                cell(_limit(point)),
                cell(_busiest(point)),
            )
    return table


def limit_of(point: Point) -> tuple[str, str] | None:
    """Returns what most of a call's time went on, and its share of it; None of a call that takes no time."""
    total = sum(point.limit.values())
    if not total:
        return None
    share = format_share(point.limit[point.limited_by] / total)
    return CAUSES.get(point.limited_by, point.limited_by), share


def _limit(point: Point) -> str:
    return " ".join(limit_of(point) or ())


def _busiest(point: Point) -> str:
    return "" if point.busiest is None else f"{point.busiest.name}, busy {format_share(point.busiest.share)}"
