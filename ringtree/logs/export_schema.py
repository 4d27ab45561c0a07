"""What `ringtree import --json` prints: what files say, with every number as it was printed and in SI units.

For: the shape (docs/reference/import.schema.json), and records made from tables and documents. Not for: reading
(importing.py), writing them out (export_json.py).
"""

from __future__ import annotations

import math
from typing import Any

from pydantic import Field

from ringtree.logs.records import Document, Inference, Printed, Row, Side, Skipped, Table
from ringtree.results import Record

IMPORT_FORMAT = "ringtree.import/1"


class FigureRecord(Record):
    """A number: `text` as it was printed; `value` in seconds, bytes/s, bytes or as a count (null: no finite number)."""

    text: str
    value: float | None


class SideRecord(Record):
    """One measurement of a row; `place` empty: the source does not say which.

    `wrong`: wrong elements, or the largest error where the table's columns say so; null: not checked. `samples`: single
    iterations, seconds."""

    place: str = Field(description="out_of_place, in_place or empty")
    time: FigureRecord | None
    algbw: FigureRecord | None
    busbw: FigureRecord | None
    wrong: FigureRecord | None
    others: dict[str, FigureRecord] = Field(description="further columns by their names")
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
    """A fact that is no table of timings; `kind` names the shape of `data`."""

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


# The records are made without pydantic's checks: millions of figures come from readers, which made them of these types.


def record_of_table(table: Table) -> TableRecord:
    """Returns what is printed of a table."""
    names = TableRecord.model_fields.keys() - {"rows", "average_busbw", "inferences"}
    return TableRecord.model_construct(
        **{name: getattr(table, name) for name in names},
        rows=[_row(row) for row in table.rows],
        average_busbw=_figure(table.average_busbw),
        inferences=_inferences(table.inferences),
    )


def record_of_document(document: Document) -> DocumentRecord:
    """Returns what is printed of a document."""
    names = DocumentRecord.model_fields.keys() - {"inferences"}
    return DocumentRecord.model_construct(
        **{name: getattr(document, name) for name in names}, inferences=_inferences(document.inferences)
    )


def record_of_skipped(skipped: Skipped) -> SkippedRecord:
    """Returns what is printed of the lines that were skipped for one reason."""
    return SkippedRecord.model_construct(
        reason=skipped.reason,
        num_lines=skipped.num_lines,
        examples=[ExampleRecord.model_construct(line=line, text=text) for line, text in skipped.examples],
    )


def _inferences(inferences: list[Inference]) -> list[InferenceRecord]:
    return [
        InferenceRecord.model_construct(what=each.what, value=each.value, because=each.because) for each in inferences
    ]


def _row(row: Row) -> RowRecord:
    return RowRecord.model_construct(
        line=row.line,
        size_bytes=row.size_bytes,
        count=row.count,
        dtype=row.dtype,
        op=row.op,
        root=row.root,
        sides=[_side(side) for side in row.sides],
    )


def _side(side: Side) -> SideRecord:
    return SideRecord.model_construct(
        place=side.place,
        time=_figure(side.time),
        algbw=_figure(side.algbw),
        busbw=_figure(side.busbw),
        wrong=_figure(side.wrong),
        others={name: FigureRecord.model_construct(text=each.text, value=_value(each)) for name, each in side.others},
        samples=list(side.samples),
    )


def _figure(printed: Printed | None) -> FigureRecord | None:
    return None if printed is None else FigureRecord.model_construct(text=printed.text, value=_value(printed))


def _value(printed: Printed) -> float | None:
    value = printed.value
    return value if math.isfinite(value) else None
