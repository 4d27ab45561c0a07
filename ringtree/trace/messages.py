"""What `ringtree trace-run` and its rank processes say to each other.

For: the shapes: one specification down, reports up, and traces as such reports. Not for: how they travel
(ringtree.lab.framing).
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, TypeAdapter

import ringtree
from ringtree.lab.messages import DoneReport, FailureReport, ProcessSpec
from ringtree.rank_trace import EVENT, RankTrace, TracedCall
from ringtree.results import Record
from ringtree.trace.request import Options

_EVENTS_A_REPORT = 1 << 16  # 5.6 MB of text, within what a report may have


class TraceSpec(ProcessSpec):
    """All that one rank process needs to know. `session` names the rendezvous and is not guessable."""

    options: Options
    rank: int
    session: str
    timeout: float


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


TraceReport = CallsReport | DoneReport | EventsReport | FailureReport
reports: TypeAdapter[TraceReport] = TypeAdapter(Annotated[TraceReport, Field(discriminator="kind")])


def call_records(trace: RankTrace) -> list[CallRecord]:
    """The calls of a trace."""
    return [
        CallRecord(
            sequence=call.sequence,
            collective=call.collective,
            description=call.description,
            algorithm=call.schedule.name,
            protocol=call.protocol,
            slice_bytes=call.slice_bytes,
            pass_bytes=call.pass_bytes,
            num_passes=call.num_passes,
            num_channels=call.num_channels,
            complete=call.complete,
        )
        for call in trace.calls
    ]


def events_reports(trace: RankTrace) -> Iterator[EventsReport]:
    """The events of a trace, in as many reports as it takes."""
    for first in range(0, len(trace.events), _EVENTS_A_REPORT):
        part = trace.events[first : first + _EVENTS_A_REPORT]
        yield EventsReport(content=base64.b64encode(part.tobytes()).decode())


def joined_trace(rank: int, num_ranks: int, said: CallsReport, parts: Sequence[EventsReport]) -> RankTrace:
    """The trace that a rank sent in these reports."""
    schedules = {
        name: ringtree.schedule(said.calls[0].collective, name, num_ranks)
        for name in {call.algorithm for call in said.calls}
    }
    calls = tuple(
        TracedCall(
            sequence=call.sequence,
            collective=call.collective,
            description=call.description,
            protocol=call.protocol,
            schedule=schedules[call.algorithm],
            slice_bytes=call.slice_bytes,
            pass_bytes=call.pass_bytes,
            num_passes=call.num_passes,
            num_channels=call.num_channels,
            complete=call.complete,
        )
        for call in said.calls
    )
    content = b"".join(base64.b64decode(part.content) for part in parts)
    return RankTrace(rank, calls, np.frombuffer(content, dtype=EVENT), said.num_lost)
