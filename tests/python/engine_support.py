"""One call of a collective as data: what it takes, what NumPy says that it must give, and whether it did.

For: test_engine_properties.py. Not for: drawing the calls, or the ranks that make them (engine_ranks.py).

Every result is exact, so that == decides: whole numbers whose sums the dtype holds in any order, powers of two where
numbers are multiplied, multiples of the number of ranks where they are averaged, and anything at all for min and max.
Integers may be anything: they wrap, here as there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringtree import Communicator

Array = NDArray[Any]

FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX)
REDUCING = ("all_reduce", "reduce_scatter", "reduce")
CANARY = 128  # bytes on both sides of every array
UNTOUCHED = 0xA5


def ops_of(dtype: str) -> tuple[str, ...]:
    """The ops that are defined for a dtype."""
    if dtype in COMPLEX:
        return ("sum", "prod", "avg")
    return ("sum", "prod", "min", "max") if dtype == "bool" else ("sum", "prod", "min", "max", "avg")


@dataclass(frozen=True)
class Case:
    """A call. count: elements of the whole vector, or of one block where the collective has blocks. offset: bytes by
    which arrays miss a line of 64. Everything else is as init() and the methods of Communicator name it."""

    ranks: int
    channels: int
    collective: str
    algorithm: str
    protocol: str
    dtype: str
    op: str
    count: int
    root: int
    in_place: bool
    offset: int
    slice_bytes: int
    streaming: bool | None
    seed: int

    @property
    def input_count(self) -> int:
        return self.count * (self.ranks if self.collective == "reduce_scatter" else 1)

    @property
    def output_count(self) -> int:
        return self.count * (self.ranks if self.collective == "all_gather" else 1)


def contribution(case: Case, rank: int) -> Array:
    """What `rank` gives: input_count elements, the same for the same case."""
    random = np.random.default_rng((case.seed, rank))
    size = case.input_count
    if case.dtype == "bool":
        return random.random(size) < (0.8 if case.op == "prod" else 0.2)
    if case.dtype in INTEGERS:
        limits = np.iinfo(case.dtype)
        return random.integers(limits.min, limits.max, size, dtype=case.dtype, endpoint=True)
    if case.dtype in COMPLEX:
        return (_floats(random, size, case) + 1j * _floats(random, size, case)).astype(case.dtype)
    return _floats(random, size, case).astype(case.dtype)


def _floats(random: np.random.Generator, size: int, case: Case) -> Array:
    if case.op == "prod":
        # Parts of a product of 8 complex factors of -1, 0 and 1 are whole numbers up to 16.
        return random.choice([-1.0, 1.0, 0.0] if case.dtype in COMPLEX else [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], size)
    if case.op == "avg":
        return case.ranks * random.integers(-31, 31, size, endpoint=True).astype("float64")
    whole = random.integers(-255, 255, size, endpoint=True).astype("float64")  # 8 ranks: below float16's 2048
    if case.op in ("min", "max"):
        whole[random.random(size) < 0.02] = np.nan
        whole[random.random(size) < 0.02] = np.inf
        whole[random.random(size) < 0.02] = -np.inf
        whole[random.random(size) < 0.02] = -0.0
    return whole * 0.125


def reduced(case: Case) -> Array:
    """The inputs of all ranks combined, by NumPy."""
    parts = np.stack([contribution(case, rank) for rank in range(case.ranks)])
    if case.op in ("min", "max"):
        extreme: Array = parts.min(0) if case.op == "min" else parts.max(0)
        return extreme
    if case.op == "prod":
        product: Array = parts.prod(0, dtype=case.dtype)
        return product
    total: Array = parts.sum(0, dtype=case.dtype)
    if case.op == "sum":
        return total
    if case.dtype not in INTEGERS:
        # Complex numbers part by part: NumPy multiplies them by 1 / ranks, which is rounded.
        parts_of_total = total.view(total.real.dtype)
        mean: Array = (parts_of_total / case.ranks).astype(parts_of_total.dtype).view(case.dtype)
        return mean
    quotient, rest = np.divmod(total, np.asarray(case.ranks, case.dtype))
    rounded_down = (rest != 0) & (total < 0)  # by NumPy; the engine rounds towards zero
    truncated: Array = (quotient + rounded_down).astype(case.dtype)
    return truncated


def expected(case: Case, rank: int) -> Array | None:
    """What `rank` must have in its output; None where it gets none."""
    if case.collective == "all_gather":
        return np.concatenate([contribution(case, other) for other in range(case.ranks)])
    if case.collective == "broadcast":
        return contribution(case, case.root)
    if case.collective == "reduce" and rank != case.root:
        return None
    total = reduced(case)
    return total[rank * case.count : (rank + 1) * case.count] if case.collective == "reduce_scatter" else total


class Guarded:
    """An array of `count` elements, `offset` bytes past a line, with canaries on both sides."""

    def __init__(self, count: int, dtype: str, offset: int) -> None:
        size = count * np.dtype(dtype).itemsize
        self._memory = np.full(size + 2 * CANARY + 128, UNTOUCHED, "uint8")
        self._start = -self._memory.ctypes.data % 64 + CANARY + offset
        self._end = self._start + size
        self.array: Array = self._memory[self._start : self._end].view(dtype)

    def intact(self) -> bool:
        """Whether nothing was written beside the array."""
        return bool((self._memory[: self._start] == UNTOUCHED).all() and (self._memory[self._end :] == UNTOUCHED).all())


@dataclass(frozen=True)
class Outcome:
    """What one rank saw: its output if it gets one, what is wrong beside it, what was executed."""

    output: Array | None
    complaints: list[str]
    executed: dict[str, Any]


def arrays(case: Case, rank: int) -> tuple[Guarded, Guarded, Array, Array]:
    """The memory that holds input and output (one and the same in place), the input, the output."""
    large = max(case.input_count, case.output_count)
    given = Guarded(large if case.in_place else case.input_count, case.dtype, case.offset)
    taken = given if case.in_place else Guarded(case.output_count, case.dtype, (case.offset * 3) % 64)
    block = slice(rank * case.count, (rank + 1) * case.count)
    source, target = given.array, taken.array
    if case.in_place and case.collective == "reduce_scatter":
        target = target[block]
    if case.in_place and case.collective == "all_gather":
        source = source[block]
    return given, taken, source, target


def call(case: Case, comm: Communicator) -> Outcome:
    """Runs the case as one rank."""
    given, taken, source, target = arrays(case, comm.rank)
    own = contribution(case, comm.rank)
    source[:] = own
    how: dict[str, Any] = {"algorithm": case.algorithm, "protocol": case.protocol, "slice_bytes": case.slice_bytes}
    how["streaming"] = case.streaming
    run: dict[str, Callable[[], Any]] = {
        "all_reduce": lambda: comm.all_reduce(source, op=case.op, out=target, **how),
        "reduce_scatter": lambda: comm.reduce_scatter(source, target, op=case.op, **how),
        "all_gather": lambda: comm.all_gather(source, target, **how),
        "broadcast": lambda: comm.broadcast(source, root=case.root, **how),
        "reduce": lambda: comm.reduce(source, root=case.root, op=case.op, out=target, **how),
    }
    run[case.collective]()

    complaints = []
    if not (given.intact() and taken.intact()):
        complaints.append("wrote beside an array")
    gets_none = case.collective == "reduce" and comm.rank != case.root
    if (not case.in_place or gets_none) and source.tobytes() != own.tobytes():
        complaints.append("changed the input")
    if gets_none and not case.in_place and (target.view("uint8") != UNTOUCHED).any():
        complaints.append("wrote the output of a rank that gets none")
    return Outcome(None if gets_none else target, complaints, comm.last_call())


def mistakes(case: Case, outcomes: list[Outcome]) -> list[str]:
    """What is wrong with the outcomes of all ranks, one line each; empty if all is right."""
    lines = [f"rank {rank} {text}" for rank, outcome in enumerate(outcomes) for text in outcome.complaints]
    for rank, outcome in enumerate(outcomes):
        wanted = expected(case, rank)
        if wanted is None or outcome.output is None:
            continue
        same = (outcome.output == wanted) | ((wanted != wanted) & (outcome.output != outcome.output))
        if not same.all():
            at = int(np.argmin(same))
            lines.append(
                f"rank {rank}: element {at} is {outcome.output[at]!r}, not {wanted[at]!r}; {(~same).sum()} differ"
            )
        for name in ("algorithm", "protocol"):
            asked = getattr(case, name)
            if asked not in ("auto", outcome.executed[name]):
                lines.append(f"rank {rank} ran {name} {outcome.executed[name]}, not {asked}")
    results = [outcome.output.tobytes() for outcome in outcomes if outcome.output is not None]
    if case.collective == "all_reduce" and len(set(results)) > 1:
        lines.append("ranks have different bits")
    return lines
