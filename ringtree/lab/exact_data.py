"""Test data whose sums are exact in any order, so that every result is compared with ==.

For: writing a rank's input before each iteration and reading the whole output after it, in blocks, without a second
buffer of the same size. Not for: timing, or for knowing how a collective is done.

The value at index i is pattern[(i + phase) mod PERIOD]: whole numbers that depend on seed, rank and index, bounded so
that num_ranks × the largest stays exact in the dtype. Two choices make errors visible:
- PERIOD is a prime, so data moved by a chunk, a slice or a page (multiples of powers of two) never fits by chance;
- the phase changes from call to call, so what an earlier call left in a slot is wrong now.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtree.errors import UsageError

PERIOD = 65521
_PHASE_STEP = 7919
# Whole numbers up to this are exact in the dtype, and so is each partial sum below it.
_EXACT_LIMIT = {
    "float16": 1 << 11,
    "float32": 1 << 24,
    "float64": 1 << 53,
    "int8": (1 << 7) - 1,
    "uint8": (1 << 8) - 1,
    "int32": (1 << 31) - 1,
    "int64": (1 << 63) - 1,
}
DTYPES = tuple(_EXACT_LIMIT)
Array = NDArray[np.generic]


@dataclass(frozen=True)
class Wrong:
    """The first element that differs: its index in the output, what it should be and what it is."""

    index: int
    expected: float
    found: float


def largest_value(dtype: str, num_ranks: int) -> int:
    """Returns the bound on |value| that keeps the sum over `num_ranks` ranks exact; at most a million.

    Raises UsageError for an unknown dtype, or if there are too many ranks for it.
    """
    if dtype not in _EXACT_LIMIT:
        raise UsageError(f"unknown dtype {dtype!r}; there are: {', '.join(DTYPES)}")
    bound = min(_EXACT_LIMIT[dtype] // num_ranks, 1_000_000)
    if bound < 1:
        raise UsageError(f"{num_ranks} ranks are too many for exact sums in {dtype}; use float32 or float64")
    return bound


class ExactData:
    """Patterns of all ranks for one dtype. Memory: 3 patterns of PERIOD elements, whatever the size of the buffers."""

    def __init__(self, dtype: str, num_ranks: int, rank: int, seed: int) -> None:
        bound = largest_value(dtype, num_ranks)
        low = 0 if dtype.startswith("u") else -bound
        total = np.zeros(PERIOD, dtype=np.int64)
        own = total
        for r in range(num_ranks):
            pattern = np.random.default_rng([seed, r]).integers(low, bound + 1, PERIOD)
            total += pattern
            if r == rank:
                own = pattern
        # Twice in a row, so that a block of up to PERIOD elements is one slice at any phase.
        self._own = np.tile(own.astype(dtype), 2)
        self._sum = np.tile(total.astype(dtype), 2)

    def write(self, buffer: Array, call: int) -> None:
        """Writes this rank's contribution to the `call`-th call into `buffer`, shape (elements,)."""
        for start, stop, at in _blocks(len(buffer), call):
            buffer[start:stop] = self._own[at : at + stop - start]

    def check(self, buffer: Array, call: int) -> Wrong | None:
        """Reads all of `buffer`, shape (elements,); returns the first element that is not the exact sum, or None."""
        for start, stop, at in _blocks(len(buffer), call):
            expected = self._sum[at : at + stop - start]
            if not np.array_equal(buffer[start:stop], expected):
                offset = int(np.argmax(buffer[start:stop] != expected))
                return Wrong(start + offset, float(expected[offset]), float(buffer[start + offset]))
        return None


def _blocks(length: int, call: int) -> list[tuple[int, int, int]]:
    """(start, stop, place of `start` in the doubled pattern) of the blocks that cover `length` elements."""
    phase = call * _PHASE_STEP % PERIOD
    return [(start, min(start + PERIOD, length), phase) for start in range(0, length, PERIOD)]
