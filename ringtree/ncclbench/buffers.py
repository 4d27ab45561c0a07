"""The memory of one rank: two large buffers, and the parts of them that a call works on.

For: where source and result lie, in place and out of place, from iteration to iteration. Not for: what is written there
(rank_data.py).

As in nccl-tests each iteration works on another part as long as there is room, so that no call finds its data in the
caches only because the one before was just the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import ringtree
from ringtree.lab.exact_data import Array, storage_of
from ringtree.ncclbench.names import BLOCKED, DTYPES, NEVER_IN_PLACE, item_bytes
from ringtree.ncclbench.options import Options
from ringtree.ncclbench.rows import Elements


class Buffers:
    """Send and receive buffer of one rank for one dtype, `options.max_bytes` each. Every page was touched."""

    def __init__(self, options: Options, dtype: str, rank: int) -> None:
        self._collective, self._rank, self._first = options.collective, rank, options.unalign
        self._length = options.max_bytes // item_bytes(dtype)
        make: Callable[..., Array] = ringtree.empty if options.shared_buffers else np.empty
        stored = storage_of(DTYPES[dtype])
        self._send, self._receive = (make((self._length + self._first,), dtype=stored) for _ in range(2))
        for buffer in (self._send, self._receive):
            buffer.fill(0)  # also brings the pages in, which no timed call must have to do

    def num_places(self, elements: Elements) -> int:
        """Returns how many parts there are for calls of so many elements; at least one."""
        return max(1, self._length // elements.whole) if elements.whole else 1

    def place(self, elements: Elements, index: int, in_place: bool) -> tuple[Array, Array]:
        """Returns source and result of the `index`-th part; the same object where they are the same memory. Of what
        cannot be in place both are apart in either case."""
        start = self._first + elements.whole * (index % self.num_places(elements))
        if not in_place or self._collective in NEVER_IN_PLACE:
            return self._send[start : start + elements.source], self._receive[start : start + elements.result]
        whole = self._receive[start : start + elements.whole]
        if self._collective not in BLOCKED:
            return whole, whole
        block = whole[self._rank * elements.count : (self._rank + 1) * elements.count]
        return (block, whole) if self._collective in ("all_gather", "gather") else (whole, block)
