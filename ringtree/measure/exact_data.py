"""Test data whose results are exact in any order, so that every result is compared with ==.

For: writing a rank's input before each iteration and reading the whole output after it, in blocks, without a second
buffer of the same size; on a GPU it does both where it lies, with the same patterns. Not for: timing, or for knowing
how a collective is done.

The value at index i is pattern[(i + phase) mod PERIOD]: whole numbers that depend on seed, rank and index, bounded so
that num_ranks × the largest stays exact in the dtype. Two choices make errors visible:
- PERIOD is a prime, so data moved by a chunk, a slice or a page (multiples of powers of two) never fits by chance;
- the phase changes from call to call, so what an earlier call left in a slot is wrong now.

Other ops than sum are exact too: values that are averaged are multiples of num_ranks, those that every rank multiplies
by a factor of its own (premul_sum) leave room for it, and of the values that are multiplied at one index all but one
rank's are 1, so that no partial product is too large. Likewise all but one rank's change nothing for band, bor, land
and lor: of many ranks' free choice the result would be the same nearly everywhere, whatever one of them gave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ringtree.errors import UsageError
from ringtree.measure.narrow_floats import NARROW_FLOATS

if TYPE_CHECKING:  # most ranks have no GPU
    from ringtree.gpu.memory import DeviceArray

PERIOD = 65521
PHASE_STEP = 7919
# Whole numbers up to this are exact in the dtype, and so is each partial sum below it.
_EXACT_LIMIT = {
    "float16": 1 << 11,
    "float32": 1 << 24,
    "float64": 1 << 53,
    "int8": (1 << 7) - 1,
    "uint8": (1 << 8) - 1,
    "int32": (1 << 31) - 1,
    "uint32": (1 << 32) - 1,
    "int64": (1 << 63) - 1,
    "uint64": (1 << 64) - 1,
}
DTYPES = tuple(_EXACT_LIMIT)  # those that NumPy has
_EXACT_LIMIT |= {name: narrow.exact_limit for name, narrow in NARROW_FLOATS.items()}
Array = NDArray[np.generic]
_Pattern = NDArray[np.int64]


def _of_truth(combine: Callable[[_Pattern, _Pattern], NDArray[np.bool_]]) -> Callable[[_Pattern, _Pattern], _Pattern]:
    """An op on truth values as one on numbers, whose results are 1 and 0."""
    return lambda left, right: combine(left, right).astype(np.int64)


_COMBINE: dict[str, Callable[[_Pattern, _Pattern], _Pattern]] = {
    "sum": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "avg": np.add,
    "premul_sum": np.add,
    "band": np.bitwise_and,
    "bor": np.bitwise_or,
    "bxor": np.bitwise_xor,
    "land": _of_truth(np.logical_and),
    "lor": _of_truth(np.logical_or),
    "lxor": _of_truth(np.logical_xor),
}
OPS = tuple(_COMBINE)
BITWISE_OPS = ("band", "bor", "bxor")
_LOGICAL_OPS = ("land", "lor", "lxor")
_LARGEST_FACTOR = 3  # of premul_sum
# Ops of which one rank's value decides: all others hold what changes nothing.
_DECIDED_BY_ONE = ("prod", "band", "bor", "land", "lor")


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
        raise UsageError(f"unknown dtype {dtype!r}; choose from: {', '.join(DTYPES)}")
    bound = min(_EXACT_LIMIT[dtype] // num_ranks, 1_000_000)
    if bound < 1:
        raise UsageError(f"{num_ranks} ranks are too many for exact sums in {dtype}; use float32 or float64")
    return bound


def check_exact(dtype: str, num_ranks: int, op: str = "sum") -> None:
    """Raises UsageError for an unknown dtype or op, an op that the dtype has not, or too many ranks to be exact."""
    if op not in _COMBINE:
        raise UsageError(f"unknown op {op!r}; choose from: {', '.join(OPS)}")
    if op in _LOGICAL_OPS or op in BITWISE_OPS:
        largest_value(dtype, 1)  # nothing grows with the number of ranks
        if op in BITWISE_OPS and "float" in dtype:
            raise UsageError(f"{op} is not defined for {dtype}; use an integer dtype")
        return
    if largest_value(dtype, num_ranks) < _share(op, num_ranks):
        results = {"avg": "averages"}.get(op, f"{op}s")
        raise UsageError(f"{num_ranks} ranks are too many for exact {results} in {dtype}; use float32 or float64")


class ExactData:
    """Patterns of all ranks for one dtype. Memory: 3 patterns of PERIOD elements, whatever the size of the buffers.

    Arrays are of storage_of(dtype): a float that NumPy lacks is written and compared by its bits, which no result that
    is right can have others of: 0 is +0 in all data here.
    factor: what the call is given to multiply this rank's contribution by; 1 for all ops but premul_sum.
    Raises UsageError as `check_exact`.
    """

    def __init__(self, dtype: str, num_ranks: int, rank: int, seed: int, op: str = "sum") -> None:
        if not 0 <= rank < num_ranks:
            raise UsageError(f"rank {rank} is not within a world of {num_ranks}")
        self.factor = factor_of(op, rank)
        # Twice in a row, so that a block of up to PERIOD elements is one slice at any phase.
        for place, pattern in enumerate(stored_patterns(dtype, num_ranks, seed, op)):
            if place == rank:
                self._own = np.tile(pattern, 2)
        self._result = np.tile(pattern, 2)
        self._one_of_own, self._one_of_result = self._own[:PERIOD], self._result[:PERIOD]  # what a device keeps

    def write(self, buffer: Array | DeviceArray, call: int) -> None:
        """Writes this rank's contribution to the `call`-th call into `buffer`, shape (elements,)."""
        if not isinstance(buffer, np.ndarray):
            buffer.write_pattern(self._one_of_own, _phase(call))
            return
        for start, stop, at in _blocks(len(buffer), call):
            buffer[start:stop] = self._own[at : at + stop - start]

    def check(self, buffer: Array | DeviceArray, call: int) -> Wrong | None:
        """Reads all of `buffer`, shape (elements,); returns the first element that is not the exact result, or None."""
        if not isinstance(buffer, np.ndarray):
            first, number = buffer.compare_pattern(self._one_of_result, _phase(call))
            expected_there = self._result[(first + _phase(call)) % PERIOD]
            return Wrong(first, float(expected_there), float(buffer.element(first))) if number else None
        for start, stop, at in _blocks(len(buffer), call):
            expected = self._result[at : at + stop - start]
            if not np.array_equal(buffer[start:stop], expected):
                offset = int(np.argmax(buffer[start:stop] != expected))
                return Wrong(start + offset, float(expected[offset]), float(buffer[start + offset]))
        return None

    def count_wrong(self, buffer: Array | DeviceArray, call: int) -> int:
        """Reads all of `buffer`, shape (elements,); returns how many elements are not the exact result."""
        if not isinstance(buffer, np.ndarray):
            return buffer.compare_pattern(self._one_of_result, _phase(call))[1]
        return sum(
            int(np.count_nonzero(buffer[start:stop] != self._result[at : at + stop - start]))
            for start, stop, at in _blocks(len(buffer), call)
        )


