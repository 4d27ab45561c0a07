"""What a run measures, in order: one row for each dtype, op, root and size.

For: their order, and the elements that a size means. Pure functions of the options. Not for: memory or times.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from ringtree.bench.options import Options
from ringtree.measure.collective_data import Elements, elements_of
from ringtree.nccl.nccl_tests import COLLECTIVES, DTYPE_BYTES

BLOCK_ALIGNMENT = 16  # bytes; nccl-tests rounds a rank's block down to a multiple


@dataclass(frozen=True)
class Combination:
    """What stays the same while the sizes go up. `op` "none", `root` -1: the collective has none."""

    dtype: str
    op: str
    root: int


@dataclass(frozen=True)
class BenchRow:
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
        size = size * options.asked.stepfactor if options.asked.stepfactor > 1 else size + options.step_bytes


def warm_up_sizes(options: Options) -> Iterator[int]:
    """Yields the sizes that are run before the first row: twice the last one, whatever the steps are."""
    size = options.min_bytes
    while size <= options.max_bytes:
        yield size
        size *= 2


def rows(options: Options, combination: Combination) -> Iterator[BenchRow]:
    """Yields the rows of a combination in the order of the table."""
    for _ in range(options.asked.run_cycles) if options.asked.run_cycles else itertools.count():
        for size in sizes(options):
            yield make_row(options, combination, size)


def make_row(options: Options, combination: Combination, size_bytes: int) -> BenchRow:
    """Returns the row of a size that was asked for; blocks of a rank make it smaller."""
    item, collective = DTYPE_BYTES[combination.dtype], COLLECTIVES[options.asked.collective]
    elements = elements_of(collective, size_bytes, item, options.num_ranks, BLOCK_ALIGNMENT)
    return BenchRow(combination, elements, elements.whole * item)
