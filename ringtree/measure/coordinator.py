"""The lab's own communicator on one rank: barrier, agreement, and records, the same for every arm.

For: what ranks say to each other beside what is measured. Its links are never slowed, so it is neutral. Not for: what
is said (messages.py).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel

from ringtree.measure.exchange import gather, hear, tell

START_MARGIN = 0.003  # seconds, for telling everybody when to start


class Coordinator:
    """One rank's end of it."""

    def __init__(self, communicator: Any, start_together: bool = False) -> None:
        """start_together: ready() also waits for one moment on the clock that all share. A barrier alone lets many
        ranks on few cores go one after the other, by more than the differences between emulated clusters."""
        self._comm = communicator
        self._start_together = start_together

    def barrier(self) -> None:
        self._comm.barrier()

    def ready(self) -> None:
        """Returns on all ranks at about the same time, for what is timed next."""
        self.barrier()
        if self._start_together:
            start = np.array([time.monotonic() + START_MARGIN])
            self._comm.broadcast(start, root=0)
            time.sleep(max(0.0, float(start[0]) - time.monotonic()))

    def decide(self, values: Sequence[int]) -> list[int]:
        """Returns rank 0's values on every rank; every rank passes as many."""
        box = np.array(values, dtype=np.int64)
        self._comm.broadcast(box, root=0)
        return [int(value) for value in box]

    def all_true(self, mine: bool) -> bool:
        """Returns on every rank whether it was true on all of them."""
        box = np.array([int(mine)], dtype=np.int64)
        self._comm.all_reduce(box, op="min")
        return bool(box[0])

    def tell(self, record: BaseModel) -> None:
        """Rank 0: sends a record to all others."""
        tell(self._comm, record)

    def hear(self) -> bytes:
        """The other ranks: the JSON of what rank 0 tells. Who waits long sleeps."""
        return hear(self._comm)

    def gather(self, mine: BaseModel) -> list[bytes]:
        """Returns, on every rank, the JSON of each rank's record."""
        return gather(self._comm, mine)
