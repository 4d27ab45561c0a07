"""How a cell is visited, and in which order: the same for the same seed.

For: numbers of calls by size, orders by seed. Not for: doing it (rounds.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from ringtree.measure.plan import BATCH_CALLS, BATCH_LIMIT

T = TypeVar("T")


@dataclass(frozen=True)
class Visit:
    """Calls that are timed together, untimed and timed iterations of a visit, and rounds of the cell in a sweep.

    Small sizes are cheap and their times scatter: they get more rounds in the same time. Large ones need no untimed
    iteration, as writing their data, which comes before each one, has filled the caches with it.
    """

    batch: int
    num_untimed: int
    num_timed: int
    num_rounds: int


def visit_of(size_bytes: int) -> Visit:
    """Returns how a size is visited."""
    if size_bytes <= BATCH_LIMIT:
        return Visit(BATCH_CALLS, 1, 3, 4)
    if size_bytes <= 1 << 20:
        return Visit(1, 1, 3, 2)
    return Visit(1, 1, 1, 1) if size_bytes < 16 << 20 else Visit(1, 0, 1, 1)


def visit_order(seed: int, launch: int, turn: int, what: Iterable[T]) -> list[T]:
    """Returns cells or labels in the shuffled order of one turn: the same on every rank and machine."""
    return sorted(what, key=lambda one: hashlib.sha256(f"{seed}/{launch}/{turn}/{one}".encode()).digest())
