"""One step of a job as a timeline for Perfetto and chrome://tracing.

For: the step of median length, of all ranks of a host. Not for: the inside of a call (ringtree.trace.chrome), figures
(summary.py), the format (ringtree.trace_events).

A process a rank; its first track is the step, below it the collectives, each on the first track that is free when it
begins, so that what overlaps lies side by side. Times are microseconds from the step's begin on the first rank.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ringtree.errors import os_errors
from ringtree.joblog.call_times import CallSpan, spans_of
from ringtree.joblog.records import CallLine, JobTrace, RankRecord
from ringtree.joblog.summary import Summary, kind_of, median_step
from ringtree.trace_events import TraceEvent, TraceFile, Tracks, process_name, rank_process, span, write_trace
from ringtree.units import format_size

_STEP_TRACK = 1


def write_picture(path: Path, trace: JobTrace, summary: Summary) -> int:
    """Writes the file; returns the number of the step that it shows."""
    step = median_step(trace, summary)
    timeline = step_timeline(trace, summary, step)
    with os_errors(f"can't write {path}"):
        write_trace(path, timeline["traceEvents"], timeline["otherData"], timeline["displayTimeUnit"])
    return step


def step_timeline(trace: JobTrace, summary: Summary, step: int) -> TraceFile:
    """The file's contents: one step of the ranks that share the first rank's clock."""
    host = trace.ranks[0].about.host
    ranks = [rank for rank in trace.ranks if rank.about.host == host]
    spans = {one.rank: one for one in summary.steps if one.step == step}
    origin = spans[ranks[0].about.rank].begin
    events: list[TraceEvent] = []
    for rank in ranks:
        number = rank.about.rank
        pid = rank_process(number)
        events += process_name(pid, f"rank {number}", number)
        one = spans[number]
        events.append(_slice(pid, _STEP_TRACK, f"step {step}", one.begin - origin, one.end - one.begin, {}))
        events += _calls(pid, rank, None if summary.whole_run else step, origin)
    about = {"job": trace.ranks[0].about.command, "step": step, "host": host}
    return {"displayTimeUnit": "ms", "otherData": about, "traceEvents": events}


def _calls(pid: int, rank: RankRecord, step: int | None, origin: float) -> list[TraceEvent]:
    spans = spans_of(rank)
    shown = []
    for call in rank.calls:
        if step is None or call.step == step:
            issued = call.begin if call.issued is None else call.issued
            shown.append((spans.get(call.call) or CallSpan(call.begin, issued, 0.0, None), call))
    shown.sort(key=lambda one: (one[0].begin, one[1].call))  # on a GPU not the order in which they were issued
    tracks = Tracks()
    slices = []
    for times, call in shown:
        track = tracks.take(times.begin, times.end)
        args = _arguments(call, rank, times.exposed)
        name = f"{call.collective} {format_size(kind_of(call, rank).size_bytes)}"
        begin, seconds = times.begin - origin, times.end - times.begin
        slices.append(_slice(pid, _STEP_TRACK + 1 + track, name, begin, seconds, args))
    return slices


def _arguments(call: CallLine, rank: RankRecord, exposed: float | None) -> dict[str, Any]:
    group = rank.groups[call.group]
    args: dict[str, Any] = {"call": call.call, "operator": call.operator, "dtype": call.dtype, "group": group.name}
    args |= {"ranks": group.ranks, "backend": group.backend, "in_bytes": call.in_bytes, "out_bytes": call.out_bytes}
    return args if exposed is None else {**args, "exposed_us": round(exposed * 1e6, 3)}


def _slice(pid: int, tid: int, name: str, begin: float, seconds: float, args: dict[str, Any]) -> TraceEvent:
    return span(pid, tid, name, "step", round(begin * 1e6, 3), round(seconds * 1e6, 3), args)
