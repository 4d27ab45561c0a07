"""What the traces of all ranks add up to: where each rank's time goes, and what the links carry.

For: figures. Not for: layout (show/trace_table.py).

Only calls that all ranks have whole count; all figures are means of one call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringtree.comm.rank_trace import KINDS, RankTrace, kind_number
from ringtree.trace.idle import NOT_WAITS, idle_times
from ringtree.trace.links import match_messages
from ringtree.trace.programs import Programs

WAITS = tuple(kind for kind in KINDS if kind not in NOT_WAITS)


@dataclass(frozen=True)
class RankTimes:
    """Seconds of one call on one rank. `steps`, the idle times and `rest` add up to `call`; `asleep` is a part of the
    idle times."""

    rank: int
    call: float
    steps: float
    idle: dict[str, float]
    asleep: float

    @property
    def rest(self) -> float:
        """Polls, and the engine between slice steps."""
        return self.call - self.steps - sum(self.idle.values())


@dataclass(frozen=True)
class LinkLoad:
    """What one rank sends another in a call, over all links between them: bytes and messages."""

    sender: int
    receiver: int
    bytes: float
    messages: float


@dataclass(frozen=True)
class TraceSummary:
    """`seconds`: from the first rank's beginning to the last one's end, median of the calls; 0 without calls. `links`:
    the busiest first."""

    num_calls: int
    num_left_out: int
    seconds: float
    ranks: tuple[RankTimes, ...]
    links: tuple[LinkLoad, ...]
    num_events: int
    num_lost: int


def summarise(traces: Sequence[RankTrace]) -> TraceSummary:
    """The summary of the traces of all ranks, by rank. Raises UsageError if they are not that."""
    programs = Programs(traces)
    calls = programs.complete_calls()
    begun = {call.sequence for trace in traces for call in trace.calls}
    return TraceSummary(
        num_calls=len(calls),
        num_left_out=len(begun) - len(calls),
        seconds=float(np.median([_span(traces, call) for call in calls])) if calls else 0.0,
        ranks=tuple(_times(trace, calls) for trace in traces) if calls else (),
        links=_links(traces, programs, len(calls)),
        num_events=sum(len(trace.events) for trace in traces),
        num_lost=sum(trace.num_lost for trace in traces),
    )


def _span(traces: Sequence[RankTrace], call: int) -> float:
    ends = [trace.of_call(call) for trace in traces]
    return (max(int(one["end_ns"].max()) for one in ends) - min(int(one["begin_ns"].min()) for one in ends)) / 1e9


def _times(trace: RankTrace, calls: Sequence[int]) -> RankTimes:
    total: dict[str, int] = defaultdict(int)
    idle: dict[str, int] = dict.fromkeys(WAITS, 0)
    for call in calls:
        events = trace.of_call(call)
        for kind in NOT_WAITS:
            of_kind = events[events["kind"] == kind_number(kind)]
            total[kind] += int((of_kind["end_ns"] - of_kind["begin_ns"]).sum())
        for one in idle_times(events):
            idle[one.kind] += one.end_ns - one.begin_ns
    scale = 1e-9 / len(calls)
    return RankTimes(
        rank=trace.rank,
        call=total["call"] * scale,
        steps=total["step"] * scale,
        idle={kind: ns * scale for kind, ns in idle.items()},
        asleep=total["sleep"] * scale,
    )


def _links(traces: Sequence[RankTrace], programs: Programs, num_calls: int) -> tuple[LinkLoad, ...]:
    num_bytes: dict[tuple[int, int], int] = defaultdict(int)
    num_messages: dict[tuple[int, int], int] = defaultdict(int)
    for message in match_messages(traces, programs):
        num_bytes[message.sender, message.receiver] += message.bytes
        num_messages[message.sender, message.receiver] += 1
    loads = [LinkLoad(*pair, num_bytes[pair] / num_calls, num_messages[pair] / num_calls) for pair in num_bytes]
    return tuple(sorted(loads, key=lambda load: (-load.bytes, load.sender, load.receiver)))
