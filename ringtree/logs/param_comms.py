"""PARAM's communication benchmark (comms.py): lines that begin with COMMS-RES.

For: its tables of collectives and of pairs, of all versions that print headings. Not for: its quantised collectives
(COMMS-RES-QUANT), its overlap and replay benchmarks.

p50, p75 and p95 are over ranks, of each rank's average; the bandwidths are computed from p50. The size is of all
ranks.
"""

from __future__ import annotations

import re

from ringtree.logs.groups import Groups
from ringtree.logs.lines import Line
from ringtree.logs.quick_rows import Cell, Column, RowColumns
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import GB_PER_SECOND, MICROSECONDS, Format, RowReason, Table
from ringtree.logs.words import collective_in

FORMAT = Format("param_comms")
MARK = "COMMS-RES"
NOT_READ = RowReason("a line of PARAM's that its headings do not fit")
_HEADING = re.compile(r"\S+ \(B\)|\S+\([\w/]+\)(?::\w+)?|[A-Za-z]\S*")
_ROW = re.compile(r"COMMS-RES-([a-z][a-z0-9_]{1,40})-([a-z]+\d*)(\S{0,60})\s+(\S.*)")
_TIMES = re.compile(r"(?:Latency|Time)\(us\):p50|pingLatency\(us\):p50")


class ParamReader:
    """The headings that were printed last, and a table for each collective and element type below them."""

    def __init__(self, context: Context, sink: Sink) -> None:
        self._context, self._sink = context, sink
        self._headings: list[str] = []
        self._groups = Groups(sink)

    def feed(self, line: Line) -> bool:
        """Takes lines with COMMS-RES."""
        text = line.text
        if MARK not in text:
            return False
        rest = text[text.index(MARK) :]
        if rest[len(MARK) : len(MARK) + 1].isspace():
            self._groups.flush()
            self._headings = _HEADING.findall(rest[len(MARK) :])
            return True
        found = _ROW.match(rest)
        if found is None or not self._row(line, found):
            self._sink.skip(NOT_READ, line.number, text)
        return True

    def finish(self) -> None:
        """Ends all tables."""
        self._groups.flush()

    def _row(self, line: Line, found: re.Match[str]) -> bool:
        op, dtype, tag, rest = found.groups()
        columns = _columns(self._headings)
        row = RowColumns(columns, dtype=dtype).row(rest.split(), line.number)
        if row is None:
            return False
        named = {column.field: heading for column, heading in zip(columns, self._headings, strict=True) if column.field}
        self._groups.add((line.job, op, dtype, tag), row, lambda: _begin(op, dtype, tag, named, line.job))
        return True


def _columns(headings: list[str]) -> list[Column]:
    """What stands under them. Percentiles and extremes are of the median that stands before them."""
    columns, of = [Column(Cell.SIZE)] if headings else [], ""
    for heading in headings[1:]:
        unit = GB_PER_SECOND if heading.endswith("(GB/s)") else MICROSECONDS
        of = heading.partition("(")[0] if ":p50" in heading else of
        if heading.startswith(("nElements", "num-elements")) or heading == "num_elements":
            columns.append(Column(Cell.COUNT))
        elif _TIMES.fullmatch(heading):
            columns.append(Column(Cell.TIME, unit=unit))
        elif heading.startswith(("AlgBW", "BusBW")):
            columns.append(Column(Cell.ALGBW if heading.startswith("Alg") else Cell.BUSBW, unit=unit))
        elif heading in ("p75", "p95", "Min", "Max"):
            name = heading.lower() if of in ("Latency", "Time") else f"{of} {heading}"
            columns.append(Column(Cell.OTHER, unit=unit, name=name))
        else:
            columns.append(Column(Cell.OTHER, unit=unit, name=heading))
    return columns


def _begin(op: str, dtype: str, tag: str, columns: dict[str, str], job: str) -> Table:
    table = Table(FORMAT, 0, f"{op} {dtype} {tag}".strip(), job)
    table.tool = "PARAM comms"
    table.collective = "send_recv" if op == "pt2pt" else collective_in(op)
    table.columns = columns
    table.settings = {"op": op, "percentiles": "over ranks, of each rank's average"}
    if tag:
        table.settings["tag"] = tag
    return table
