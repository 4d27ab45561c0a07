"""What a run measures, in order: one row for each dtype, op, root and size.

For: the order that ranks and the process that prints go through alike, and the elements that a size means. Pure
functions of the options. Not for: memory (buffers.py) or times.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ringtree.ncclbench.names import BLOCKED, item_bytes
from ringtree.ncclbench.options import Options

_BLOCK_ALIGNMENT = 16  # bytes; nccl-tests rounds a rank's block down to a multiple


@dataclass(frozen=True)
class Combination:
    """What stays the same while the sizes go up. `op` "none", `root` -1: the collective has none."""

    dtype: str
    op: str
    root: int


@dataclass(frozen=True)
class Elements:
    """Elements of a rank's source and of its result, and the count that nccl-tests shows (of one rank's block)."""

    source: int
    result: int
    count: int

    @property
    def whole(self) -> int:
        """Elements of the larger of both: the size that is shown, and what bandwidths are computed with."""
        return max(self.source, self.result)


@dataclass(frozen=True)
class Row:
    """One line of the table. `size_bytes`: of the larger buffer."""

    combination: Combination
    elements: Elements
    size_bytes: int


def combinations(options: Options) -> list[Combination]:
    """Returns dtypes, in them ops, in them roots, as nccl-tests orders them."""
    return [Combination(*each) for each in itertools.product(options.dtypes, options.ops, options.roots)]


def sizes(options: Options) -> Iterator[int]:
    """Yields the sizes that are asked for, in bytes, ascending."""
    size = options.min_bytes
    while size <= options.max_bytes:
        yield size
        size = size * options.step_factor if options.step_factor > 1 else size + options.step_bytes


def warm_up_sizes(options: Options) -> Iterator[int]:
    """Yields the sizes that are run before the first row: twice the last one, whatever the steps are."""
    size = options.min_bytes
    while size <= options.max_bytes:
        yield size
        size *= 2


def cycles(options: Options) -> Iterable[int]:
    """Counts how often all sizes are run."""
    return range(options.num_cycles) if options.num_cycles else itertools.count()


def rows(options: Options) -> Iterator[Row]:
    """Yields every row in the order of the table."""
    for combination in combinations(options):
        for _ in cycles(options):
            for size in sizes(options):
                yield make_row(options, combination, size)


def make_row(options: Options, combination: Combination, size_bytes: int) -> Row:
    """Returns the row of a size that was asked for; blocks of a rank make it smaller."""
    item = item_bytes(combination.dtype)
    elements = elements_of(options.collective, size_bytes, item, options.num_ranks)
    return Row(combination, elements, elements.whole * item)


def elements_of(collective: str, size_bytes: int, item: int, num_ranks: int) -> Elements:
    """Returns the elements of `size_bytes`, of which each rank's block is a share where the collective has blocks."""
    count = size_bytes // item
    if collective not in BLOCKED:
        return Elements(count, count, count)
    unit = _BLOCK_ALIGNMENT // item
    block = count // num_ranks // unit * unit
    whole = block * num_ranks
    if collective == "alltoall":
        return Elements(whole, whole, block)
    return Elements(block, whole, block) if collective in ("all_gather", "gather") else Elements(whole, block, block)
