"""The highest rates that hardware permits: bytes over each class of links, and how long the slowest class takes.

For: holding a measurement against what cannot be exceeded. Not for: predicting what is reached (ringtree.model): no
latency, no protocol overhead, no contention is counted, and where the placement of rings or trees is not known the most
favourable one is assumed. A limit that is too high is harmless; one that is too low calls honest results false.

ringtree's algorithms are counted in their schedules (schedule_traffic.py), and `highest` rests on what any algorithm
must move (floors.py). NCCL's are closed forms (ringtree.nccl.limits).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from ringtree.errors import UsageError
from ringtree.hardware.arithmetic import sentence
from ringtree.hardware.floors import ROOTED, floors
from ringtree.hardware.limit_records import Limit, LinkClass, LinkUse, Traffic
from ringtree.hardware.schedule_traffic import MAX_RANKS, count
from ringtree.hardware.topology import Topology
from ringtree.schedules.schedule import Schedule, schedule
from ringtree.stats.bandwidth import bus_factor

Library = Literal["nccl", "ringtree", "any"]


def limit(collective: str, algorithm: str, topology: Topology) -> Limit:
    """The highest rates of ringtree's `algorithm` on `topology`, counted in its schedule step by step. NCCL's are in
    ringtree.nccl. Raises UsageError for an unknown name, and where the collective has no such algorithm."""
    check_collective(collective)
    if topology.num_ranks > MAX_RANKS:
        raise UsageError(
            f"{topology.num_ranks} ranks are too many to count {algorithm} step by step (at most {MAX_RANKS})"
        )
    hosts = [rank // topology.ranks_per_host for rank in range(topology.num_ranks)]
    return schedule_limit(schedule(collective, algorithm, topology.num_ranks, hosts=hosts), topology)


def schedule_limit(own: Schedule, topology: Topology) -> Limit:
    """The highest rates of a schedule, such as one that you wrote, counted step by step."""
    return limit_of(own.collective, own.name, "ringtree", topology, count(own, topology))


def highest(collective: str, topology: Topology) -> Limit:
    """The highest rates of any algorithm that can exist on `topology`, NCCL's, ringtree's or one nobody has written:
    what exceeds them was not measured. Its `algorithm` is "any"."""
    check_collective(collective)
    return _highest(collective, topology)


@lru_cache(maxsize=256)  # a log may hold a thousand tables of one machine
def _highest(collective: str, topology: Topology) -> Limit:
    moved = floors(collective, topology) if topology.num_ranks > 1 else []
    return limit_of(collective, "any", "any", topology, moved)


def check_collective(collective: str) -> None:
    """Raises UsageError for what is not a collective."""
    try:
        bus_factor(collective, 2)
    except ValueError as error:
        raise UsageError(str(error)) from None


def limit_of(collective: str, algorithm: str, library: Library, topology: Topology, moved: list[Traffic]) -> Limit:
    """What follows from the bytes that an algorithm moves."""
    uses = tuple(_use(each, collective, topology) for each in moved if each.share)
    limiting = [(use.algbw, use.traffic.link) for use in uses if use.algbw is not None]
    algbw, binding = min(limiting, default=(None, None))
    factor = bus_factor(collective, topology.num_ranks)
    busbw = None if algbw is None else algbw * factor
    return Limit(
        collective=collective,
        algorithm=algorithm,
        library=library,
        num_ranks=topology.num_ranks,
        num_hosts=topology.num_hosts,
        algbw=algbw,
        busbw=busbw,
        binding=binding,
        uses=uses,
        unknown=tuple(use.traffic.link for use in uses if use.algbw is None),
        arithmetic=sentence(collective, algorithm, topology, uses, factor),
    )


def _use(moved: Traffic, collective: str, topology: Topology) -> LinkUse:
    rate = _rate(moved.link, collective, topology)
    return LinkUse(traffic=moved, rate=rate, algbw=None if rate is None else rate / moved.share)


def _rate(link: LinkClass, collective: str, topology: Topology) -> float | None:
    if link == "network":
        return topology.network_rate
    if link == "pair":
        return topology.pair_rate
    if link == "intra":
        return topology.rank_rate
    if topology.rank_rate is None or topology.network_rate is None:
        return None
    sharing = 1 if collective in ROOTED else topology.ranks_per_host
    return topology.rank_rate + topology.network_rate / sharing
