"""A rank's trace as the reports that carry it to the lab.

For: the shapes, and both ways between them and a trace. Not for: how they travel (framing.py), or tracing
(traced_calls.py).
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from ringtree.comm.rank_trace import EVENT, RankTrace, TracedCall
from ringtree.results import Record
from ringtree.schedules.schedule import schedule

_EVENTS_A_REPORT = 1 << 16  # 5.6 MB of text, within what a report may have


class CallRecord(Record):
    """A TracedCall of a built-in algorithm with root 0: its schedule can be made again."""

    sequence: int
    collective: str
    description: str
    algorithm: str
    protocol: str
    slice_bytes: int
    pass_bytes: int
    num_passes: int
    num_channels: int
    complete: bool


class CallsReport(Record):
    """Untraced and traced calls of this rank: beginning and end of each, nanoseconds of CLOCK_MONOTONIC; then what was
    traced, but for the events."""

    kind: Literal["calls"] = "calls"
    own_cores: bool
    untraced: list[tuple[int, int]]
    traced: list[tuple[int, int]]
    calls: list[CallRecord]
    num_lost: int


class EventsReport(Record):
    """A part of the events, in their order: the bytes of an array of dtype EVENT in base64."""

    kind: Literal["events"] = "events"
    content: str


def call_records(trace: RankTrace) -> list[CallRecord]:
    """The calls of a trace."""
    return [CallRecord.from_fields_of(call, algorithm=call.schedule.name) for call in trace.calls]


def events_reports(trace: RankTrace) -> Iterator[EventsReport]:
    """The events of a trace, in as many reports as it takes."""
    for first in range(0, len(trace.events), _EVENTS_A_REPORT):
        part = trace.events[first : first + _EVENTS_A_REPORT]
        yield EventsReport(content=base64.b64encode(part.tobytes()).decode())


def joined_trace(rank: int, num_ranks: int, said: CallsReport, parts: Sequence[EventsReport]) -> RankTrace:
    """The trace that a rank sent in these reports."""
    schedules = {
        name: schedule(said.calls[0].collective, name, num_ranks) for name in {call.algorithm for call in said.calls}
    }
    calls = tuple(
        TracedCall(schedule=schedules[call.algorithm], **call.model_dump(exclude={"algorithm"})) for call in said.calls
    )
    content = b"".join(base64.b64decode(part.content) for part in parts)
    return RankTrace(rank, calls, np.frombuffer(content, dtype=EVENT), said.num_lost)
