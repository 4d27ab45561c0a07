"""What simulations say: a point for each arm, size and number of nodes, and what follows from many of them.

For: the records that tables, JSON and stored runs are made of; crossovers; what limits. Not for: simulating (sweep.py),
printing.

Every time here is simulated. Nothing was measured, and nothing has an interval.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from pydantic import Field

from ringtree.results import Record

FORMAT = "ringtree.simulation/1"
LIMITS = ("latency", "link", "copy", "reduce", "slots", "launch")
NOT_MODELLED = (
    "congestion control and losses, queues in switches, several paths of one network (a leaf's uplinks count as one), "
    "reduction in switches of the network, CPUs' interference, memory traffic of other jobs; channels all take one "
    "order of ranks"
)


class Busiest(Record):
    """The link that was in use for the longest time. `share`: of the call's time."""

    name: str
    kind: str
    share: float
    sent_bytes: int


class Point(Record):
    """One simulated call. `limit`: seconds of the critical path by what they were spent on."""

    simulated: bool = True
    nodes: int
    num_ranks: int
    arm: str
    algorithm: str
    protocol: str
    channels: int = Field(description="of all shares together, where an algorithm is a mix")
    size_bytes: int
    seconds: float
    algbw: float
    busbw: float | None = Field(description="bytes/s; null for a collective without such a rate")
    limit: dict[str, float]
    limited_by: str
    critical_links: list[str] = Field(description="links of the critical path, those with most of its time first")
    busiest: Busiest | None
    num_events: int
    lanes: int = Field(
        description="simulated; fewer than all_lanes where some are exactly alike and stand for the rest"
    )
    all_lanes: int = Field(
        description="of the call; a lane is what a rank does one step after the other on one channel"
    )


class Left(Record):
    """What was asked for and can't be simulated, and why."""

    nodes: int
    arm: str
    why: str


class Crossing(Record):
    """Between two sizes the fastest arm changes on so many nodes; `at`: where the lines between them meet."""

    nodes: int
    below: int
    above: int
    at: int
    first: str
    second: str


class Simulation(Record):
    """A sweep's result, as `ringtree simulate --json` prints it."""

    format: str = FORMAT
    simulated: bool = True
    cluster: str
    asked: str = Field(description="how the cluster was asked for: a name or a file")
    title: str
    what_if: list[str]
    collective: str
    ranks_per_node: int
    points: list[Point]
    crossings: list[Crossing]
    left_out: list[Left]
    assumed: list[str] = Field(description="keys of the constants that nothing states")
    not_modelled: str = NOT_MODELLED
    runs: list[str] = Field(default_factory=list, description="where they are stored; one for each number of nodes")


def fastest(points: Iterable[Point]) -> dict[tuple[int, int], Point]:
    """Returns the fastest point by (nodes, size); of equal ones the first."""
    found: dict[tuple[int, int], Point] = {}
    for point in points:
        key = (point.nodes, point.size_bytes)
        if key not in found or point.seconds < found[key].seconds:
            found[key] = point
    return found


def crossings(points: Sequence[Point]) -> list[Crossing]:
    """Returns where the fastest arm changes from one size to the next, by number of nodes."""
    best, of = fastest(points), {(one.nodes, one.size_bytes, one.arm): one.seconds for one in points}
    found = []
    for nodes in dict.fromkeys(one.nodes for one in points):
        sizes = sorted(size for of_nodes, size in best if of_nodes == nodes)
        for below, above in itertools.pairwise(sizes):
            first, second = best[nodes, below].arm, best[nodes, above].arm
            ends = [of.get((nodes, size, arm)) for size in (below, above) for arm in (first, second)]
            if first != second and None not in ends:
                at = _meeting(below, above, [end for end in ends if end is not None])
                found.append(Crossing(nodes=nodes, below=below, above=above, at=at, first=first, second=second))
    return found


def _meeting(below: int, above: int, ends: Sequence[float]) -> int:
    """Where the ratio of two arms' times passes 1, linear in logarithms: ends are (first, second) below, then above."""
    low, high = math.log(ends[1] / ends[0]), math.log(ends[2] / ends[3])
    share = low / (low + high) if low + high > 0 else 0.5
    return round(math.exp(math.log(below) + share * math.log(above / below)))
