"""What a rank contributes to a collective and what it must get, element by element.

For: writing the source of a call and counting the wrong elements of its result, whatever the collective. Not for: the
values themselves (ringtree.lab.exact_data). Blocks get call numbers of their own, so that one in a wrong place is
found.
"""

from __future__ import annotations

from collections.abc import Iterable

from ringtree.lab.exact_data import Array, ExactData
from ringtree.ncclbench.names import DTYPES, OPS, REDUCING
from ringtree.ncclbench.options import Options
from ringtree.ncclbench.rows import Combination

_Pieces = Iterable[tuple[int, Array]]  # the number of the data, and where it lies


class RankData:
    """One rank's data for one combination. Memory: a few patterns, whatever the size of the buffers."""

    def __init__(self, options: Options, combination: Combination, rank: int) -> None:
        self._collective, self._num_ranks, self._rank = options.collective, options.num_ranks, rank
        self._is_root = rank == combination.root
        # What is only moved is the same pattern on every rank that writes it.
        ranks, own, op = 1, 0, "sum"
        if options.collective in REDUCING:
            ranks, own, op = options.num_ranks, rank, OPS[combination.op]
        self._data = ExactData(DTYPES[combination.dtype], ranks, own, options.seed, op)

    def write(self, source: Array, call: int) -> None:
        """Writes this rank's part of the `call`-th call; nothing where only the root gives."""
        for number, piece in self._given(source, call):
            self._data.write(piece, number)

    def count_wrong(self, result: Array, call: int) -> int:
        """Reads the whole result of the `call`-th call and returns how many elements are wrong; 0 where none is due."""
        return sum(self._data.count_wrong(piece, number) for number, piece in self._due(result, call))

    def _given(self, source: Array, call: int) -> _Pieces:
        if self._collective in ("broadcast", "scatter") and not self._is_root:
            return []
        if self._collective in ("all_gather", "gather", "sendrecv"):
            return [(self._number(call, self._rank), source)]
        if self._collective in ("reduce_scatter", "scatter"):
            return self._blocks(source, [self._number(call, rank) for rank in range(self._num_ranks)])
        if self._collective == "alltoall":
            return self._blocks(source, [self._number(call, self._rank, to) for to in range(self._num_ranks)])
        return [(call, source)]

    def _due(self, result: Array, call: int) -> _Pieces:
        if self._collective in ("reduce", "gather") and not self._is_root:
            return []
        if self._collective in ("reduce_scatter", "scatter"):
            return [(self._number(call, self._rank), result)]
        if self._collective == "sendrecv":
            return [(self._number(call, (self._rank - 1) % self._num_ranks), result)]
        if self._collective in ("all_gather", "gather"):
            return self._blocks(result, [self._number(call, rank) for rank in range(self._num_ranks)])
        if self._collective == "alltoall":
            return self._blocks(result, [self._number(call, rank, self._rank) for rank in range(self._num_ranks)])
        return [(call, result)]

    def _number(self, call: int, *block: int) -> int:
        """A number of a block's own: of the rank, or of sender and receiver."""
        for each in block:
            call = call * self._num_ranks + each
        return call

    def _blocks(self, whole: Array, numbers: list[int]) -> _Pieces:
        length = len(whole) // self._num_ranks
        return [(number, whole[i * length : (i + 1) * length]) for i, number in enumerate(numbers)]
