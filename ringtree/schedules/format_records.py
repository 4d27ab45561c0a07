"""What a schedule is in JSON, format "ringtree.schedule/1", and the core's schedule from and to it.

For: the shape, and what a file may ask for. Not for: callers, who use format.py: these records are Pydantic's, which
takes longer to import than all else of a program that makes calls only.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ringtree._core import Schedule as CoreSchedule
from ringtree._core import Step
from ringtree.errors import UsageError

FORMAT = "ringtree.schedule/1"
MAX_BYTES = 256 << 20
MAX_INT = 2**31 - 1
# A file may not ask for more memory than it takes itself, give or take: each of these makes tables of that size.
MAX_RANKS = 1 << 16
MAX_CHUNKS = 1 << 20
MAX_WORK = 1 << 24

Index = Annotated[int, Field(ge=0, le=MAX_INT)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ScratchRecord(_Record):
    """A place in scratch: the step's i-th chunk lies in slot scratch + i."""

    scratch: Index


PlaceRecord = Literal["input", "output"] | ScratchRecord


class EndpointRecord(_Record):
    peer: Index
    tag: Index = 0


class SendRecord(_Record):
    to: list[Index]
    tag: Index = 0


class ChunksRecord(_Record):
    first: Index
    count: Annotated[int, Field(ge=1, le=MAX_CHUNKS)] = 1
    stride: Annotated[int, Field(ge=-MAX_INT, le=MAX_INT)] = 1


class StepRecord(_Record):
    """One step; see ringtree.Step. Fields that are not there do not apply."""

    verb: str
    lane: Index = 0
    chunks: ChunksRecord
    recv: list[EndpointRecord] = []
    src: PlaceRecord | None = None
    src_at: Index = 0
    dst: PlaceRecord | None = None
    send: SendRecord | None = None


class ProgramRecord(_Record):
    rank: Index
    scratch: Annotated[int, Field(ge=0, le=MAX_CHUNKS)] = 0
    steps: list[StepRecord]


class ScheduleRecord(_Record):
    """A whole schedule. `programs` has one entry a rank, in order, and then one a switch that reduces; `switches`: a
    rank that is joined to each of those. `shares`, of a mix: chunk c is of share c mod shares, and a lane and its
    chunks are of one share."""

    format: Literal["ringtree.schedule/1"] = "ringtree.schedule/1"
    name: str
    collective: str
    ranks: Annotated[int, Field(ge=1, le=MAX_RANKS)]
    root: Index = 0
    chunks: Annotated[int, Field(ge=1, le=MAX_CHUNKS)]
    widest: Annotated[int, Field(ge=1, le=MAX_CHUNKS)]
    switches: list[Index] | None = None
    shares: Annotated[int, Field(ge=1, le=MAX_CHUNKS)] | None = None
    programs: list[ProgramRecord]


def record_of(core: CoreSchedule) -> ScheduleRecord:
    """Returns a schedule as a record."""
    programs = [
        ProgramRecord(
            rank=rank, scratch=core.num_scratch(rank), steps=[_step_record(step) for step in core.steps(rank)]
        )
        for rank in range(core.num_ranks + len(core.switches))
    ]
    return ScheduleRecord(
        name=core.name,
        collective=core.collective,
        ranks=core.num_ranks,
        root=core.root,
        chunks=core.num_chunks,
        widest=core.widest,
        switches=core.switches or None,
        shares=core.shares if core.shares > 1 else None,
        programs=programs,
    )


def read_record(text: str) -> ScheduleRecord:
    """Returns the record in `text`. Raises UsageError, with the place of the first fault."""
    if len(text) > MAX_BYTES:
        raise UsageError(f"a schedule of {len(text)} bytes is above the limit of {MAX_BYTES}")
    try:
        record = ScheduleRecord.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the text"
        raise UsageError(f"not a schedule of format {FORMAT}: {place}: {first['msg']}") from None
    switches = record.switches or []
    if [program.rank for program in record.programs] != list(range(record.ranks + len(switches))):
        more = f" and then one for each of {len(switches)} switches" if switches else ""
        raise UsageError(f"a schedule of {record.ranks} ranks needs one program a rank, in order{more}")
    work = record.chunks * record.ranks + sum(
        step.chunks.count for program in record.programs for step in program.steps
    )
    if work > MAX_WORK:
        raise UsageError(
            f"chunks times ranks and steps come to {work}, above the limit of {MAX_WORK} for a stored schedule"
        )
    return record


def core_of(record: ScheduleRecord) -> CoreSchedule:
    """Returns the core's schedule. Raises ScheduleError if it is not well formed."""
    return CoreSchedule(
        record.name,
        record.collective,
        record.ranks,
        record.root,
        record.chunks,
        record.widest,
        [[_step(step) for step in program.steps] for program in record.programs],
        [program.scratch for program in record.programs],
        record.switches or [],
        record.shares or 1,
    )


def _step_record(step: Step) -> StepRecord:
    first, count, stride = step.chunk_range
    return StepRecord(
        verb=step.verb,
        lane=step.lane,
        chunks=ChunksRecord(first=first, count=count, stride=stride),
        recv=[EndpointRecord(peer=peer, tag=tag) for peer, tag in step.recv],
        src=_place_record(step.src),
        src_at=step.src_at,
        dst=_place_record(step.dst),
        send=SendRecord(to=step.send_to, tag=step.send_tag) if step.send_to else None,
    )


def _place_record(place: tuple[str, int] | None) -> PlaceRecord | None:
    if place is None:
        return None
    buffer, slot = place
    if buffer == "scratch":
        return ScratchRecord(scratch=slot)
    return "input" if buffer == "input" else "output"


def _step(record: StepRecord) -> Step:
    chunks = (record.chunks.first, record.chunks.count, record.chunks.stride)
    recv = [(end.peer, end.tag) for end in record.recv]
    send_to, send_tag = (record.send.to, record.send.tag) if record.send else ([], 0)
    return Step(
        record.verb, record.lane, chunks, recv, _place(record.src), record.src_at, _place(record.dst), send_to, send_tag
    )


def _place(record: PlaceRecord | None) -> tuple[str, int] | None:
    if record is None:
        return None
    return ("scratch", record.scratch) if isinstance(record, ScratchRecord) else (record, 0)
