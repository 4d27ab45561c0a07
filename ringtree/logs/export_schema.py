"""What `ringtree import --json` prints: what files say, with every number as it was printed and in SI units.

For: the shape (docs/reference/import.schema.json). Not for: reading (importing.py), writing it out (export_json.py).
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ringtree.results import Record, SizeMeans

IMPORT_FORMAT = "ringtree.import/1"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


class FigureRecord(Record):
    """A number: `text` as it was printed; `value` in seconds, bytes/s, bytes or as a count (null: no finite number)."""

    text: str
    value: Annotated[float | None, BeforeValidator(_finite)]


class SideRecord(Record):
    """One measurement of a row; `place` empty: the source does not say which.

    `wrong`: wrong elements, or the largest error where the table's columns say so; null: not checked. `samples`: single
    iterations, seconds."""

    place: str = Field(description="out_of_place, in_place or empty")
    time: FigureRecord | None
    algbw: FigureRecord | None
    busbw: FigureRecord | None
    wrong: FigureRecord | None
    others: Annotated[dict[str, FigureRecord], BeforeValidator(dict)] = Field(
        description="further columns by their names"
    )
    samples: list[float]


class RowRecord(Record):
    """One size. `line`: where in the file, from 1; 0: the source has no lines."""

    line: int
    size_bytes: int | None
    count: int | None
    dtype: str | None
    op: str | None
    root: int | None
    sides: list[SideRecord]


class InferenceRecord(Record):
    """Something that the source does not say and the reader concluded."""

    what: str
    value: str
    because: str


class TableRecord(Record):
    """Rows that belong together. A field is null (or empty) where the source does not say and nothing was concluded.

    What was concluded stands in `inferences`, too. `continued`: the next table holds more rows of it."""

    format: str
    title: str
    job: str
    first_line: int
    last_line: int
    collective: str | None
    num_ranks: int | None
    num_hosts: int | None
    size_means: SizeMeans
    tool: str | None
    tool_version: str | None
    library: str | None
    library_version: str | None
    devices: list[str]
    hosts: list[str]
    algorithm: str | None
    protocol: str | None
    environment: dict[str, str]
    settings: dict[str, str]
    columns: dict[str, str] = Field(description="heading of each field of a side")
    rows: list[RowRecord]
    num_out_of_bounds: int | None
    out_of_bounds_okay: bool | None
    average_busbw: FigureRecord | None
    complete: bool | None
    continued: bool
    inferences: list[InferenceRecord]


class DocumentRecord(Record):
    """A fact that is not a table of timings; `kind` names the shape of `data`."""

    format: str
    kind: str
    title: str
    job: str
    first_line: int
    last_line: int
    data: dict[str, Any]
    inferences: list[InferenceRecord]


class ExampleRecord(Record):
    line: int
    text: str


class SkippedRecord(Record):
    """Lines that no reader took, by reason, with the first ones."""

    reason: str
    num_lines: int
    examples: list[ExampleRecord]


class FileRecord(Record):
    """`error`: why it could not be read or stored. `num_lines` 0: it was read as a whole.

    `stored`: the run that it was stored as; null: it was not."""

    file: str
    tables: list[TableRecord]
    documents: list[DocumentRecord]
    formats: list[str]
    skipped: list[SkippedRecord]
    num_lines: int
    num_bytes: int
    stored: str | None = None
    error: str | None = None


class ImportRecord(Record):
    """Everything."""

    format: str = IMPORT_FORMAT
    files: list[FileRecord]
