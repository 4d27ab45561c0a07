"""Trees put together from what each rank prints.

For: the tree of a channel, and whether it is one. Not for: lines (init_lines.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from ringtree.logs.nccl_info.facts import Facts
from ringtree.logs.shapes.nccl import Tree

Places = Mapping[int, tuple[int, tuple[int, ...]]]


def trees_of(facts: Facts, num_ranks: int | None) -> list[Tree]:
    """Returns the tree of each channel."""
    trees = []
    for channel, places in sorted(facts.trees.items()):
        problem: str | None = "two lines differ in a rank's place"
        if channel not in facts.conflicts.get("tree", ()):
            problem = disagreement(places) or incompleteness(places, num_ranks)
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
