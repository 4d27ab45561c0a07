"""A published table as cells with units: what a claim is held against.

For: finding cells by heading and row, and what a cell is a number of. Not for: logs with set-up and provenance
(ringtree.logs, which also reads the headings here), judging.

Reads CSV, the tables of a Markdown file, and those of any log that ringtree.logs reads. Any cell may be
empty, and nothing in a file is an error: what is not a number stays a label.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

from ringtree.audit.claims.amounts import amount
from ringtree.audit.words import quoted_rate, quoted_time
from ringtree.logs import Printed, Table, read_file
from ringtree.logs.quantities import RATE, TIME, quantity
from ringtree.logs.tables.headings import Heading, Kind, classify

MAX_BYTES, MAX_ROWS, MAX_COLUMNS = 4 << 20, 20_000, 200
Wanted = str | int | float
_KINDS = {Kind.SIZE: "size", Kind.RANKS: "ranks", Kind.HOSTS: "hosts", Kind.TIME: TIME,
          Kind.ALGBW: RATE, Kind.BUSBW: RATE, Kind.BANDWIDTH: RATE}  # fmt: skip
_RUNS = re.compile(r"(?:runs|launches|repeats|repetitions)\b|runs_", re.IGNORECASE)
_RULE = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*")
_CONDITION = re.compile(r"(<=|>=|<|>|≤|≥)?\s*(.+?)(?:\s*\.\.\s*(.+))?")
_SAME_SIZE = 0.02


@dataclass(frozen=True)
class Column:
    """`kind`: size, time, rate, ranks, hosts, runs, number or label. `scale`: what one of the heading's unit is (cells
    may name their own). `heading`: what it says, such as whose column it is."""

    place: int
    name: str
    kind: str
    scale: float
    heading: Heading


@dataclass(frozen=True)
class Grid:
    """A table. `rows`: the cells as text, all of the same length."""

    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns by what their headings and cells say."""
        return tuple(_column(i, name, [row[i] for row in self.rows if row[i]]) for i, name in enumerate(self.headings))

    def of_kind(self, *kinds: str) -> list[Column]:
        """The columns of one of `kinds`."""
        return [column for column in self.columns if column.kind in kinds]

    def column(self, name: str) -> Column | None:
        """The column of that heading, whatever the case."""
        return next((one for one in self.columns if one.name.casefold() == name.strip().casefold()), None)

    def printed(self, row: int, column: Column) -> Printed | None:
        """The number in a cell, in seconds, bytes/s, a count …; None for an empty cell or one that is not a number."""
        found = quantity(self.rows[row][column.place].lstrip("~≈ "))
        return None if found is None else found.printed(column.scale)

    def value(self, row: int, column: Column) -> float | None:
        """The same as a float."""
        printed = self.printed(row, column)
        return None if printed is None else printed.value

    def cells(self, kind: str) -> Iterator[tuple[int, Column, float]]:
        """The row, column and number of each cell in the columns of a kind, by rows."""
        for row, column in product(range(len(self.rows)), self.of_kind(kind)):
            if (value := self.value(row, column)) is not None:
                yield row, column, value

    def sizes(self, row: int) -> tuple[float, ...]:
        """What the row's size can be in bytes, powers of 1024 first; empty if it has none."""
        return next((found for one in self.of_kind("size") if (found := _sizes(self.rows[row][one.place]))), ())

    def count(self, row: int, kind: str) -> int | None:
        """Ranks, hosts or runs of a row, None if there is no such column."""
        values = [value for one in self.of_kind(kind) if (value := self.value(row, one)) is not None]
        return round(values[0]) if values and 0 < values[0] < 1e9 else None

    def label(self, row: int) -> str:
        """The row's labels, size and hosts, for people."""
        cells = ((self.rows[row][one.place], one) for one in self.of_kind("label", "size", "hosts"))
        shown = [f"{text} {one.name}" if one.kind == "hosts" else text for text, one in cells if text]
        return ", ".join(shown[:4])

    def rows_where(self, wanted: Mapping[str, Wanted | Sequence[Wanted]]) -> list[int]:
        """The rows whose cells are as wanted. Raises KeyError for a heading that the table lacks."""
        columns = {one.name.casefold(): one for one in self.columns}
        where = [(columns[name.strip().casefold()], one) for name, one in wanted.items()]
        return [row for row in range(len(self.rows)) if all(self._is(row, column, one) for column, one in where)]

    def _is(self, row: int, column: Column, wanted: Wanted | Sequence[Wanted]) -> bool:
        if not isinstance(wanted, (str, int, float)):
            return any(self._is(row, column, one) for one in wanted)
        cell, text = self.rows[row][column.place], str(wanted).strip()
        if cell.casefold() == text.casefold():
            return True
        condition = _CONDITION.fullmatch(text)
        here = _sizes(cell)
        bounds = [_sizes(one) for one in condition.groups()[1:] if one] if condition is not None else []
        if condition is None or not here or not bounds or not all(bounds):
            return False
        slack = _SAME_SIZE if column.kind == "size" else 1e-9
        same = [any(abs(a - b) <= slack * b for a in here for b in bound) for bound in bounds]
        if len(bounds) == 2:
            return any(same) or bounds[0][0] < here[0] < bounds[1][0]
        sign = (condition[1] or "=").replace("≤", "<=").replace("≥", ">=")
        beyond = here[0] < bounds[0][0] if "<" in sign else here[0] > bounds[0][0] if ">" in sign else False
        return ("=" in sign and same[0]) or (beyond and not same[0])


