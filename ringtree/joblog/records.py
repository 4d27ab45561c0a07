"""A job trace as readers know it: the lines of one rank's file, and the trace of all ranks.

For: their shape, checked when they are read; sizes and times that can't be are refused. Not for: writing them while a
job runs (writing.py), reading files (reading.py), computing (summary.py).

Times are seconds on the host's monotonic clock. `ran` is the CPU time that the rank's threads which issue collectives
have spent on anything but collectives: where a collective is under way and `ran` stands still, the rank waits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, model_validator

from ringtree.results import Record

_MAX_BYTES = 1 << 50
_MAX_RANKS = 1 << 24


class RankLine(Record):
    """The first line: which process this is."""

    kind: Literal["rank"]
    format: Literal["ringtree.job-trace/1", "ringtree.job-trace/2"] = Field(description="format and version")
    rank: int = Field(ge=0, lt=_MAX_RANKS)
    world_size: int = Field(ge=1, le=_MAX_RANKS)
    host: str
    pid: int
    torch: str = Field(description="version of PyTorch")
    nccl: str | None = Field(description="version of NCCL that PyTorch was built with; null: none")
    begun: float = Field(description="seconds since 1970, at the first collective")
    clock: float = Field(description="the monotonic clock at that time")
    command: list[str]


class GroupLine(Record):
    """A process group, before its first call. `group`: how calls name it."""

    kind: Literal["group"]
    group: int = Field(ge=0)
    name: str = Field(description="torch.distributed's name of the group")
    backend: str
    size: int = Field(ge=1, le=_MAX_RANKS)
    ranks: list[int] = Field(max_length=_MAX_RANKS, description="global ranks; empty: not known")


class CallLine(Record):
    """One call. Lines are in the order in which calls ended; `call` counts them in the order of their begin."""

    kind: Literal["call"]
    call: int = Field(ge=0)
    step: int = Field(ge=0)
    collective: str
    operator: str = Field(description="PyTorch's operator, without c10d::")
    group: int = Field(ge=0)
    in_bytes: int = Field(ge=0, le=_MAX_BYTES, description="bytes of the tensors that this rank gives")
    out_bytes: int = Field(ge=0, le=_MAX_BYTES, description="bytes of the tensors that this rank gets")
    dtype: str
    device: str
    num_tensors: int = Field(ge=0)
    begin: float
    issued: float | None = Field(description="when the backend's call had returned; null: it raised")
    end: float | None = Field(description="when it was complete; null: never, on a GPU, or the step is not timed")
    ran_begin: float
    ran_end: float | None

    @model_validator(mode="after")
    def _ends_after_its_begin(self) -> CallLine:
        if self.end is not None and self.end < self.begin:
            raise ValueError("call ends before it begins")
        return self


class StepLine(Record):
    """One step of the job, to the end of its last optimizer step."""

    kind: Literal["step"]
    step: int = Field(ge=0)
    begin: float
    end: float
    ran_begin: float
    ran_end: float
    timed: bool = Field(description="the ends of its calls were noted")


class DeviceCallLine(Record):
    """When a call's kernels ran on the GPU, in a step that was recorded there."""

    kind: Literal["device_call"]
    call: int = Field(ge=0)
    begin: float = Field(description="of the first of its kernels")
    end: float = Field(description="of the last")
    in_flight: float = Field(ge=0, description="seconds in which one of them ran; waiting for late ranks is in it")
    exposed: float = Field(ge=0, description="seconds of that in which nothing else ran on the GPU")

    @model_validator(mode="after")
    def _ends_after_its_begin(self) -> DeviceCallLine:
        if self.end < self.begin:
            raise ValueError("call ends before it begins")
        return self


class KernelTotalLine(Record):
    """All kernels of one kind in a step."""

    kernel: str
    num: int = Field(ge=0)
    in_flight: float = Field(ge=0)
    exposed: float = Field(ge=0)


class DeviceStepLine(Record):
    """A step that was recorded on the GPU."""

    kind: Literal["device_step"]
    step: int = Field(ge=0)
    exposed: float = Field(ge=0, description="of all kernels of collectives")
    lost: list[str] = Field(description="collectives some of whose calls have no kernel that is known for theirs")
    unmatched: int = Field(ge=0, description="kernels of collectives that are no known call's")
    kernels: list[KernelTotalLine] = Field(description="by kind, where any is lost or unmatched")


class NotTimedLine(Record):
    """A step that was to be recorded on the GPU, and was not."""

    kind: Literal["not_timed"]
    step: int = Field(ge=0)
    why: str


class EndLine(Record):
    """The last line of a rank that ended by itself. begin and end: of what followed the last step."""

    kind: Literal["end"]
    num_calls: int = Field(ge=0)
    num_steps: int = Field(ge=0)
    begin: float
    end: float
    ran_begin: float
    ran_end: float


Line = Annotated[
    RankLine | GroupLine | CallLine | StepLine | DeviceCallLine | DeviceStepLine | NotTimedLine | EndLine,
    Field(discriminator="kind"),
]
LINE: TypeAdapter[Line] = TypeAdapter(Line)


@dataclass(frozen=True)
class RankRecord:
    """What one rank did."""

    about: RankLine
    groups: dict[int, GroupLine]
    calls: list[CallLine]  # in the order of their begin
    steps: list[StepLine]
    end: EndLine | None  # None: the rank was killed, or the file cut off
    device_calls: dict[int, DeviceCallLine] = field(default_factory=dict)
    device_steps: dict[int, DeviceStepLine] = field(default_factory=dict)
    not_timed: list[NotTimedLine] = field(default_factory=list)


@dataclass(frozen=True)
class JobTrace:
    """A trace as read: a rank's record each, by rank, and what had to be said while reading."""

    path: Path
    ranks: list[RankRecord]
    notes: list[str]
