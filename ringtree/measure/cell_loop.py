"""The timed loop of one cell on one rank.

For: warm-up, the barriers around each call, writing inputs, timing, reading outputs. Not for: processes, stores, or
statistics.

Every arm gets the same neutral barriers (the lab's own communicator, whose links are never slowed) and the same work
around its calls: inputs are written before and outputs read whole after each iteration, outside of the timed region.
No rank begins that work before all have stopped their clocks: where ranks share cores, the work of those that return
early would take time from those still in the call, in every iteration but a visit's last (decision 0035).
All ranks do the same number of iterations, because rank 0 decides it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Protocol

from ringtree.arms import Arm, Array
from ringtree.arms.stream_clocks import clock_of
from ringtree.measure.collective_data import CollectiveData
from ringtree.measure.messages import Answer, WarmCell
from ringtree.measure.operands import Operands
from ringtree.measure.warm_up import warm_up_ends
from ringtree.results import WarmUp, WrongElement


class Coordinates(Protocol):
    """What measuring needs of a Coordinator."""

    def ready(self) -> None: ...

    def barrier(self) -> None: ...

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


@dataclass(frozen=True)
class Place:
    """Where a call finds its source and leaves its result: the same memory where the collective can be in place."""

    source: Array
    result: Array
    call: Callable[[], object]


class CellLoop:
    """One arm at one size in one launch, on one rank: warmed up once, then visited several times."""

    def __init__(
        self,
        arm: Arm,
        data: CollectiveData,
        sync: Coordinates,
        cell: WarmCell,
        numbers: CallNumbers,
        operands: Operands,
    ) -> None:
        self._arm, self._data, self._sync, self._cell = arm, data, sync, cell
        self._numbers, self._operands = numbers, operands
        self._kept: list[Place] | None = None
        self._is_awaited = False  # by ranks whose calls returned
        self._clock = clock_of(arm)
        self._num_timed = 0
        self._first_wrong: WrongElement | None = None

    def warm_up(self) -> Answer:
        """Runs untimed iterations until rank 0 finds them stable, or the limits reached.

        Answers how it ended and the wall seconds of one iteration, writing and checking included: the median, as the
        first one also makes what lasts for a launch. An arm that raises in its first iteration leaves an error on every
        rank.
        """
        started = time.perf_counter()
        error, walls = None, list[float]()
        try:
            places = self._places()
            seconds = [self._iteration(places, -1)]
            walls.append(time.perf_counter() - started)
        except Exception as raised:  # every way to fail disqualifies the arm, and the other ranks must hear of it
            error = f"{type(raised).__name__}: {raised}"
            if self._is_awaited:
                self._sync.barrier()
        if not self._sync.all_true(error is None):
            self._kept = None
            return Answer(error=error or "failed on another rank", first_wrong=self._first_wrong)
        while True:
            spent = time.perf_counter() - started
            ended = warm_up_ends(self._cell.size_bytes, seconds, spent, self._cell.budget)
            stable, limit = self._sync.decide([ended == "stable", ended == "limit"])
            if stable or limit:
                break
            begun = time.perf_counter()
            seconds.append(self._iteration(places, -1))
            walls.append(time.perf_counter() - begun)
        warm_up = WarmUp(num_iterations=len(seconds), ended="stable" if stable else "limit")
        return self._answer(places, warm_up=warm_up, seconds=median(walls))

    def visit(self, num_untimed: int, num_timed: int, check: bool = True) -> Answer:
        """Runs `num_untimed` iterations and then `num_timed` whose times are kept: of a batch of calls each. `check`:
        reads what comes of them."""
        places = self._places()
        for _ in range(num_untimed):
            self._iteration(places, -1, check)
        times, device_times = [], []
        for i in range(num_timed):
            times.append(self._iteration(places, self._num_timed + i, check))
            if self._clock is not None:
                device_times.append(self._clock.seconds())
        self._num_timed += num_timed
        return self._answer(places, times=times, device_times=device_times)

    def _answer(self, places: list[Place], **said: Any) -> Answer:
        return Answer(executed=self._arm.executed(places[-1].call), first_wrong=self._first_wrong, **said)

    def _places(self) -> list[Place]:
        if self._kept is not None:
            return self._kept
        sides = self._operands.sides(self._arm, self._data, self._cell.size_bytes, self._cell.batch)
        made = [Place(source, result, self._arm.bind(source, result)) for source, result in sides]
        if self._operands.keep:
            self._kept = made
        return made

    def _iteration(self, places: list[Place], iteration: int, check: bool = True) -> float:
        first = self._numbers.take(len(places))
        for i, place in enumerate(places):
            self._data.write(place.source, first + i)
        calls = [place.call for place in places]
        if self._clock is not None:  # they return at once, and what they put on the stream is awaited once
            calls = [self._clock.start, *calls, self._clock.wait]
        self._sync.ready()
        self._is_awaited = True
        start = time.perf_counter()
        for call in calls:
            call()
        seconds = time.perf_counter() - start
        self._is_awaited = False
        self._sync.barrier()
        for i, place in enumerate(places if check else ()):
            self._check(place.result, first + i, iteration, i)
        return seconds

    def _check(self, result: Array, call: int, iteration: int, index: int) -> None:
        wrong = self._data.check(result, call)
        if wrong is not None and self._first_wrong is None:
            self._first_wrong = WrongElement(
                rank=self._data.rank,
                iteration=iteration,
                call=index,
                index=wrong.index,
                expected=wrong.expected,
                found=wrong.found,
            )
