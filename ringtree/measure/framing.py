"""How the process that starts ranks and its ranks speak: a specification and commands down, reports up.

For: the framing: length and JSON of a record down a pipe, a JSON line a record up. Not for: what is said
(messages.py and its like), sockets, processes. Never pickle: what a process reads is data, with its length checked
before it is used.
"""

from __future__ import annotations

import os
from typing import Generic, TypeVar

from pydantic import BaseModel, TypeAdapter

MAX_RECORD_BYTES = 4 << 20
MAX_REPORT_BYTES = 256 << 20  # all ranks' times of a long loop

ReportT = TypeVar("ReportT")


def write_record(descriptor: int, record: BaseModel) -> None:
    """Writes length and JSON. Raises BrokenPipeError if the rank is gone already."""
    payload = record.model_dump_json().encode()
    _write_all(descriptor, len(payload).to_bytes(8, "big") + payload)


def read_json(descriptor: int) -> bytes:
    """Reads the JSON of one record. Raises EOFError if the starter is gone, ValueError for a length that can't be."""
    length = int.from_bytes(_read_exactly(descriptor, 8), "big")
    if length > MAX_RECORD_BYTES:
        raise ValueError(f"a record of {length} bytes is longer than {MAX_RECORD_BYTES}")
    return _read_exactly(descriptor, length)


def write_report(descriptor: int, report: BaseModel) -> None:
    """Writes one line."""
    _write_all(descriptor, report.model_dump_json().encode() + b"\n")


class ReportReader(Generic[ReportT]):
    """Cuts what arrives from one rank into reports."""

    def __init__(self, reports: TypeAdapter[ReportT]) -> None:
        self._reports, self._pending = reports, b""

    def feed(self, received: bytes) -> list[ReportT]:
        """Returns the reports that are whole now. Raises ValueError for what is none."""
        *lines, self._pending = (self._pending + received).split(b"\n")
        if len(self._pending) > MAX_REPORT_BYTES:
            raise ValueError(f"a report is longer than {MAX_REPORT_BYTES} bytes")
        return [self._reports.validate_json(line) for line in lines]


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_exactly(descriptor: int, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = os.read(descriptor, min(length - len(parts), 1 << 16))
        if not part:
            raise EOFError("the process that measures ended before it sent instructions")
        parts += part
    return bytes(parts)
