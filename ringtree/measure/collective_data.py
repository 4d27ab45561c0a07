"""The data of every collective: what a rank gives, where its result lies, and what that must be, element by element.

For: the one maker and checker of data for whatever measures, and how many elements a size means. Not for: the values
(exact_data.py), the memory that they lie in, or making calls.

What a rank has on either side is a whole vector, its own block, or a block of every rank. From that and from who has a
root all else follows. Each block has a number, and with it data, of its own: that of the rank that gives it and of its
place there. So one in a wrong place, of another rank or of an earlier call is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ringtree.arms.engine import SEND_RECV
from ringtree.errors import UsageError
from ringtree.measure.exact_data import Array, ExactData, Wrong, factor_of, stored_patterns
from ringtree.storage import storage_of
from ringtree.traits import BLOCKED, COLLECTIVES, GIVES_BLOCK, IN_PLACE, REDUCING, ROOTED, TAKES_BLOCK

VECTOR, BLOCK, BLOCKS = "vector", "block", "blocks"
SOURCE, RESULT = "source", "result"


@dataclass(frozen=True)
class Shape:
    """What a rank has before and after. `of_root`: the side that counts on the root only; "": on all ranks both do."""

    source: str
    result: str
    of_root: str = ""
    reduces: bool = False
    can_be_in_place: bool = True

    @property
    def has_blocks(self) -> bool:
        """True where the larger side is a block of every rank."""
        return BLOCKS in (self.source, self.result)

    @property
    def num_buffers(self) -> int:
        """As large as the larger side, that a call needs."""
        return 1 if self.can_be_in_place else 2

    @property
    def place(self) -> str:
        """How it is compared, in words."""
        return "in place" if self.can_be_in_place else "out of place"


def _shape(name: str) -> Shape:
    larger = BLOCKS if name in BLOCKED else VECTOR
    collects = name in REDUCING or name in TAKES_BLOCK  # all give, and the root, if there is one, gets
    return Shape(
        source=BLOCK if name in TAKES_BLOCK else larger,
        result=BLOCK if name in GIVES_BLOCK else larger,
        of_root="" if name not in ROOTED else RESULT if collects else SOURCE,
        reduces=name in REDUCING,
        can_be_in_place=name in IN_PLACE,
    )


SHAPES = {name: _shape(name) for name in (*COLLECTIVES, SEND_RECV)}


@dataclass(frozen=True)
class Elements:
    """Elements of a rank's source, of its result, and of one block (of the vector where there are no blocks)."""

    source: int
    result: int
    count: int

    @property
    def whole(self) -> int:
        """Elements of the larger of both: by its bytes sizes are quoted, and bandwidths computed, as in nccl-tests."""
        return max(self.source, self.result)


def shape_of(collective: str) -> Shape:
    """Returns the shape of a collective. Raises UsageError for one that is not known."""
    if collective not in SHAPES:
        raise UsageError(f"unknown collective {collective!r}; choose from: {', '.join(SHAPES)}")
    return SHAPES[collective]