def stored_patterns(dtype: str, num_ranks: int, seed: int, op: str = "sum") -> Iterator[Array]:
    """Yields what each rank gives, rank after rank, and then what is due: one period each, as it lies in memory. Raises
    UsageError as `check_exact`."""
    check_exact(dtype, num_ranks, op)
    result = None
    for rank, pattern in enumerate(_patterns(dtype, num_ranks, seed, op)):
        multiplied = pattern * factor_of(op, rank)
        result = multiplied if result is None else _COMBINE[op](result, multiplied)
        yield _stored(pattern, dtype)
    assert result is not None, "there is a rank"
    # An average is without a remainder: every value is a multiple.
    yield _stored(result // num_ranks if op == "avg" else result, dtype)


def factor_of(op: str, rank: int) -> int:
    """Returns what `rank` multiplies by in a premul_sum: 1, 2, 3, 1, 2 …, so that ranks beside each other differ."""
    return 1 + rank % _LARGEST_FACTOR if op == "premul_sum" else 1


def _stored(pattern: _Pattern, dtype: str) -> Array:
    return NARROW_FLOATS[dtype].encode(pattern) if dtype in NARROW_FLOATS else pattern.astype(dtype)


def _share(op: str, num_ranks: int) -> int:
    """By how much smaller than for a sum the numbers must be that a rank draws."""
    return {"avg": num_ranks, "premul_sum": _LARGEST_FACTOR}.get(op, 1)


def _patterns(dtype: str, num_ranks: int, seed: int, op: str) -> Iterator[_Pattern]:
    """Every rank's whole numbers for one period, rank after rank."""
    if op in _DECIDED_BY_ONE:
        # Who decides at an index is drawn once for all ranks.
        shared = np.random.default_rng([seed, num_ranks])
        who = shared.integers(0, num_ranks, PERIOD)
        decisive, neutral = _decisive_and_neutral(dtype, op, shared)
        yield from (np.where(who == rank, decisive, neutral) for rank in range(num_ranks))
        return
    for rank in range(num_ranks):
        own = np.random.default_rng([seed, rank])
        if op == "bxor":
            yield _any_bits(dtype, own)
        elif op == "lxor":
            yield _any_numbers(dtype, own) * own.integers(0, 2, PERIOD)
        else:
            bound = largest_value(dtype, num_ranks) // _share(op, num_ranks)
            low = 0 if dtype.startswith("u") else -bound
            yield own.integers(low, bound + 1, PERIOD) * (num_ranks if op == "avg" else 1)


def _decisive_and_neutral(dtype: str, op: str, shared: np.random.Generator) -> tuple[_Pattern, _Pattern | int]:
    """What the rank that decides gives at each index, and what the others do."""
    if op in BITWISE_OPS:
        all_bits = int(_limits(dtype).max) if dtype.startswith("u") else -1
        return _any_bits(dtype, shared), all_bits if op == "band" else 0
    numbers = _any_numbers(dtype, shared)
    if op == "prod":
        return numbers, 1
    # Numbers of any size are true: a result that is not 1 was not made a truth value.
    return numbers * shared.integers(0, 2, PERIOD), numbers if op == "land" else 0


def _any_bits(dtype: str, random: np.random.Generator) -> _Pattern:
    limits = _limits(dtype)
    return random.integers(limits.min, limits.max, PERIOD, endpoint=True)


def _limits(dtype: str) -> np.iinfo[np.integer]:
    return np.iinfo("int64" if dtype == "uint64" else dtype)  # patterns are int64: the highest bit of uint64 stays 0


def _any_numbers(dtype: str, random: np.random.Generator) -> _Pattern:
    return random.integers(1, largest_value(dtype, 1) + 1, PERIOD)


def _phase(call: int) -> int:
    return call * PHASE_STEP % PERIOD


def _blocks(length: int, call: int) -> list[tuple[int, int, int]]:
    """(start, stop, place of `start` in the doubled pattern) of the blocks that cover `length` elements."""
    phase = _phase(call)
    return [(start, min(start + PERIOD, length), phase) for start in range(0, length, PERIOD)]
