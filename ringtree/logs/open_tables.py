"""One open table for each job, of rows below headings: what readers of such benchmarks share.

For: the readers of OSU's, Intel's, Gloo's and DeepSpeed's benchmarks. Not for: what their lines mean, nccl-tests, of
whose programs several may write at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ringtree.logs.groups import add_row
from ringtree.logs.lines import Line
from ringtree.logs.quick_rows import Cell, Column, MakeRow, RowColumns
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import Row, SizeMeans, Table

_MAX_JOBS = 1000
_MAX_FOREIGN = 500  # lines between a table's rows


def mpi_size(collective: str | None) -> SizeMeans:
    """What the size is that benchmarks of MPI print: the count of the call."""
    if collective == "all_to_all":
        return SizeMeans.ONE_PEER
    return SizeMeans.ONE_BLOCK if collective in ("all_gather", "gather", "scatter") else SizeMeans.TOTAL


@lru_cache(maxsize=64)
def _columns(columns: tuple[Column, ...], dtype: str | None, op: str | None) -> RowColumns:
    """The tables of a log have few kinds of columns, and what they share remembers figures."""
    return RowColumns(columns, dtype=dtype, op=op)


@dataclass
class OpenTable:
    """`prefix`: what stood before the title, and may stand before its other lines. `headings`: of the columns, empty
    until they came; `columns`: None when they are to be made anew; `make_row`: their quick way, if all is said by them.
    `num_foreign`: lines of others since its last one."""

    table: Table
    title: Line
    prefix: str = ""
    headings: Sequence[str] = ()
    columns: RowColumns | None = None
    make_row: MakeRow | None = None
    num_foreign: int = 0
    num_rows: int = 0

    def forget_columns(self) -> None:
        """They, or the types of all rows, are others now."""
        self.columns = self.make_row = None


class OpenTables(ABC):
    """The part of a RowReader that does not depend on the format. `mark`: stands in each line that _heads takes;
    `no_row`: why a table without a row is skipped."""

    mark: str = ""
    no_row: str

    def __init__(self, context: Context, sink: Sink) -> None:
        self._context, self._sink = context, sink
        self._open: dict[str, OpenTable] = {}

    def feed(self, line: Line) -> bool:
        """Takes what a table begins with, its rows, and what else is said of it."""
        if self.mark in line.text and self._heads(line):
            return True
        one = self._open.get(line.job) if self._open else None
        if one is None:
            return False
        text = line.text.removeprefix(one.prefix)
        if self._row(one, text, line.number):
            return True
        if self._part(one, line, text.strip()):
            one.num_foreign = 0
            return True
        one.num_foreign += 1
        if one.num_foreign > _MAX_FOREIGN and self._open.get(line.job) is one:
            self._close(line.job)
        return False

    def finish(self) -> None:
        """Ends all tables."""
        for job in list(self._open):
            self._close(job)

    @property
    def is_open(self) -> bool:
        """As RowReader has it."""
        return bool(self._open)

    def expects_row(self, job: str) -> bool:
        """As RowReader has it."""
        one = self._open.get(job)
        return one is not None and bool(one.headings)

    def quick(self, text: str, job: str, number: int) -> bool:
        """As RowReader has it."""
        one = self._open.get(job)
        row = one.make_row(text.removeprefix(one.prefix), number) if one is not None and one.make_row else None
        if one is None or row is None:
            return False
        self._add(one, row)
        return True

    @abstractmethod
    def _heads(self, line: Line) -> bool:
        """Takes a line that begins a table, or that is about no open one."""

    def _part(self, one: OpenTable, line: Line, text: str) -> bool:
        """Takes a line of a table, without blanks around it, that is not a row: headings, settings."""
        return False

    @abstractmethod
    def _column(self, one: OpenTable, heading: str) -> Column:
        """Returns what stands under a heading."""

    def _types(self, one: OpenTable) -> tuple[str | None, str | None]:
        """Returns element type and operation of all rows, where they are known."""
        return None, None

    def _complete(self, one: OpenTable) -> None:  # noqa: B027 — most have nothing to add
        """Writes into a table with rows what is known at its end."""

    def _begin(self, table: Table, line: Line, prefix: str = "", headings: Sequence[str] = ()) -> OpenTable:
        """Opens a table in place of the one that its job had."""
        self._close(line.job)
        if len(self._open) >= _MAX_JOBS:
            self._close(next(iter(self._open)))
        table.environment = dict(self._context.environment)
        one = self._open[line.job] = OpenTable(table, line, prefix)
        self._set_headings(one, headings)
        return one

    def _set_headings(self, one: OpenTable, headings: Sequence[str]) -> None:
        one.headings = headings
        one.forget_columns()
        named = ((self._column(one, heading).field, heading) for heading in headings)
        one.table.columns = {name: heading for name, heading in named if name}

    def _close(self, job: str) -> None:
        one = self._open.pop(job, None)
        if one is None:
            return
        if one.num_rows == 0:
            self._sink.skip(self.no_row, one.title.number, one.title.text)
            return
        self._complete(one)
        self._sink.emit(one.table)

    def _row(self, one: OpenTable, text: str, number: int) -> bool:
        if one.columns is None:
            if not one.headings:
                return False
            self._make_columns(one)
        row = one.make_row(text, number) if one.make_row is not None else None
        if row is None and one.columns is not None:
            row = one.columns.row(text.split(), number)
        if row is not None:
            self._add(one, row)
        return row is not None

    def _make_columns(self, one: OpenTable) -> None:
        columns = tuple(self._column(one, heading) for heading in one.headings)
        one.columns = _columns(columns, *self._types(one))
        one.make_row = one.columns.quick if all(column.cell is not Cell.PASSED for column in columns) else None

    def _add(self, one: OpenTable, row: Row) -> None:
        one.table = add_row(one.table, row, self._sink)
        one.num_rows += 1
        one.num_foreign = 0
