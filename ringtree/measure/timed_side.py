"""One half of a row of a bench on one rank: untimed calls, the timed loop, checked calls.

For: what is called between which barriers, and the check. Not for: which rows there are (ringtree.bench), or the loop
(timed_loop.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np

from ringtree.arms import Arm, Array
from ringtree.arms.stream_clocks import clock_of
from ringtree.measure.cell_loop import CallNumbers
from ringtree.measure.collective_data import CollectiveData
from ringtree.measure.messages import Answer, TimeSide
from ringtree.measure.side_buffers import SideBuffers, host_buffers
from ringtree.measure.timed_loop import time_calls

Call = Callable[[], object]


class Sync(Protocol):
    """What a side needs of a Coordinator."""

    def barrier(self) -> None: ...

    def all_true(self, mine: bool) -> bool: ...


class TimedSides:
    """Times sides; holds the buffers of one arm at a time. `shared`: buffers that peers read in place."""

    def __init__(
        self, sync: Sync, numbers: CallNumbers, shared: bool, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._sync, self._numbers, self._shared, self._clock = sync, numbers, shared, clock
        self._buffers: tuple[str, SideBuffers] | None = None

    def run(self, arm: Arm, data: CollectiveData, side: TimeSide) -> Answer:
        """Makes the calls that `side` asks for; answers with seconds of one, and this rank's wrong elements."""
        elements = data.elements(side.size_bytes)
        buffers, clock = self._buffers_of(arm, data, side), clock_of(arm)
        finish = None if clock is None else clock.wait
        most = max(1, side.num_untimed, side.num_iterations * side.num_calls)
        places = [buffers.place(elements, i, side.in_place) for i in range(min(most, buffers.num_places(elements)))]
        is_copied = side.in_place and not data.shape.can_be_in_place
        bound = [arm.bind(*place, data.root) for place in places]
        calls = [_copied(*each) for each in zip(bound, places, strict=True)] if is_copied else bound
        if side.num_checks:
            number = self._numbers.take(1)
            for source, _ in places:
                data.write(source, number)
        for i in range(side.num_untimed):
            calls[i % len(calls)]()
        if clock is not None:
            clock.start()
            clock.wait()
        seconds, times = 0.0, list[float]()
        if side.num_iterations:
            self._sync.barrier()
            seconds, times = time_calls(side, calls, self._sync.barrier, self._clock, finish)
            self._sync.barrier()
        checked = calls[0] if finish is None else _in_turn(calls[0], finish)
        num_wrong = self._check(side.num_checks, checked, data, *places[0]) if side.num_checks else None
        return Answer(seconds=seconds, times=times, num_wrong=num_wrong, executed=arm.executed(bound[0]))

    def _buffers_of(self, arm: Arm, data: CollectiveData, side: TimeSide) -> SideBuffers:
        if self._buffers is None or self._buffers[0] != side.arm:
            self._buffers = None  # gives them back before it takes others
            make = arm.make_buffers if clock_of(arm) is not None else partial(host_buffers, data, self._shared)
            self._buffers = side.arm, SideBuffers(data, side.buffer_bytes, side.first_element, make)
        return self._buffers[1]

    def _check(self, most: int, call: Call, data: CollectiveData, source: Array, result: Array) -> int:
        """Makes calls that are not timed, until one is wrong on any rank; returns its wrong elements on this rank."""
        num_wrong = 0
        for _ in range(most):
            number = self._numbers.take(1)  # other data than before: what an earlier call left behind is wrong
            data.write(source, number)
            call()
            num_wrong = data.count_wrong(result, number)
            if not self._sync.all_true(num_wrong == 0):
                break
        return num_wrong


def _copied(call: Call, place: tuple[Array, Array]) -> Call:
    """In place, of what can't be: as a caller would have to who wants it so."""
    copy = _copy(*place)

    def copy_and_call() -> None:
        copy()
        call()

    return copy_and_call


def _copy(to: Array, source: Array) -> Call:
    if isinstance(to, np.ndarray):
        return partial(np.copyto, to, source)
    from ringtree.arms.on_gpu import as_device  # only where buffers are on one

    return partial(as_device(to).copy_from, as_device(source))


def _in_turn(call: Call, finish: Callable[[], None]) -> Call:
    def both() -> None:
        call()
        finish()

    return both
