"""Calls drawn at random, and alike in every run: from what is dealt nothing is left out.

For: test_engine_properties.py. Not for: what is right (engine_oracle.py).

Ways to run a call (collective, algorithm, protocol) and kinds of call (dtype, op) are dealt like cards, all of them
before any comes again, so that a few thousand calls hold every one of them; the rest is drawn freely.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np
from engine_case import BLOCKED, COLLECTIVES, COMPLEX, FLOATS, LOGICAL, REDUCING, ROOTED, Case, kinds_of

import ringtree

MOST_BYTES = 200_000  # of the larger array of a rank
RANKS = (1, 2, 3, 4, 5, 6, 7, 8)
SUPPORTED = [
    (collective, algorithm, protocol) for collective, algorithm, protocol, reason in ringtree.support() if not reason
]
WAYS = [*SUPPORTED, *((collective, "auto", "auto") for collective in COLLECTIVES)]

Item = TypeVar("Item")


class Deck(Generic[Item]):
    """Deals its cards in a random order, all of them before any comes again."""

    def __init__(self, cards: Sequence[Item], draw: random.Random) -> None:
        self._cards, self._draw, self._left = cards, draw, list[Item]()

    def deal(self) -> Item:
        if not self._left:
            self._left = self._draw.sample(self._cards, len(self._cards))
        return self._left.pop()


class Cases:
    """Draws calls; the same seed draws the same ones."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._ways = Deck(WAYS, self._draw)
        self._kinds = {collective: Deck(kinds_of(collective), self._draw) for collective in COLLECTIVES}

    def next(self) -> Case:
        draw = self._draw
        collective, algorithm, protocol = self._ways.deal()
        dtype, op = self._kinds[collective].deal()
        ranks = draw.choice(RANKS)
        item_bytes = np.dtype(dtype).itemsize
        most = MOST_BYTES // item_bytes // (ranks if collective in BLOCKED else 1)
        uneven = collective in BLOCKED and draw.random() < 0.4
        num_blocks = ranks * ranks if collective == "all_to_all" else ranks
        # Asked for by name most algorithms are refused where their order of folding shows.
        can_be_deterministic = algorithm == "auto" or not _order_matters(collective, dtype, op)
        return Case(
            ranks=ranks,
            channels=draw.choice([1, 2, 3]),
            deterministic=can_be_deterministic and draw.random() < 0.25,
            collective=collective,
            algorithm=algorithm,
            protocol=protocol,
            dtype=dtype,
            op=op,
            count=0 if uneven else self._count(item_bytes, most),
            counts=tuple(self._count(item_bytes, most) for _ in range(num_blocks)) if uneven else (),
            root=draw.randrange(ranks) if collective in ROOTED else 0,
            in_place=collective != "all_to_all" and draw.random() < 0.5,
            offset=draw.choice([0, 1, 4, 8, 20, 63]),
            slice_bytes=draw.choice([0, 0, 64, 1000, 4096, 1 << 16]),
            streaming=draw.choice([None, False, True]),
            shared_input=draw.random() < 0.3,
            shared_output=draw.random() < 0.3,
            started=draw.random() < 0.3,
            seed=draw.randrange(2**31),
        )

    def _count(self, item_bytes: int, most: int) -> int:
        """Elements: many; about a line of ll128 (56 bytes), of a cache (64), a slice, a page; an odd number; or few."""
        draw = self._draw
        kind = draw.choice(["many", "ll128", "lines", "odd", "few"])
        if kind == "many":
            count = draw.randint(0, most)
        elif kind == "ll128":
            count = 56 * draw.randint(1, 40) // item_bytes + draw.randint(-1, 1)
        elif kind == "lines":
            count = 64 * draw.choice([1, 2, 4, 64, 65, 128, 1024]) // item_bytes + draw.randint(-1, 1)
        elif kind == "odd":
            count = 2 * draw.randint(0, 500) + 1
        else:
            count = draw.choice([0, 1, 2, 3, 5, 7, 13, 14, 15])
        return min(count, most)


def _order_matters(collective: str, dtype: str, op: str) -> bool:
    return collective in REDUCING and dtype in (*FLOATS, *COMPLEX) and op not in LOGICAL
