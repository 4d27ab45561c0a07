"""The highest rates that hardware permits: bytes over each class of links, and how long the slowest class takes.

For: holding a measurement against what cannot be exceeded. Not for: predicting what is reached (ringtree.model): no
latency, no protocol overhead, no contention is counted, and where the placement of rings or trees is not known the most
favourable one is assumed. A limit that is too high is harmless; one that is too low calls honest results false.

NCCL's seven algorithms are closed forms (nccl_traffic.py), ringtree's are counted in their schedules
(schedule_traffic.py), and `highest` rests on what any algorithm must move (floors.py).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import ringtree.algorithms
from ringtree.errors import UsageError
from ringtree.hardware import nccl_names, nccl_traffic
from ringtree.hardware.arithmetic import sentence
from ringtree.hardware.floors import ROOTED, floors
from ringtree.hardware.limit_records import Limit, LinkClass, LinkUse, Traffic
from ringtree.hardware.schedule_traffic import MAX_RANKS, count
from ringtree.hardware.topology import Topology
from ringtree.schedule import Schedule, schedule
from ringtree.stats.bandwidth import bus_factor

Library = Literal["nccl", "ringtree"]
ANY: Literal["any"] = "any"


def limit(collective: str, algorithm: str, topology: Topology, library: Library | None = None) -> Limit:
    """The highest rates of `algorithm` on `topology`.

    `algorithm`: one of NCCL's seven in any of its spellings ("Ring", "NVLS_TREE", ...), "P2P" for what NCCL sends point
    to point, or a name of ringtree's table. "ring", "tree" and "pat" in lower case are ringtree's unless `library` says
    "nccl". Raises UsageError for an unknown name, and where `why_not` has a reason.
    """
    whose, name = algorithm_of(algorithm, library)
    reason = why_not(collective, algorithm, topology, library)
    if reason is not None:
        raise UsageError(f"no {collective} by {name} here: {reason}")
    h, r = topology.num_hosts, topology.ranks_per_host
    if whose == "nccl":
        moved = nccl_traffic.FORMS[name](collective, h, r) if h * r > 1 else []
    else:
        moved = count(_schedule(collective, name, topology), topology)
    return _limit(collective, name, whose, topology, moved)


def schedule_limit(own: Schedule, topology: Topology) -> Limit:
    """The highest rates of a schedule, such as one that you wrote, counted step by step."""
    return _limit(own.collective, own.name, "ringtree", topology, count(own, topology))


def highest(collective: str, topology: Topology) -> Limit:
    """The highest rates of any algorithm that can exist on `topology`, NCCL's, ringtree's or one nobody has written:
    what exceeds them was not measured. Its `algorithm` is "any"."""
    check_collective(collective)
    return _highest(collective, topology)


@lru_cache(maxsize=256)  # a log may hold a thousand tables of one machine
def _highest(collective: str, topology: Topology) -> Limit:
    moved = floors(collective, topology) if topology.num_ranks > 1 else []
    return _limit(collective, ANY, ANY, topology, moved)


def why_not(collective: str, algorithm: str, topology: Topology, library: Library | None = None) -> str | None:
    """Why `algorithm` can't run `collective` on `topology`; None: it can. Raises UsageError for unknown names."""
    check_collective(collective)
    whose, name = algorithm_of(algorithm, library)
    if whose == "nccl":
        if collective not in nccl_names.COLLECTIVES[name]:
            return f"NCCL has no {name} kernel for {collective}"
        return None if topology.num_ranks == 1 else nccl_names.lacks(name, topology)
    if name not in ringtree.algorithms.names(collective, several_hosts=True):
        return f"ringtree has no {name} for {collective}"
    return None


def algorithm_of(algorithm: str, library: Library | None) -> tuple[Library, str]:
    """(whose, name) of an algorithm. Raises UsageError for an unknown one."""
    own = {row.name for row in ringtree.algorithms.table()}
    if library != "nccl" and algorithm in own:
        return "ringtree", algorithm
    name = nccl_names.algorithm_name(algorithm)
    if library != "ringtree" and name is not None:
        return "nccl", name
    known = sorted(own) if library == "ringtree" else [*nccl_names.ALGORITHMS, nccl_names.POINT_TO_POINT]
    if library is None:
        known += sorted(own)
    raise UsageError(f"no algorithm {algorithm!r}; there are {', '.join(known)}")


def check_collective(collective: str) -> None:
    try:
        bus_factor(collective, 2)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _schedule(collective: str, name: str, topology: Topology) -> Schedule:
    if topology.num_ranks > MAX_RANKS:
        raise UsageError(f"{topology.num_ranks} ranks are too many to count {name} step by step (at most {MAX_RANKS})")
    hosts = [rank // topology.ranks_per_host for rank in range(topology.num_ranks)]
    return schedule(collective, name, topology.num_ranks, hosts=hosts)


def _limit(
    collective: str, algorithm: str, library: Library | Literal["any"], topology: Topology, moved: list[Traffic]
) -> Limit:
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
