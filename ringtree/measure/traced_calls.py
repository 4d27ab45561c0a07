"""Calls of the engine on one rank, first untraced and then traced.

For: buffers of zeros, the spans of calls as Python sees them, and the trace. Not for: what travels (trace_reports.py),
or what traces say (ringtree.trace).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from pydantic import BaseModel

from ringtree.comm.communicator import Communicator
from ringtree.comm.shared import empty
from ringtree.measure.coordinator import Coordinator
from ringtree.measure.messages import TraceCalls
from ringtree.measure.trace_reports import CallsReport, call_records, events_reports


def trace_calls(comm: Communicator, asked: TraceCalls, sync: Coordinator) -> Iterator[BaseModel]:
    """Makes the calls and returns this rank's reports of them."""
    call = _bind(comm, asked)
    for _ in range(asked.num_warm_up):
        call()
    untraced = _timed(call, asked.num_calls, sync)
    comm.start_trace(asked.capacity)
    traced = _timed(call, asked.num_calls, sync)
    trace = comm.take_trace()
    yield CallsReport(
        own_cores=comm.own_cores, untraced=untraced, traced=traced, calls=call_records(trace), num_lost=trace.num_lost
    )
    yield from events_reports(trace)


def _bind(comm: Communicator, asked: TraceCalls) -> Callable[[], object]:
    """The call on buffers of zeros, whose sums stay what they are however often it is made."""
    make: Callable[..., Any] = empty if asked.shared_buffers else np.empty
    arrays = [make((size,), dtype=asked.dtype) for size in asked.counts]
    for array in arrays:
        array.fill(0)  # also brings the pages in
    return partial(getattr(comm, asked.collective), *arrays, algorithm=asked.algorithm, protocol=asked.protocol)


def _timed(call: Callable[[], object], num_calls: int, sync: Coordinator) -> list[tuple[int, int]]:
    """Beginning and end of each call."""
    spans = []
    for _ in range(num_calls):
        sync.ready()
        begin = time.monotonic_ns()
        call()
        spans.append((begin, time.monotonic_ns()))
    return spans
