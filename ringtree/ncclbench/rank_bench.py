"""One combination of dtype, op and root on one rank: warm-up, then both halves of every row.

For: what is called between which barriers, and the check. Not for: processes (rank_process.py), or what is printed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ringtree.lab.exact_data import Array
from ringtree.ncclbench.buffers import Buffers
from ringtree.ncclbench.messages import SideReport
from ringtree.ncclbench.names import NEVER_IN_PLACE
from ringtree.ncclbench.options import Options
from ringtree.ncclbench.rank_data import RankData
from ringtree.ncclbench.rows import Combination, Elements, cycles, make_row, sizes, warm_up_sizes
from ringtree.ncclbench.time_loop import Loop, time_calls

_TIMED_DATA = 0  # number of the data that the timed calls work on; checks count on from it


class Sync(Protocol):
    """What a rank needs of the others besides the arm."""

    def barrier(self) -> None: ...

    def all_true(self, mine: bool) -> bool: ...


class BoundArm(Protocol):
    """What is needed of an arm that was set up."""

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]: ...

    def executed(self) -> dict[str, Any]: ...


class RankBench:
    """Every rank makes one for each combination and calls `run`; all ranks do the same."""

    def __init__(
        self,
        options: Options,
        combination: Combination,
        rank: int,
        arm: BoundArm,
        sync: Sync,
        report: Callable[[SideReport], None],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._options, self._combination, self._rank = options, combination, rank
        self._arm, self._sync, self._report, self._clock = arm, sync, report, clock
        self._buffers = Buffers(options, combination.dtype, rank)
        self._data = RankData(options, combination, rank)
        self._loop = Loop(options.num_iterations, options.num_aggregated, options.blocking, options.per_iteration)
        self._last_data = _TIMED_DATA
        self._is_never_in_place = options.collective in NEVER_IN_PLACE

    def run(self) -> None:
        """Warms up all sizes, then measures and reports row after row."""
        self._sync.barrier()
        for size in warm_up_sizes(self._options):
            elements = make_row(self._options, self._combination, size).elements
            calls = self._calls(elements, in_place=False, most=self._options.num_warm_up)
            for i in range(self._options.num_warm_up):
                calls[i % len(calls)]()
        for _ in cycles(self._options):
            for size in sizes(self._options):
                elements = make_row(self._options, self._combination, size).elements
                for in_place in (False, True):
                    self._report(self._side(elements, in_place))

    def _side(self, elements: Elements, in_place: bool) -> SideReport:
        calls = self._calls(elements, in_place, most=self._loop.num_iterations * self._loop.num_calls)
        is_checked = self._options.num_checks > 0 and not (in_place and self._is_never_in_place)
        if is_checked:
            for place in range(len(calls)):
                self._data.write(self._buffers.place(elements, place, in_place)[0], _TIMED_DATA)
        calls[0]()
        self._sync.barrier()
        seconds, times = time_calls(self._loop, calls, self._sync.barrier, self._clock)
        self._sync.barrier()
        return SideReport(
            rank=self._rank,
            seconds=seconds,
            times=times,
            num_wrong=self._check(calls[0], elements, in_place) if is_checked else None,
            executed=describe(self._arm.executed()),
        )

    def _check(self, call: Callable[[], object], elements: Elements, in_place: bool) -> int:
        """Makes calls that are not timed, until one is wrong on any rank; returns its wrong elements on this rank."""
        source, result = self._buffers.place(elements, 0, in_place)
        num_wrong = 0
        for _ in range(self._options.num_checks):
            self._last_data += 1  # other data than before: what an earlier call left behind is wrong
            self._data.write(source, self._last_data)
            call()
            num_wrong = self._data.count_wrong(result, self._last_data)
            if not self._sync.all_true(num_wrong == 0):
                break
        return num_wrong

    def _calls(self, elements: Elements, in_place: bool, most: int) -> list[Callable[[], object]]:
        """The collective on each part of the buffers that `most` iterations get to; at least one."""
        places = max(1, min(most, self._buffers.num_places(elements)))
        return [self._call(*self._buffers.place(elements, i, in_place), in_place) for i in range(places)]

    def _call(self, source: Array, result: Array, in_place: bool) -> Callable[[], object]:
        call = self._arm.bind(source, result, max(0, self._combination.root))
        if not (in_place and self._is_never_in_place):
            return call

        def copy_and_call() -> None:  # as a caller would have to who wants it in place
            np.copyto(source, result)
            call()

        return copy_and_call


def describe(executed: dict[str, Any]) -> str:
    """Returns "one_shot/ll" of what an arm says that it executed; empty if it does not tell."""
    return "/".join(str(executed[word]) for word in ("algorithm", "protocol") if executed.get(word))