def elements_of(collective: str, size_bytes: int, item_bytes: int, num_ranks: int, align_bytes: int = 1) -> Elements:
    """Returns the elements of a size; where it is that of a block a rank, blocks are rounded down to `align_bytes`."""
    shape, count = shape_of(collective), size_bytes // item_bytes
    if shape.has_blocks:
        unit = max(1, align_bytes // item_bytes)
        count = count // num_ranks // unit * unit
    source, result = (count * (num_ranks if side == BLOCKS else 1) for side in (shape.source, shape.result))
    return Elements(source, result, count)


def whole_size(collective: str, size_bytes: int, item_bytes: int, num_ranks: int) -> int:
    """Returns the bytes from `size_bytes` on that make whole elements and, where there are blocks, equal ones."""
    unit = item_bytes * (num_ranks if shape_of(collective).has_blocks else 1)
    return max(1, -(-size_bytes // unit)) * unit


def sides_in(collective: str, whole: Array, rank: int, num_ranks: int) -> tuple[Array, Array]:
    """Returns source and result in `whole`, a rank's larger side: the same object where each is all of it. Raises
    UsageError for a collective that can't be in place."""
    shape = shape_of(collective)
    if not shape.can_be_in_place:
        raise UsageError(f"{collective} cannot be in place: its result needs a buffer of its own")
    length = len(whole) // num_ranks
    own = whole[rank * length : (rank + 1) * length]
    return (own if shape.source == BLOCK else whole), (own if shape.result == BLOCK else whole)


def write_patterns(file: Path, collective: str, dtype: str, num_ranks: int, seed: int, op: str) -> None:
    """Writes what native workers need of these data: every rank's pattern, then the one that is due (workers/
    worker_data.h); numbers and places are CollectiveData's. Raises UsageError as ExactData."""
    shape = shape_of(collective)
    ranks, op, again = (num_ranks, op, 1) if shape.reduces else (1, "sum", num_ranks)
    with file.open("wb") as out:
        *own, due = (pattern.tobytes() for pattern in stored_patterns(dtype, ranks, seed, op))
        out.writelines([*own * again, due])


class CollectiveData:
    """One rank's data of one collective. Memory: a few patterns, whatever the size of the buffers.

    `factor`: what a call is given to multiply this rank's contribution by; 1 but for premul_sum. `op` counts where
    something is reduced, `root` where there is one. Raises UsageError as ExactData.
    """

    def __init__(
        self, collective: str, dtype: str, num_ranks: int, rank: int, seed: int, op: str = "sum", root: int = 0
    ) -> None:
        self.collective, self.shape = collective, shape_of(collective)
        self.num_ranks, self.rank, self.root, self.dtype = num_ranks, rank, root, dtype
        self.factor = factor_of(op, rank) if self.shape.reduces else 1
        # What is only moved is the same pattern on every rank that writes it.
        ranks, own, op = (num_ranks, rank, op) if self.shape.reduces else (1, 0, "sum")
        self._data = ExactData(dtype, ranks, own, seed, op)

    def elements(self, size_bytes: int) -> Elements:
        """Returns the elements of a size."""
        return elements_of(self.collective, size_bytes, storage_of(self.dtype).itemsize, self.num_ranks)

    def write(self, source: Array, call: int) -> None:
        """Writes this rank's part of the `call`-th call; nothing where only the root gives."""
        if self.shape.of_root == SOURCE and self.rank != self.root:
            return
        giver = 0 if self.shape.reduces else self.rank
        for place, (_, piece) in enumerate(self._pieces(source, self.shape.source)):
            self._data.write(piece, self._number(call, giver, place))

    def check(self, result: Array, call: int) -> Wrong | None:
        """Reads the whole result of the `call`-th call; returns its first wrong element, None if there is none (or
        nothing is due on this rank)."""
        for number, start, piece in self._due(result, call):
            wrong = self._data.check(piece, number)
            if wrong is not None:
                return Wrong(start + wrong.index, wrong.expected, wrong.found)
        return None

    def count_wrong(self, result: Array, call: int) -> int:
        """Reads the whole result of the `call`-th call; returns how many elements are wrong."""
        return sum(self._data.count_wrong(piece, number) for number, _, piece in self._due(result, call))

    def _due(self, result: Array, call: int) -> Iterator[tuple[int, int, Array]]:
        """Number, first element and memory of each block that this rank must get."""
        shape = self.shape
        if shape.of_root == RESULT and self.rank != self.root:
            return
        one = self.root if shape.of_root == SOURCE else (self.rank - 1) % self.num_ranks
        place = self.rank if shape.source == BLOCKS else 0
        for block, (start, piece) in enumerate(self._pieces(result, shape.result)):
            giver = 0 if shape.reduces else block if shape.result == BLOCKS else one
            yield self._number(call, giver, place), start, piece

    def _pieces(self, side: Array, kind: str) -> Iterator[tuple[int, Array]]:
        """First element and memory of each block of a source or result."""
        count = self.num_ranks if kind == BLOCKS else 1
        length = len(side) // count
        for start in range(0, length * count, length or 1):
            yield start, side[start : start + length]

    def _number(self, call: int, giver: int, place: int) -> int:
        return (call * self.num_ranks + giver) * self.num_ranks + place
