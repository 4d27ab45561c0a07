"""The timed loop: iterations × calls, on one rank.

For: nccl-tests' way of timing: the loop as a whole, divided by its calls; with -I each iteration too, with -z barriers
in it. Not for: what is called or checked (timed_side.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ringtree.measure.messages import TimeSide

NO_BARRIER = (0, 2)  # of -z: a call returns when this rank's result is there, so waiting for it is nothing more
BARRIER_AFTER_CALL = 1
BARRIER_AFTER_ITERATION = 3  # outside of the time


def time_calls(
    loop: TimeSide,
    calls: Sequence[Callable[[], object]],
    barrier: Callable[[], None],
    clock: Callable[[], float] = time.perf_counter,
    finish: Callable[[], None] | None = None,
) -> tuple[float, list[float]]:
    """Returns seconds of one call, and those of one call in each iteration (empty unless they are asked for).

    The loop goes through `calls` again and again. The clock is read inside of it only where it must be: in a loop of
    short calls it would be part of what is measured. `finish`: waits for calls that return before their result is
    there; it is in the time, once a loop, or once an iteration where those are timed.
    """
    num_calls = loop.num_iterations * loop.num_calls
    sequence = [calls[i % len(calls)] for i in range(num_calls)]
    if loop.blocking in NO_BARRIER and not loop.each:
        start = clock()
        for call in sequence:
            call()
        if finish is not None:
            finish()
        return (clock() - start) / num_calls, []
    begun, ended = [], []
    for first in range(0, num_calls, loop.num_calls):
        begun.append(clock())
        for call in sequence[first : first + loop.num_calls]:
            call()
            if loop.blocking == BARRIER_AFTER_CALL:
                if finish is not None:
                    finish()
                barrier()
        if finish is not None:
            finish()
        ended.append(clock())
        if loop.blocking == BARRIER_AFTER_ITERATION:
            barrier()
    spans = [end - start for start, end in zip(begun, ended, strict=True)]
    total = sum(spans) if loop.blocking == BARRIER_AFTER_ITERATION else ended[-1] - begun[0]
    return total / num_calls, [span / loop.num_calls for span in spans] if loop.each else []
