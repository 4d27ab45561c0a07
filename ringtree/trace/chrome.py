"""Traces of calls as a timeline for Perfetto and chrome://tracing.

For: one file of what all ranks did. Not for: the format (ringtree.trace_events), what it adds up to (summary.py).

A process a rank: one track for its calls, within them what it waited for as a whole and when it slept, and one track a
lane with slice steps and with what that lane waited for; an arrow from the slice step that sends a message to the one
that receives it. Times are microseconds from the first event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ringtree.comm.rank_trace import KINDS, RankTrace
from ringtree.schedules.schedule import Step
from ringtree.trace.idle import NOT_WAITS, idle_times
from ringtree.trace.links import match_messages
from ringtree.trace.programs import Programs
from ringtree.trace_events import (
    TraceEvent,
    TraceFile,
    arrow,
    process_name,
    rank_process,
    span,
    track_name,
    write_trace,
)

CALLS_TRACK = 1
_FIRST_LANE_TRACK = 2


def write_chrome_trace(path: Path, traces: Sequence[RankTrace], about: Mapping[str, Any] | None = None) -> None:
    """Writes the file; `about` goes into its otherData. Raises UsageError as chrome_trace(), OSError."""
    trace = chrome_trace(traces, about)
    write_trace(path, trace["traceEvents"], trace["otherData"])


def chrome_trace(traces: Sequence[RankTrace], about: Mapping[str, Any] | None = None) -> TraceFile:
    """The traces of all ranks, by rank. Raises UsageError if they are not that."""
    programs = Programs(traces)
    begun = [int(trace.events["begin_ns"].min()) for trace in traces if len(trace.events)]
    writer = _Writer(traces, programs, origin_ns=min(begun, default=0))
    return {
        "displayTimeUnit": "ns",
        "otherData": {"events_lost": {str(trace.rank): trace.num_lost for trace in traces}, **(about or {})},
        "traceEvents": [*writer.names(), *writer.slices(), *writer.arrows()],
    }


class _Writer:
    def __init__(self, traces: Sequence[RankTrace], programs: Programs, origin_ns: int) -> None:
        self._traces, self._programs, self._origin_ns = traces, programs, origin_ns
        self._num_lanes = 1 + max((int(trace.events["lane"].max(initial=0)) for trace in traces), default=0)
        self._num_channels = 1 + max((int(trace.events["channel"].max(initial=0)) for trace in traces), default=0)

    def names(self) -> list[TraceEvent]:
        """What processes and tracks are called, and their order."""
        names: list[TraceEvent] = []
        for trace in self._traces:
            pid = rank_process(trace.rank)
            names += process_name(pid, f"rank {trace.rank}", trace.rank)
            tracks = {CALLS_TRACK: "calls and waits"}
            for channel, lane in sorted({(int(e["channel"]), int(e["lane"])) for e in trace.events if e["lane"] >= 0}):
                of_channel = f"channel {channel}, " if self._num_channels > 1 else ""
                tracks[self._lane_track(channel, lane)] = f"{of_channel}lane {lane}"
            for tid, name in tracks.items():
                names += track_name(pid, tid, name)
        return names

    def slices(self) -> list[TraceEvent]:
        """All that lasts, by beginning; what lies within something comes after it."""
        slices = [one for trace in self._traces for one in self._of_rank(trace)]
        return sorted(slices, key=lambda one: (one["ts"], -one["dur"]))

    def arrows(self) -> list[TraceEvent]:
        """Both ends of each message."""
        arrows: list[TraceEvent] = []
        for number, message in enumerate(match_messages(self._traces, self._programs)):
            sent, received = (
                self._end(rank, index)
                for rank, index in ((message.sender, message.sent), (message.receiver, message.received))
            )
            arrows += arrow(number, "message", sent, received)
        return arrows

    def _end(self, rank: int, index: int) -> tuple[int, int, float]:
        event = self._traces[rank].events[index]
        track = self._lane_track(int(event["channel"]), int(event["lane"]))
        return rank_process(rank), track, self._us(int(event["begin_ns"]))

    def _of_rank(self, trace: RankTrace) -> list[TraceEvent]:
        slices: list[TraceEvent] = []
        for call in trace.calls:
            events = trace.of_call(call.sequence)
            steps = self._programs.steps(trace.rank, call.sequence)
            for event in events:
                kind = KINDS[event["kind"]]
                if kind == "readers" and call.complete:
                    continue  # is among the idle times

                if kind == "call":
                    name = f"{call.collective} #{call.sequence}"
                    args = {"description": call.description, "slice_bytes": call.slice_bytes}
                    args |= {"num_passes": call.num_passes, "complete": call.complete}
                elif kind == "sleep":
                    name, args = "asleep", {}
                else:
                    name, args = _describe(event, steps), self._arguments(event, steps)
                category = kind if kind in NOT_WAITS else "wait"
                slices.append(self._slice(trace.rank, event, name, category, args))
            if call.complete:
                for idle in idle_times(events):
                    wait = events[idle.wait].copy()
                    wait["begin_ns"], wait["end_ns"], wait["lane"] = idle.begin_ns, idle.end_ns, -1
                    slices.append(
                        self._slice(trace.rank, wait, _describe(wait, steps), "idle", {"call": call.sequence})
                    )
        return slices

    def _slice(self, rank: int, event: Any, name: str, category: str, args: dict[str, Any]) -> TraceEvent:
        begin_ns, end_ns, lane = int(event["begin_ns"]), int(event["end_ns"]), int(event["lane"])
        track = CALLS_TRACK if lane < 0 else self._lane_track(int(event["channel"]), lane)
        us = round((end_ns - begin_ns) / 1e3, 3)
        return span(rank_process(rank), track, name, category, self._us(begin_ns), us, args)

    def _arguments(self, event: Any, steps: list[Step]) -> dict[str, Any]:
        if event["step"] < 0:
            return {"call": int(event["call"])}
        step = steps[event["step"]]
        args: dict[str, Any] = {
            name: int(event[name]) for name in ("call", "step", "pass", "slice", "bytes", "channel")
        }
        args |= {"verb": step.verb, "chunks": list(step.chunks)}
        if step.recv:
            args["from"] = [peer for peer, _ in step.recv]
        if step.send_to:
            args["to"] = list(step.send_to)
        if event["virtual_ns"] > 0:
            args["emulated_us"] = self._us(int(event["virtual_ns"]))
        return args

    def _lane_track(self, channel: int, lane: int) -> int:
        return _FIRST_LANE_TRACK + channel * self._num_lanes + lane

    def _us(self, ns: int) -> float:
        return round((ns - self._origin_ns) / 1e3, 3)


def _describe(event: Any, steps: list[Step]) -> str:
    """What a slice step does or a wait is for, in a few words."""
    kind = KINDS[event["kind"]]
    if kind == "step":
        return str(steps[event["step"]].verb)
    if kind == "message":
        return f"message of rank {event['peer']}"
    if kind == "wire":
        return f"under way from rank {event['peer']}"
    if kind == "slot":
        return f"slot of {_ranks(steps[event['step']].send_to)}"
    if kind == "dependency":
        return f"step {event['awaited_step']}, lane {steps[event['awaited_step']].lane}"
    return {"card": "network card", "readers": "readers"}[kind]


def _ranks(ranks: tuple[int, ...]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"
