"""The memory that calls of a launch read and write.

For: each cell's own, or one that all cells of a launch share, so that whatever its pages do to the caches, they do to
all arms alike. Not for: what is written there (collective_data.py).
"""

from __future__ import annotations

from ringtree.arms import Arm, Array
from ringtree.measure.collective_data import RESULT, SOURCE, CollectiveData, sides_in
from ringtree.measure.messages import Memory
from ringtree.storage import storage_of


class Operands:
    """Sources and results of one rank. `keep`: cells hold theirs from visit to visit."""

    def __init__(self, memory: Memory) -> None:
        self.keep = memory.keep
        self._in_place, self._largest = memory.in_place, memory.largest
        self._shared: dict[tuple[str, int], list[Array]] = {}

    def sides(self, arm: Arm, data: CollectiveData, size_bytes: int, batch: int) -> list[tuple[Array, Array]]:
        """Returns source and result of `batch` calls: the same memory where the collective can be in place."""
        wholes = self._vectors(SOURCE, arm, data, size_bytes, batch)
        if self._in_place and data.shape.can_be_in_place:
            return [sides_in(data.collective, whole, data.rank, data.num_ranks) for whole in wholes]
        return list(zip(wholes, self._vectors(RESULT, arm, data, size_bytes, batch), strict=True))

    def _vectors(self, side: str, arm: Arm, data: CollectiveData, size_bytes: int, batch: int) -> list[Array]:
        count = data.elements(size_bytes).whole
        if batch not in self._largest:
            return arm.make_buffers(count, batch)
        if (side, batch) not in self._shared:
            most = self._largest[batch] // storage_of(data.dtype).itemsize
            self._shared[side, batch] = arm.make_buffers(most, batch)
        return [one[:count] for one in self._shared[side, batch]]
