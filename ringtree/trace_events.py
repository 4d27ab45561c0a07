"""The Trace Event Format, the JSON that Perfetto and chrome://tracing read: its events, and files of them.

For: every timeline that ringtree writes. Not for: what is on one (ringtree.trace: calls of ranks; ringtree.joblog: a
job's step; ringtree.simulate: a simulated call), reading such files (ringtree.logs).

Times are microseconds. Process and thread ids begin at 1: 0 is the idle task of Linux, and Perfetto shows it as such.

Format: "Trace Event Format", Google, 2016 (the document that Chromium's trace viewer refers to).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypedDict

from ringtree.errors import UsageError

VIEWERS = (
    "open it in https://ui.perfetto.dev (it is read in the browser and not sent anywhere) or, without a network,",
    "in chrome://tracing",
)


class _Named(TypedDict):
    ph: str
    name: str
    pid: int


class TraceEvent(_Named, total=False):
    """One entry of traceEvents. ph: X a slice, s and f the ends of an arrow, C a counter, M a name."""

    tid: int
    cat: str
    ts: float
    dur: float
    id: int
    bp: str
    args: dict[str, Any]


class TraceFile(TypedDict):
    """The whole file."""

    displayTimeUnit: str
    otherData: dict[str, Any]
    traceEvents: list[TraceEvent]


class Tracks:
    """Tracks, counted from 0, on which what overlaps lies side by side."""

    def __init__(self) -> None:
        self._free_at: list[float] = []

    def __len__(self) -> int:
        return len(self._free_at)

    def take(self, begin: float, end: float) -> int:
        """Returns the first track that is free. Begins never go back."""
        track = next((one for one, free in enumerate(self._free_at) if free <= begin), len(self._free_at))
        self._free_at[track : track + 1] = [end]
        return track


def rank_process(rank: int) -> int:
    """Returns the id of a rank's process."""
    return rank + 1


def process_name(pid: int, name: str, order: int) -> list[TraceEvent]:
    """Returns what a process is called, and its place among the others."""
    return [
        {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}},
        {"ph": "M", "name": "process_sort_index", "pid": pid, "args": {"sort_index": order}},
    ]


def track_name(pid: int, tid: int, name: str) -> list[TraceEvent]:
    """Returns what a track of a process is called; tracks lie in the order of their ids."""
    return [
        {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}},
        {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": tid}},
    ]


def span(
    pid: int, tid: int, name: str, category: str, begin_us: float, us: float, args: Mapping[str, Any]
) -> TraceEvent:
    """Returns a slice of `us` microseconds. Those of a track lie within each other or apart."""
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "pid": pid,
        "tid": tid,
        "ts": begin_us,
        "dur": us,
        "args": dict(args),
    }


def arrow(number: int, name: str, source: tuple[int, int, float], target: tuple[int, int, float]) -> list[TraceEvent]:
    """Returns both ends of an arrow: process, track and time of a slice that it leaves, and of one that it enters."""
    ends: list[TraceEvent] = []
    for ph, (pid, tid, at_us) in (("s", source), ("f", target)):
        end: TraceEvent = {"ph": ph, "name": name, "cat": name, "id": number, "pid": pid, "tid": tid, "ts": at_us}
        if ph == "f":
            end["bp"] = "e"  # ends at the slice that it lies in, not at the next one
        ends.append(end)
    return ends


def counter(pid: int, name: str, at_us: float, value: float) -> TraceEvent:
    """Returns what a counter of a process is from a time on."""
    return {"ph": "C", "name": name, "pid": pid, "ts": at_us, "args": {name: value}}


def check_trace_path(path: Path, option: str) -> None:
    """Raises UsageError if the file can't be written, which must not be found out after a run."""
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise UsageError(f"{option} {path} can't be written: name a file in a folder that exists and is yours")


def write_trace(path: Path, events: Iterable[TraceEvent], about: Mapping[str, Any], unit: str = "ns") -> int:
    """Writes a file, an event a line; returns how many there are. `about`: the file's otherData; `unit`: ns or ms, that
    viewers show. Raises OSError."""
    number = 0
    with path.open("w", encoding="utf-8") as file:
        head = json.dumps({"displayTimeUnit": unit, "otherData": dict(about)}, separators=(",", ":"))
        file.write(f'{head[:-1]},"traceEvents":[')
        for event in events:
            file.write((",\n" if number else "\n") + json.dumps(event, separators=(",", ":")))
            number += 1
        file.write("]}")
    return number
