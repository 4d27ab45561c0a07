"""What the lab and its rank processes say to each other.

For: the shapes and the framing: one specification down (length, then JSON), reports up (a JSON line each). Not for:
sockets, processes. Never pickle: what a process reads is data, with its length checked before it is used.
"""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from ringtree.results import Plan, Record, Visit, WarmUp, WrongElement

MAX_SPEC_BYTES = 4 << 20
MAX_REPORT_BYTES = 16 << 20


class RankSpec(Record):
    """All that one rank process needs to know. `session` names the rendezvous and is not guessable."""

    plan: Plan
    rank: int
    launch: int
    keep_operands: bool = Field(description="false: memory does not hold the operands of all cells at the same time")
    session: str
    process_group: int
    torch_store: str
    timeout: float


class CellReport(Record):
    """One cell as one rank saw it. `error`: why the arm could not run, on all ranks alike."""

    kind: Literal["cell"] = "cell"
    size_bytes: int
    arm: str
    executed: dict[str, Any] | None
    times: list[float]
    visits: list[Visit]
    warm_up: WarmUp | None
    first_wrong: WrongElement | None
    error: str | None


class ProgressReport(Record):
    """How far the launch is: `done` of `total` visits; from rank 0 only. `text`: what was just finished."""

    kind: Literal["progress"] = "progress"
    done: int
    total: int
    text: str


class DoneReport(Record):
    """The rank did all its cells."""

    kind: Literal["done"] = "done"


class FailureReport(Record):
    """The rank can't go on; `text` is one line."""

    kind: Literal["failure"] = "failure"
    text: str


Report = CellReport | DoneReport | FailureReport | ProgressReport
_reports: TypeAdapter[Report] = TypeAdapter(Annotated[Report, Field(discriminator="kind")])


def write_spec(descriptor: int, spec: RankSpec) -> None:
    """Writes length and JSON. Raises BrokenPipeError if the rank is gone already."""
    payload = spec.model_dump_json().encode()
    _write_all(descriptor, len(payload).to_bytes(8, "big") + payload)


def read_spec(descriptor: int) -> RankSpec:
    """Reads one specification. Raises EOFError if the lab is gone, ValueError for what can't be one."""
    length = int.from_bytes(_read_exactly(descriptor, 8), "big")
    if length > MAX_SPEC_BYTES:
        raise ValueError(f"a specification of {length} bytes is longer than {MAX_SPEC_BYTES}")
    return RankSpec.model_validate_json(_read_exactly(descriptor, length))


def write_report(descriptor: int, report: Report) -> None:
    """Writes one line."""
    _write_all(descriptor, report.model_dump_json().encode() + b"\n")


class ReportReader:
    """Cuts what arrives from one rank into reports."""

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, received: bytes) -> list[Report]:
        """Returns the reports that are whole now. Raises ValueError for what is none."""
        *lines, self._pending = (self._pending + received).split(b"\n")
        if len(self._pending) > MAX_REPORT_BYTES:
            raise ValueError(f"a report is longer than {MAX_REPORT_BYTES} bytes")
        return [_reports.validate_json(line) for line in lines]


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_exactly(descriptor: int, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = os.read(descriptor, min(length - len(parts), 1 << 16))
        if not part:
            raise EOFError("the lab ended before it had said what to do")
        parts += part
    return bytes(parts)
