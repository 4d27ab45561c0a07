"""What one rank did in the calls that were traced.

    comm.start_trace()
    comm.all_reduce(x)
    trace = comm.take_trace()  # of this rank; ringtree.trace makes a file of those of all ranks

For: the data, events as a structured array and the calls that they belong to. Not for: recording
(core/engine/trace_log.h) or saying what the events mean together (ringtree.trace).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringtree._core import Trace, trace_event_bytes, trace_event_fields, trace_kinds
from ringtree.schedules.schedule import Schedule

DEFAULT_EVENTS = 1 << 16
Events = NDArray[np.void]

_FIELDS = trace_event_fields()
# Times are nanoseconds of CLOCK_MONOTONIC, which all processes of a host share; fields as in core/engine/trace.h.
EVENT = np.dtype(
    {
        "names": [name for name, _, _ in _FIELDS],
        "formats": [form for _, form, _ in _FIELDS],
        "offsets": [offset for _, _, offset in _FIELDS],
        "itemsize": trace_event_bytes(),
    }
)
KINDS = tuple(trace_kinds())  # the field `kind` counts these


@dataclass(frozen=True)
class TracedCall:
    """A call of which there are events. `complete`: it ended well and none of them is lost. `schedule`: what the
    numbers of steps mean; how it was cut is the rest."""

    sequence: int
    collective: str
    description: str
    protocol: str
    schedule: Schedule
    slice_bytes: int
    pass_bytes: int
    num_passes: int
    num_channels: int
    complete: bool


@dataclass(frozen=True)
class RankTrace:
    """Shape of `events`: (number of events,), dtype EVENT, in the order in which they ended. `num_lost`: events that
    later ones took the place of."""

    rank: int
    calls: tuple[TracedCall, ...]
    events: Events
    num_lost: int

    def of_call(self, sequence: int) -> Events:
        """The events of one call, in their order."""
        own: Events = self.events[self.events["call"] == sequence]
        return own


def from_core(trace: Trace) -> RankTrace:
    """The trace as the C++ core hands it out."""
    events: Any = trace.event_bytes
    calls = tuple(
        TracedCall(
            call.sequence,
            call.collective,
            call.description,
            call.protocol,
            Schedule(call.schedule),
            call.slice_bytes,
            call.pass_bytes,
            call.num_passes,
            call.num_channels,
            call.complete,
        )
        for call in trace.calls
    )
    return RankTrace(trace.rank, calls, events.view(EVENT), trace.num_lost)


def kind_number(name: str) -> int:
    """The number of a kind of events."""
    return KINDS.index(name)
