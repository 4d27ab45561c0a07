"""The timed loop of one cell on one rank.

For: warm-up, the barrier before each iteration, writing inputs, timing, reading outputs. Not for: processes, stores, or
statistics.

Every arm gets the same neutral barrier (the lab's own communicator, whose links are never slowed) and the same work
around its calls: inputs are written before and outputs read whole after each iteration, outside of the timed region.
All ranks do the same number of iterations, because rank 0 decides it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ringtree.backends import Arm, Operands
from ringtree.lab.exact_data import ExactData
from ringtree.lab.warm_up import warm_up_ends
from ringtree.results import SizePlan, WarmUp, WrongElement

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


class Coordinates(Protocol):
    """What measuring needs of a Coordinator."""

    def ready(self) -> None: ...

    def decide(self, values: Sequence[int]) -> list[int]: ...

    def all_true(self, mine: bool) -> bool: ...


class CallNumbers:
    """Numbers the calls of a launch, so that no two of them share their data."""

    def __init__(self) -> None:
        self._next = 0

    def take(self, count: int) -> int:
        """Returns the first of the next `count` numbers."""
        first = self._next
        self._next += count
        return first


class CellLoop:
    """One arm at one size in one launch: warmed up once, then visited several times.

    `times`: seconds of each timed iteration (a batch of calls) on this rank. `error`: why there are none, on all ranks.
    """

    def __init__(
        self,
        arm: Arm,
        data: ExactData,
        sync: Coordinates,
        rank: int,
        size: SizePlan,
        count: int,
        numbers: CallNumbers,
        keep_operands: bool,
    ) -> None:
        """`count`: elements of an operand; `keep_operands`: hold their memory from visit to visit."""
        self._arm, self._data, self._sync, self._rank, self.size = arm, data, sync, rank, size
        self._count, self._numbers, self._keep = count, numbers, keep_operands
        self._kept: Operands | None = None
        self.times: list[float] = []
        self.executed: dict[str, Any] | None = None
        self.first_wrong: WrongElement | None = None
        self.error: str | None = None

    def warm_up(self, budget: float) -> tuple[WarmUp | None, float]:
        """Runs untimed iterations until rank 0 finds them stable, or the limits reached.

        Returns how it ended and the wall seconds of one iteration, writing and checking included. An arm that raises in
        its first call leaves `error` on every rank, and None.
        """
        operands = self._operands()
        started = time.perf_counter()
        error = None
        try:
            seconds = [self._iteration(operands, -1)]
        except Exception as raised:  # every way to fail disqualifies the arm, and the other ranks must hear of it
            error = f"{type(raised).__name__}: {raised}"
        if not self._sync.all_true(error is None):
            self.error = error or "failed on another rank"
            self.close()
            return None, 0.0
        while True:
            spent = time.perf_counter() - started
            ended = warm_up_ends(self.size.size_bytes, seconds, spent, budget)
            stable, limit = self._sync.decide([ended == "stable", ended == "limit"])
            if stable or limit:
                break
            seconds.append(self._iteration(operands, -1))
        self.executed = self._arm.executed()
        return WarmUp(num_iterations=len(seconds), ended="stable" if stable else "limit"), spent / len(seconds)

    def visit(self, num_untimed: int, num_timed: int) -> None:
        """Runs `num_untimed` iterations and then `num_timed` whose times are kept."""
        operands = self._operands()
        for _ in range(num_untimed):
            self._iteration(operands, -1)
        for _ in range(num_timed):
            self.times.append(self._iteration(operands, len(self.times)))
        self.executed = self._arm.executed()

    def close(self) -> None:
        """Gives the operands' memory back."""
        self._kept = None

    def _operands(self) -> Operands:
        if self._kept is not None:
            return self._kept
        made = self._arm.make_operands(self._count, self.size.batch)
        if self._keep:
            self._kept = made
        return made

    def _iteration(self, operands: Operands, iteration: int) -> float:
        arrays = operands.arrays
        first = self._numbers.take(len(arrays))
        for i, array in enumerate(arrays):
            self._data.write(array, first + i)
        self._sync.ready()
        start = time.perf_counter()
        for i in range(len(arrays)):
            self._arm.call(operands, i)
        seconds = time.perf_counter() - start
        for i, array in enumerate(arrays):
            self._check(array, first + i, iteration, i)
        return seconds

    def _check(self, array: Any, call: int, iteration: int, index: int) -> None:
        wrong = self._data.check(array, call)
        if wrong is not None and self.first_wrong is None:
            self.first_wrong = WrongElement(
                rank=self._rank,
                iteration=iteration,
                call=index,
                index=wrong.index,
                expected=wrong.expected,
                found=wrong.found,
            )
