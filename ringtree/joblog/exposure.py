"""How much of a rank's time passes with a collective under way and nothing else done, and which collective it is.

For: CPU ranks, from two clocks that the tracer reads at the begin and end of each call. Not for: GPUs, whose kernels
the host can't time (on_gpu).

Between two neighbouring readings the wall clock advances by w and the CPU time of the rank's issuing threads, without
what they spend inside calls, by c. If a collective was under way all that while, w - c (not below 0) is exposed, and
counts for the oldest one under way: the one that the others queue behind. So the exposed times of a step's collectives
add up to at most the step (of a call that is noticed to be over after its step's end, what comes after it does not
count). A thread that the kernel does not run, because others have its core, counts as waiting:
on a machine with fewer cores than threads, exposed time is too high.

         begin A   begin B      end A      end B
    wall ---|---------|-----------|----------|---->
    cpu  ========     |=====                 |=====     A: idle between its begin and end; B: from A's end to B's
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ringtree.joblog.records import CallLine, StepLine


class _Reading(NamedTuple):
    """Both clocks at one moment; of a call's begin or end, or of a step's end (None)."""

    now: float
    ran: float
    call: int | None
    begins: bool


def exposed_times(calls: Sequence[CallLine], steps: Sequence[StepLine] = ()) -> dict[int, float]:
    """Seconds of each call, by its number, up to the end of its step; calls without an end are left out."""
    exposed = {call.call: 0.0 for call in _timed(calls)}
    for number, _, seconds in _pieces(calls, steps):
        exposed[number] += seconds
    return exposed


def exposed_spans(calls: Sequence[CallLine], steps: Sequence[StepLine] = ()) -> dict[int, list[tuple[float, float]]]:
    """The same as begin and end of each piece. Between two readings only how long a rank idled is known, not when: it
    is taken to have computed first and waited then, as whoever waits for a collective does."""
    spans: dict[int, list[tuple[float, float]]] = {call.call: [] for call in _timed(calls)}
    for number, until, seconds in _pieces(calls, steps):
        spans[number].append((until - seconds, until))
    return spans


def _timed(calls: Sequence[CallLine]) -> list[CallLine]:
    return [call for call in calls if call.end is not None and call.ran_end is not None]


def _pieces(calls: Sequence[CallLine], steps: Sequence[StepLine]) -> Iterator[tuple[int, float, float]]:
    """The call, when the interval between two readings ended, and seconds of it that were exposed, above 0."""
    timed = _timed(calls)
    step_ends = {line.step: line.end for line in steps}
    until = {call.call: step_ends.get(call.step, math.inf) for call in timed}
    readings = [_Reading(line.end, line.ran_end, None, False) for line in steps]
    for call in timed:
        assert call.end is not None
        assert call.ran_end is not None
        readings.append(_Reading(call.begin, call.ran_begin, call.call, True))
        readings.append(_Reading(max(call.end, call.begin), call.ran_end, call.call, False))
    readings.sort(key=lambda reading: (reading.now, not reading.begins))
    under_way: dict[int, None] = {}  # in the order of their begin
    before, ran_before = 0.0, 0.0
    for now, ran, number, begins in readings:
        oldest = next((call for call in under_way if before < until[call]), None)
        if oldest is not None:
            idle = max(0.0, (now - before) - max(0.0, ran - ran_before))
            if idle > 0:
                yield oldest, now, idle
        if number is not None and begins:
            under_way[number] = None
        elif number is not None:
            under_way.pop(number)
        before, ran_before = now, ran
