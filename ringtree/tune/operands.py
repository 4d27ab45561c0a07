"""The data of one cell on one rank: buffers, what is written into them, whether the result is right, the call.

For: every collective that can be tuned. Not for: timing (rank_rounds.py). The data are the lab's, whose sums
are exact in any order; blocks of one vector get numbers of their own, so that a block in a wrong place is found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import ringtree
from ringtree.errors import UsageError
from ringtree.lab.exact_data import Array, ExactData
from ringtree.profile_format import AUTO, Configuration

COLLECTIVES = ringtree.algorithms.COLLECTIVES
OUT_OF_PLACE = ("all_to_all",)  # the others are tuned in place
ROOT = 0


class RankData:
    """What a rank contributes, and what it must get. Memory: a few patterns, whatever the size of the buffers."""

    def __init__(self, dtype: str, num_ranks: int, rank: int, seed: int) -> None:
        self.rank, self.num_ranks = rank, num_ranks
        self._mine = ExactData(dtype, num_ranks, rank, seed)  # writes this rank's, checks the sum
        self._moved = ExactData(dtype, 1, 0, seed)  # what is only moved is one rank's pattern wherever it is

    def write(self, collective: str, vector: Array, call: int) -> None:
        """Writes this rank's input of the `call`-th call into `vector`, shape (elements of a rank's larger buffer,)."""
        if collective in ("all_reduce", "reduce"):
            self._mine.write(vector, call)
        elif collective == "reduce_scatter":
            for block in range(self.num_ranks):
                self._mine.write(self.block(vector, block), call * self.num_ranks + block)
        elif collective in ("all_gather", "gather"):
            self._moved.write(self.block(vector, self.rank), self._number(call, self.rank))
        elif collective == "all_to_all" or (collective == "scatter" and self.rank == ROOT):
            for block in range(self.num_ranks):
                self._moved.write(self.block(vector, block), self._number(call, self.rank, block))
        elif collective == "broadcast" and self.rank == ROOT:
            self._moved.write(vector, call)

    def is_right(self, collective: str, vector: Array, call: int) -> bool:
        """Reads this rank's whole output of the `call`-th call."""
        if self.rank != ROOT and collective in ("reduce", "gather"):
            return True  # only the root gets something
        if collective in ("all_reduce", "reduce"):
            return self._mine.check(vector, call) is None
        if collective == "reduce_scatter":
            return self._mine.check(self.block(vector, self.rank), call * self.num_ranks + self.rank) is None
        if collective == "scatter":
            return self._moved.check(self.block(vector, self.rank), self._number(call, ROOT, self.rank)) is None
        if collective == "broadcast":
            return self._moved.check(vector, call) is None
        # Of all_gather and gather everybody gets the same block of a rank.
        to = self.rank if collective == "all_to_all" else 0
        return all(
            self._moved.check(self.block(vector, source), self._number(call, source, to)) is None
            for source in range(self.num_ranks)
        )

    def _number(self, call: int, source: int, to: int = 0) -> int:
        """Which data a block that is only moved has: that of a call of its own for each pair of ranks."""
        return (call * self.num_ranks + source) * self.num_ranks + to

    def block(self, vector: Array, block: int) -> Array:
        """Returns a view of one rank's block."""
        size = len(vector) // self.num_ranks
        return vector[block * size : (block + 1) * size]


def make_call(
    comm: Any, collective: str, vector: Array, result: Array, data: RankData, configuration: Configuration
) -> Callable[[], Any]:
    """Returns the collective as a function without arguments: on `vector` in place; an all_reduce also into another
    `result`, an all_to_all always.

    Raises UsageError for a collective that can't be tuned.
    """
    arguments: dict[str, tuple[Any, ...]] = {
        "all_reduce": (vector, "sum", result),
        "all_gather": (data.block(vector, data.rank), vector),
        "reduce_scatter": (vector, data.block(vector, data.rank)),
        "broadcast": (vector, ROOT),
        "reduce": (vector, ROOT),
        "gather": (data.block(vector, data.rank), vector, ROOT),
        "scatter": (vector, data.block(vector, data.rank), ROOT),
        "all_to_all": (vector, result),
    }
    if collective not in arguments:
        raise UsageError(f"{collective!r} can't be tuned; there are: {', '.join(COLLECTIVES)}")
    call, operands, how = getattr(comm, collective), arguments[collective], arguments_of(configuration)
    return lambda: call(*operands, **how)


def arguments_of(configuration: Configuration) -> dict[str, Any]:
    """Returns the keyword arguments of a collective that force a configuration; auto leaves all to the engine.

    As many in either case: each takes its share of a microsecond.
    """
    if configuration.algorithm == AUTO:
        return {"algorithm": AUTO, "protocol": AUTO, "slice_bytes": 0, "streaming": None}
    return {
        "algorithm": configuration.algorithm,
        "protocol": configuration.protocol,
        "slice_bytes": configuration.slice_bytes,
        "streaming": configuration.streaming,
    }


def make_vectors(size_bytes: int, dtype: str, batch: int, shared_buffers: bool) -> list[Array]:
    """Returns `batch` vectors of zeros, of `size_bytes` bytes each; shared ones are buffers that peers can map."""
    make = ringtree.empty if shared_buffers else np.zeros
    return [make((size_bytes // np.dtype(dtype).itemsize,), dtype=dtype) for _ in range(batch)]
