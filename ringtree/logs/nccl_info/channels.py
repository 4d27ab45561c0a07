"""Rings and trees put together from what rank 0 and each rank print.

For: the order of a channel's ring, the tree of a channel, and whether they are one. Not for: lines (init_lines.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from ringtree.logs.nccl_info.facts import NEIGHBOURS, ORDERS, PLACES, Facts
from ringtree.logs.nccl_info.shapes import Ring, Tree

Places = Mapping[int, tuple[int, tuple[int, ...]]]
_MOST_PRINTED = 20


def rings_of(facts: Facts, num_ranks: int | None) -> list[Ring]:
    """Returns the ring of each channel: what all ranks say if that is a whole ring, else what rank 0 printed."""
    rings, of_ranks = [], facts.places[NEIGHBOURS]
    for channel in sorted(facts.orders.keys() | of_ranks.keys()):
        order, neighbours = facts.orders.get(channel), of_ranks.get(channel)
        printed = from_order(channel, order[0], order[1], num_ranks) if order is not None else None
        walked = from_neighbours(channel, neighbours, num_ranks) if neighbours else None
        ring = printed if walked is None or (printed is not None and not walked.complete) else walked
        if ring is None:
            continue
        problem = ring.problem or _contradiction(facts, channel, printed, walked)
        if ring.problem is not None and facts.left_out[NEIGHBOURS]:
            problem = "not all ranks' lines were kept"
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
    """Says what speaks against a ring that looks whole."""
    for what, word in ((ORDERS, "order"), (NEIGHBOURS, "neighbours")):
        if channel in facts.conflicts.get(what, ()):
            return f"two lines differ in the {word} of this channel"
    if printed is not None and walked is not None and walked.complete and printed.order:
        whole = walked.order * 2
        start = whole.index(printed.order[0]) if printed.order[0] in whole else 0
        if whole[start : start + len(printed.order)] != printed.order:
            return "the order that is printed and the ranks' own places differ"
    return None


def trees_of(facts: Facts, num_ranks: int | None) -> list[Tree]:
    """Returns the tree of each channel."""
    trees = []
    for channel, places in sorted(facts.places[PLACES].items()):
        problem: str | None = "two lines differ in a rank's place"
        if channel not in facts.conflicts.get(PLACES, ()):
            problem = disagreement(places) or incompleteness(places, num_ranks)
        if problem is not None and facts.left_out[PLACES]:
            problem = "not all ranks' lines were kept"
        roots = sorted(rank for rank, (parent, _) in places.items() if parent < 0)
        trees.append(
            Tree(
                channel=channel,
                parents={rank: parent for rank, (parent, _) in sorted(places.items())},
                children={rank: list(children) for rank, (_, children) in sorted(places.items()) if children},
                roots=roots,
                depth=_depth(places, roots[0])[0] if problem is None else None,
                complete=problem is None,
                problem=problem,
            )
        )
    return trees


def disagreement(places: Places) -> str | None:
    """Says where two ranks contradict each other, None if nowhere."""
    for rank, (parent, children) in sorted(places.items()):
        if len(set(children)) < len(children) or rank in children or rank == parent:
            return f"rank {rank} names a rank twice, or itself"
        if parent in places and rank not in places[parent][1]:
            return f"rank {rank} names {parent} as its parent, which does not name it"
        for child in children:
            if child in places and places[child][0] != rank:
                return f"rank {rank} names {child} as its child, which names {places[child][0]} as its parent"
    return None


def incompleteness(places: Places, num_ranks: int | None) -> str | None:
    """Says why places that agree are not one whole tree, None if they are."""
    if num_ranks is None:
        return "the number of ranks is not known"
    if len(places) != num_ranks:
        return f"only {len(places)} of {num_ranks} ranks say their place"
    for rank, (parent, children) in sorted(places.items()):
        strange = next((other for other in (parent, *children) if other >= 0 and other not in places), None)
        if strange is not None:
            return f"rank {rank} names {strange}, which says nothing"
    roots = [rank for rank, (parent, _) in places.items() if parent < 0]
    if len(roots) != 1:
        return f"{len(roots)} roots"
    reached = _depth(places, roots[0])[1]
    if reached != len(places):
        return f"only {reached} of {len(places)} ranks are reached from the root"
    return None


def _depth(places: Places, root: int) -> tuple[int, int]:
    """Returns how deep a tree is, and how many ranks it reaches."""
    deepest = 0
    passed = {root}
    waiting = deque([(root, 0)])
    while waiting:
        rank, depth = waiting.popleft()
        deepest = max(deepest, depth)
        for child in places[rank][1]:
            if child in places and child not in passed:
                passed.add(child)
                waiting.append((child, depth + 1))
    return deepest, len(passed)
