"""What a rank contributes to a collective and what it must get, element by element.

For: writing the source of a call and counting the wrong elements of its result, whatever the collective. Not for: the
values themselves (ringtree.lab.exact_data). Blocks get call numbers of their own, so that one in a wrong place is
found.
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.lab.exact_data import Array, ExactData
from ringtree.ncclbench.names import DTYPES, REDUCING
from ringtree.ncclbench.options import Options
from ringtree.ncclbench.rows import Combination


class RankData:
    """One rank's data for one combination. Memory: a few patterns, whatever the size of the buffers."""

    def __init__(self, options: Options, combination: Combination, rank: int) -> None:
        self._collective, self._num_ranks, self._rank = options.collective, options.num_ranks, rank
        self._is_root = rank == combination.root
        # What is only moved is the same pattern on every rank that writes it.
        ranks, own, op = (options.num_ranks, rank, combination.op) if options.collective in REDUCING else (1, 0, "sum")
        self._data = ExactData(DTYPES[combination.dtype], ranks, own, options.seed, op)

    def write(self, source: Array, call: int) -> None:
        """Writes this rank's part of the `call`-th call; nothing where only the root gives."""
        if self._collective == "reduce_scatter":
            for number, block in self._blocks(source, call):
                self._data.write(block, number)
        elif self._collective == "all_gather":
            self._data.write(source, call * self._num_ranks + self._rank)
        elif self._collective != "broadcast" or self._is_root:
            self._data.write(source, call)

    def count_wrong(self, result: Array, call: int) -> int:
        """Reads the whole result of the `call`-th call and returns how many elements are wrong; 0 where none is due."""
        if self._collective == "all_gather":
            return sum(self._data.count_wrong(block, number) for number, block in self._blocks(result, call))
        if self._collective == "reduce_scatter":
            return self._data.count_wrong(result, call * self._num_ranks + self._rank)
        if self._collective == "reduce" and not self._is_root:
            return 0
        return self._data.count_wrong(result, call)

    def _blocks(self, whole: Array, call: int) -> Iterator[tuple[int, Array]]:
        length = len(whole) // self._num_ranks
        for block in range(self._num_ranks):
            yield call * self._num_ranks + block, whole[block * length : (block + 1) * length]
