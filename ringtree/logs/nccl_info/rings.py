"""Rings put together from what rank 0 and each rank print.

For: the order of a channel's ring, and whether it is one. Not for: lines (init_lines.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ringtree.logs.nccl_info.facts import Facts
from ringtree.logs.shapes.nccl import Ring

_MOST_PRINTED = 20


def rings_of(facts: Facts, num_ranks: int | None) -> list[Ring]:
    """Returns the ring of each channel: what all ranks say if that is a whole ring, else what rank 0 printed."""
    rings = []
    for channel in sorted(facts.orders.keys() | facts.neighbours.keys()):
        order, neighbours = facts.orders.get(channel), facts.neighbours.get(channel)
        printed = from_order(channel, order[0], order[1], num_ranks) if order is not None else None
        walked = from_neighbours(channel, neighbours, num_ranks) if neighbours else None
        ring = printed if walked is None or (printed is not None and not walked.complete) else walked
        if ring is None:
            continue
        problem = ring.problem or _contradiction(facts, channel, printed, walked)
        rings.append(ring.model_copy(update={"problem": problem, "complete": ring.complete and problem is None}))
    return rings


def from_order(channel: int, ranks: Sequence[int], cut: bool, num_ranks: int | None) -> Ring:
    """Returns what the line of rank 0 gives: whole only if it names each rank once."""
    problem: str | None = None
    if len(set(ranks)) < len(ranks):
        twice = next(rank for at, rank in enumerate(ranks) if rank in ranks[:at])
        problem = f"rank {twice} twice"
    elif num_ranks is None:
        most = f"{_MOST_PRINTED} ranks, the most that NCCL printed before 2.24"
        problem = "cut" if cut else most if len(ranks) == _MOST_PRINTED else "the number of ranks is not known"
    elif any(rank >= num_ranks for rank in ranks):
        problem = f"rank {next(rank for rank in ranks if rank >= num_ranks)} of {num_ranks}"
    elif len(ranks) < num_ranks:
        problem = f"only {len(ranks)} of {num_ranks} ranks are printed"
    elif cut:
        problem = "cut"
    return Ring(channel=channel, order=list(ranks), source="printed", complete=problem is None, problem=problem)


def from_neighbours(channel: int, ring: Mapping[int, tuple[int, int]], num_ranks: int | None) -> Ring:
    """Returns the ring that the ranks' lines make, walked from its smallest rank.

    It is whole only if it passes each rank once, comes back, and each rank names the one before it that names it.
    """
    start = min(ring)
    order, problem = [start], None
    passed = {start}
    rank = start
    while True:
        following = ring[rank][1]
        if following not in ring:
            problem = f"rank {following}, which follows {rank}, says nothing"
            break
        if ring[following][0] != rank:
            problem = f"rank {rank} names {following} as the next one, which names {ring[following][0]} before it"
            break
        if following == start:
            break
        if following in passed:
            problem = f"rank {following} twice"
            break
        order.append(following)
        passed.add(following)
        rank = following
    if problem is None:
        if len(order) < len(ring):
            problem = f"closes after {len(order)} of {len(ring)} ranks"
        elif num_ranks is None:
            problem = "the number of ranks is not known"
        elif len(order) != num_ranks:
            problem = f"only {len(order)} of {num_ranks} ranks say their place"
    return Ring(channel=channel, order=order, source="neighbours", complete=problem is None, problem=problem)


def _contradiction(facts: Facts, channel: int, printed: Ring | None, walked: Ring | None) -> str | None:
    for what in ("order", "neighbours"):
        if channel in facts.conflicts.get(what, ()):
            return f"two lines differ in the {what} of this channel"
    if printed is not None and walked is not None and walked.complete and printed.order:
        whole = walked.order * 2
        start = whole.index(printed.order[0]) if printed.order[0] in whole else 0
        if whole[start : start + len(printed.order)] != printed.order:
            return "the order that is printed and the ranks' own places differ"
    return None