def read_grid(path: Path, number: int = 1) -> Grid | None:
    """The table in a file, or of several the one of that number; None if there is none that can be read."""
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    lines = text.lstrip("\ufeff").splitlines()
    tables = _markdown(lines) or _comma_separated(lines)
    tables = tables or [_cells_of(one) for one in read_file(path).items if isinstance(one, Table) and one.rows]
    if not 0 < number <= len(tables):
        return None
    table = tables[number - 1][: MAX_ROWS + 1]
    width = min(len(table[0]), MAX_COLUMNS)
    cells = [tuple(cell.strip() for cell in (row + [""] * width)[:width]) for row in table]
    return Grid(path.name, cells[0], tuple(cells[1:]))


def _column(place: int, name: str, cells: list[str]) -> Column:
    heading, numbers = classify(name), [quantity(cell.lstrip("~≈ ")) for cell in cells]
    own = {one.unit.kind if one.unit is not None else "" for one in numbers if one is not None}
    kind = "runs" if _RUNS.match(name) else _KINDS.get(heading.kind, "")
    if not kind or (kind in (TIME, RATE) and heading.unit is None):  # then the cells must have a unit
        of_cells = own.pop() if len(own) == 1 else ""
        kind = of_cells if of_cells in (TIME, RATE) else "number"
        kind = kind if cells and None not in numbers else "label"
    return Column(place, name, kind, heading.unit.scale if heading.unit is not None else 1.0, heading)


def _sizes(text: str) -> tuple[float, ...]:
    try:
        return amount(text).sizes
    except ValueError:
        return ()


def _comma_separated(lines: list[str]) -> list[list[list[str]]]:
    try:
        rows = list(csv.reader(io.StringIO("\n".join(one for one in lines if one.strip() and not one.startswith("#")))))
    except csv.Error:
        return []
    same = sum(len(row) == len(rows[0]) for row in rows) if rows else 0
    return [rows] if len(rows) > 1 and len(rows[0]) > 1 and same > len(rows) / 2 else []


def _markdown(lines: list[str]) -> list[list[list[str]]]:
    tables = []
    for start in (i for i, one in enumerate(lines[1:]) if _RULE.fullmatch(one) and "|" in lines[i]):
        end = next((i for i in range(start, len(lines)) if "|" not in lines[i]), len(lines))
        tables.append([one.strip().strip("|").split("|") for one in [lines[start], *lines[start + 2 : end]]])
    return tables


def _cells_of(table: Table) -> list[list[str]]:
    rows = []
    for row in table.rows:
        cells = {"size": str(row.size_bytes or ""), "ranks": str(table.num_ranks or "")}
        for side in row.sides:
            shown = {"time": side.time and quoted_time(side.time), "algbw": side.algbw and quoted_rate(side.algbw),
                     "busbw": side.busbw and quoted_rate(side.busbw)}  # fmt: skip
            cells.update({f"{side.place} {name}".strip(): text or "" for name, text in shown.items()})
        rows.append(cells)
    headings = list(rows[0])
    return [headings, *([row.get(name, "") for name in headings] for row in rows)]
