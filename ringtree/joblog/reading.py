"""Reading a job trace: the files of its ranks, checked line by line.

For: one clear line for what is missing, damaged or of another format; a rank that was killed loses its unfinished line
and no more. Not for: other tools' traces (ringtree.logs reads the profiler's and the flight recorder's).
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from ringtree.errors import UsageError
from ringtree.joblog.records import (
    LINE,
    CallLine,
    DeviceCallLine,
    DeviceStepLine,
    EndLine,
    GroupLine,
    JobTrace,
    NotTimedLine,
    RankLine,
    RankRecord,
    StepLine,
)
from ringtree.units import count

FILES = "rank-*.jsonl"


def read_trace(path: Path) -> JobTrace:
    """Reads the trace in folder `path`. Raises UsageError for what is none, or is damaged."""
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder: name the one that `ringtree trace --out` wrote")
    files = sorted(path.glob(FILES))
    if not files:
        raise UsageError(f"{path} holds no job trace: there is no file {FILES}")
    notes: list[str] = []
    found: dict[int, RankRecord] = {}
    for file in files:
        record = _read_rank(file, notes)
        rank = record.about.rank
        if rank in found:
            notes.append(f"rank {rank} was started more than once: its last start counts")
        if rank not in found or record.about.begun > found[rank].about.begun:
            found[rank] = record
    ranks = [found[rank] for rank in sorted(found)]
    lacking = ranks[0].about.world_size - len(ranks)
    if lacking > 0:
        notes.append(f"{count(lacking, 'rank')} of {ranks[0].about.world_size} left no file: another host's, or killed")
    return JobTrace(path, ranks, notes)


def _read_rank(file: Path, notes: list[str]) -> RankRecord:
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise UsageError(f"can't read {file}: {error.strerror}") from error
    lines = raw.split(b"\n")
    torn = lines.pop()
    about: RankLine | None = None
    groups: dict[int, GroupLine] = {}
    calls: list[CallLine] = []
    steps: list[StepLine] = []
    device_calls: dict[int, DeviceCallLine] = {}
    device_steps: dict[int, DeviceStepLine] = {}
    not_timed: list[NotTimedLine] = []
    end: EndLine | None = None
    for number, text in enumerate(lines, 1):
        try:
            line = LINE.validate_json(text)
        except ValidationError as error:
            raise UsageError(f"{file} is damaged in line {number}: {_first_problem(error)}") from error
        if (about is None) != isinstance(line, RankLine):
            raise UsageError(f"{file} is damaged in line {number}: only the first line says which rank this is")
        if isinstance(line, RankLine):
            about = line
        elif isinstance(line, GroupLine):
            groups[line.group] = line
        elif isinstance(line, CallLine):
            if line.group not in groups:
                raise UsageError(f"{file} is damaged in line {number}: there is no group {line.group}")
            calls.append(line)
        elif isinstance(line, StepLine):
            steps.append(line)
        elif isinstance(line, DeviceCallLine):
            device_calls[line.call] = line
        elif isinstance(line, DeviceStepLine):
            device_steps[line.step] = line
        elif isinstance(line, NotTimedLine):
            not_timed.append(line)
        else:
            end = line
    if about is None:
        raise UsageError(f"{file} holds no whole line: its rank was killed at its first collective")
    if end is None:
        lost = f", an unfinished line of {len(torn)} bytes is dropped" if torn else ""
        notes.append(
            f"rank {about.rank} did not end by itself (killed, or the file was cut off): "
            f"{count(len(calls), 'call')} and {count(len(steps), 'step')} are there{lost}"
        )
    elif end.num_calls != len(calls):
        raise UsageError(f"{file} is damaged: it holds {count(len(calls), 'call')}, its last line says {end.num_calls}")
    calls.sort(key=lambda call: call.call)
    known = {call.call for call in calls}
    if unknown := [number for number in device_calls if number not in known]:
        raise UsageError(f"{file} is damaged: it times call {unknown[0]} on the GPU, which it does not hold")
    return RankRecord(about, groups, calls, steps, end, device_calls, device_steps, not_timed)


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    said = problem["msg"].removeprefix("Value error, ")
    place = ".".join(map(str, problem["loc"]))
    return f"{place}: {said}" if len(problem["loc"]) > 1 else said
