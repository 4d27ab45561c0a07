"""The memory of one rank in a bench: two large buffers, and the parts of them that a call works on.

For: where source and result lie, in place and out of place, from iteration to iteration. Not for: what is written there
(collective_data.py).

As in nccl-tests each iteration works on another part as long as there is room, so that no call finds its data in the
caches only because the one before was just the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ringtree.comm.shared import empty
from ringtree.measure.collective_data import CollectiveData, Elements, sides_in
from ringtree.measure.exact_data import Array
from ringtree.storage import storage_of


class SideBuffers:
    """Send and receive buffer of one rank, `num_bytes` each from element `first` on. Every page was touched."""

    def __init__(
        self, data: CollectiveData, num_bytes: int, first: int, make: Callable[[int, int], list[Array]]
    ) -> None:
        """`make(elements, buffers)`: returns them, filled with zeros."""
        self._data, self._first = data, first
        self._length = num_bytes // storage_of(data.dtype).itemsize
        self._send, self._receive = make(self._length + first, 2)

    def num_places(self, elements: Elements) -> int:
        """Returns how many parts there are for calls of so many elements; at least one."""
        return max(1, self._length // elements.whole) if elements.whole else 1

    def place(self, elements: Elements, index: int, in_place: bool) -> tuple[Array, Array]:
        """Returns source and result of the `index`-th part; the same object where they are the same memory. Of what
        cannot be in place both are apart in either case."""
        data = self._data
        start = self._first + elements.whole * (index % self.num_places(elements))
        if not (in_place and data.shape.can_be_in_place):
            return self._send[start : start + elements.source], self._receive[start : start + elements.result]
        return sides_in(data.collective, self._receive[start : start + elements.whole], data.rank, data.num_ranks)


def host_buffers(data: CollectiveData, shared: bool, count: int, num_buffers: int) -> list[Array]:
    """Returns arrays of zeros in this host's memory; `shared`: peers read them in place."""
    make: Callable[..., Array] = empty if shared else np.empty
    buffers = [make((count,), dtype=storage_of(data.dtype)) for _ in range(num_buffers)]
    for buffer in buffers:
        buffer.fill(0)  # also brings the pages in, which no timed call must have to do
    return buffers
