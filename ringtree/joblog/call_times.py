"""When a call was in flight and what of that is exposed, whatever it ran on.

For: one answer for ranks on CPUs (the tracer's two clocks, exposure.py) and on GPUs (the GPU's own record, on_gpu).
Not for: finding it out, nor adding it up (summary.py).
"""

from __future__ import annotations

from typing import NamedTuple

from ringtree.joblog.exposure import exposed_times
from ringtree.joblog.records import CallLine, RankRecord


class CallSpan(NamedTuple):
    """From begin to end, on the host's clock; `in_flight` is less where several kernels make a call."""

    begin: float
    end: float
    in_flight: float
    exposed: float | None


def spans_of(rank: RankRecord) -> dict[int, CallSpan]:
    """Returns them by the calls' numbers; those without an end are left out."""
    exposed = exposed_times(rank.calls, rank.steps)
    found = {
        call.call: CallSpan(call.begin, call.end, call.end - call.begin, exposed.get(call.call))
        for call in rank.calls
        if call.end is not None
    }
    for number, line in rank.device_calls.items():
        found[number] = CallSpan(line.begin, line.end, line.in_flight, line.exposed)
    return found


def runs_on_gpu(call: CallLine, rank: RankRecord) -> bool:
    """Says whether the call's times can come from a GPU's record alone; in a group of one nothing runs."""
    return call.device != "cpu" and rank.groups[call.group].size > 1
