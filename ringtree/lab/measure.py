"""The timed loop of one cell on one rank.

For: warm-up, the barrier before each iteration, writing inputs, timing, reading outputs. Not for: processes, stores, or
statistics.

Every arm gets the same neutral barrier (the lab's own communicator, whose links are never slowed) and the same work
around its calls: inputs are written before and outputs read whole after each iteration, outside of the timed region.
All ranks do the same number of iterations, because rank 0 decides it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ringtree.backends import Arm, Array
from ringtree.lab.exact_data import ExactData
from ringtree.results import SizePlan, WrongElement

NUM_WARMUPS = 2
START_MARGIN = 0.003  # seconds, for telling everybody when to start


class Coordinator:
    """The lab's own communicator: barrier and agreement of ranks, the same for every arm."""

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

    def decide(self, value: int) -> int:
        """Returns rank 0's value on every rank."""
        box = np.array([value], dtype=np.int64)
        self._comm.broadcast(box, root=0)
        return int(box[0])

    def all_true(self, mine: bool) -> bool:
        """Returns on every rank whether it was true on all of them."""
        box = np.array([int(mine)], dtype=np.int64)
        self._comm.all_reduce(box, op="min")
        return bool(box[0])


class Coordinates(Protocol):
    """What measuring needs of a Coordinator."""

    def ready(self) -> None: ...

    def decide(self, value: int) -> int: ...

    def all_true(self, mine: bool) -> bool: ...


@dataclass(frozen=True)
class Measured:
    """One cell on one rank: seconds of each timed iteration (a batch of calls), and the first wrong element."""

    times: list[float]
    first_wrong: WrongElement | None
    error: str | None


class CellLoop:
    """Runs one cell. `first_call` numbers its calls so that no two calls of a launch share their data."""

    def __init__(
        self, arm: Arm, data: ExactData, sync: Coordinates, rank: int, size: SizePlan, first_call: int
    ) -> None:
        self._arm, self._data, self._sync, self._rank, self._size = arm, data, sync, rank, size
        self.next_call = first_call
        self.first_wrong: WrongElement | None = None

    def run(self, count: int, budget: float) -> Measured:
        """Measures `count` elements for about `budget` seconds of timed iterations.

        An arm that raises in its first call raises here only if others can't be told; else the cell says `error`.
        """
        buffers = self._arm.make_buffers(count, self._size.batch)
        error = None
        try:
            self._iteration(buffers, -NUM_WARMUPS)
        except Exception as raised:  # every way to fail disqualifies the arm, and the other ranks must hear of it
            error = f"{type(raised).__name__}: {raised}"
        if not self._sync.all_true(error is None):
            return Measured([], self.first_wrong, error or "failed on another rank")
        seconds = min(self._iteration(buffers, i - NUM_WARMUPS) for i in range(1, NUM_WARMUPS))
        wanted = int(budget / max(seconds, 1e-9))
        num_iterations = self._sync.decide(max(self._size.min_iterations, min(wanted, self._size.max_iterations)))
        times = [self._iteration(buffers, i) for i in range(num_iterations)]
        return Measured(times, self.first_wrong, None)

    def _iteration(self, buffers: list[Array], iteration: int) -> float:
        first = self.next_call
        self.next_call += len(buffers)
        for i, buffer in enumerate(buffers):
            self._data.write(buffer, first + i)
        self._sync.ready()
        start = time.perf_counter()
        for i in range(len(buffers)):
            self._arm.call(i)
        seconds = time.perf_counter() - start
        for i, buffer in enumerate(buffers):
            self._check(buffer, first + i, iteration, i)
        return seconds

    def _check(self, buffer: Array, call: int, iteration: int, index: int) -> None:
        wrong = self._data.check(buffer, call)
        if wrong is not None and self.first_wrong is None:
            self.first_wrong = WrongElement(
                rank=self._rank,
                iteration=iteration,
                call=index,
                index=wrong.index,
                expected=wrong.expected,
                found=wrong.found,
            )
