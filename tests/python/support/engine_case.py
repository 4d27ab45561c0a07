"""One call of a collective as data: which call, made how, on what memory.

For: the tests that hold the engine against NumPy. Not for: what ranks give and must get (engine_oracle.py), making the
call (engine_support.py), drawing calls at random (engine_draws.py).
"""

from __future__ import annotations

from dataclasses import dataclass

FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX)  # those that NumPy has

REDUCING = ("all_reduce", "reduce_scatter", "reduce")
ROOTED = ("broadcast", "reduce", "gather", "scatter")
BLOCKED = ("reduce_scatter", "all_gather", "gather", "scatter", "all_to_all")
COLLECTIVES = ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce", "gather", "scatter", "all_to_all")

BITWISE = ("band", "bor", "bxor")
LOGICAL = ("land", "lor", "lxor")
OPS = ("sum", "prod", "min", "max", "avg", "premul_sum", *BITWISE, *LOGICAL)


def ops_of(dtype: str) -> tuple[str, ...]:
    """The ops that are defined for a dtype."""
    if dtype == "bool":
        return tuple(op for op in OPS if op not in ("avg", "premul_sum"))
    if dtype in FLOATS:
        return tuple(op for op in OPS if op not in BITWISE)
    if dtype in COMPLEX:
        return tuple(op for op in OPS if op not in (*BITWISE, "min", "max"))
    return OPS


def kinds_of(collective: str) -> list[tuple[str, str]]:
    """Every (dtype, op) of a collective; where nothing is reduced the op is "sum" and means nothing."""
    return [(dtype, op) for dtype in DTYPES for op in (ops_of(dtype) if collective in REDUCING else ("sum",))]


@dataclass(frozen=True)
class Case:
    """A call. count: elements of the whole vector, or of one block where the collective has blocks and all are equal.
    counts, if not empty: elements of uneven blocks, of each rank or, row by row, of each pair of ranks (all_to_all).
    offset: bytes by which arrays miss a line of 64. started: in the background. Everything else is as init(), empty()
    and the methods of Communicator name it."""

    ranks: int
    channels: int
    deterministic: bool
    collective: str
    algorithm: str
    protocol: str
    dtype: str
    op: str
    count: int
    counts: tuple[int, ...]
    root: int
    in_place: bool
    offset: int
    slice_bytes: int
    streaming: bool | None
    shared_input: bool
    shared_output: bool
    started: bool
    seed: int

    @property
    def world(self) -> tuple[int, int, bool]:
        """What the communicators must be made for."""
        return self.ranks, self.channels, self.deterministic

    @property
    def blocks(self) -> list[int]:
        """Elements of each rank's block, where there is one a rank."""
        return list(self.counts) or [self.count] * self.ranks

    def sent(self, rank: int) -> list[int]:
        """Elements of the blocks that `rank` sends in an all_to_all, by receiver."""
        row = self.counts[rank * self.ranks : (rank + 1) * self.ranks]
        return list(row) or [self.count] * self.ranks

    def got(self, rank: int) -> list[int]:
        """Elements of the blocks that `rank` gets in an all_to_all, by sender."""
        return [self.sent(other)[rank] for other in range(self.ranks)]

    def input_count(self, rank: int) -> int:
        """Elements of the array that `rank` hands over, whether it is read or not."""
        if self.collective in ("reduce_scatter", "scatter"):
            return sum(self.blocks)
        if self.collective in ("all_gather", "gather"):
            return self.blocks[rank]
        return sum(self.sent(rank)) if self.collective == "all_to_all" else self.count

    def output_count(self, rank: int) -> int:
        """Elements of the array that `rank` lets be written, whether it is or not."""
        if self.collective in ("reduce_scatter", "scatter"):
            return self.blocks[rank]
        if self.collective in ("all_gather", "gather"):
            return sum(self.blocks)
        return sum(self.got(rank)) if self.collective == "all_to_all" else self.count

    def own_block(self, rank: int) -> slice:
        """Where the block of `rank` lies among all blocks."""
        start = sum(self.blocks[:rank])
        return slice(start, start + self.blocks[rank])

    def gives(self, rank: int) -> bool:
        """Whether the array of `rank` is read."""
        return self.collective not in ("broadcast", "scatter") or rank == self.root

    def gets(self, rank: int) -> bool:
        """Whether `rank` has a result."""
        return self.collective not in ("reduce", "gather") or rank == self.root
