"""The rows of a table as measurements: one table of timings for each arm and each set of identifying cells.

For: tables whose first line are headings and that have a row for each measurement, wherever they stand. Not for:
finding them (markdown.py, csv_file.py), tables with sizes as columns or statistics as rows (turned.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ringtree.logs.groups import Groups
from ringtree.logs.quantities import RATE, SIMPLE, Quantity, plain, quantities, whole_number
from ringtree.logs.reading import Sink
from ringtree.logs.records import Printed, Row, Side, Table
from ringtree.logs.sizes import Sizes
from ringtree.logs.tables.caption import Caption
from ringtree.logs.tables.headings import OF_UNIT, Heading, Kind
from ringtree.logs.tables.measures import FIELDS, NAMES, Arm, Measured, arms_of, averages_of, is_missing
from ringtree.logs.tables.row_facts import IDENTIFYING, RowFacts

MAX_UNREAD = 20
UNREAD = "columns not read"  # a setting: the first MAX_UNREAD of them
_SHARED = (Kind.DERIVED, Kind.NUMBER, Kind.UNKNOWN)

Others = tuple[tuple[str, Printed], ...]
_Column = tuple[int, str, float | None, Measured]  # the third: the unit of a plain number, None if it is not so simple


class Opening(NamedTuple):
    """What is known of a table before its rows are read. `first`: of each column the first cell that says something;
    `make` begins a table with what the reader knows: format, title, environment."""

    headings: Sequence[Heading]
    first: Sequence[str]
    caption: Caption
    make: Callable[[], Table]
    sink: Sink


class ColumnPlan:
    """Takes rows; gives tables away when `finish` is called, or before that if there are many rows."""

    def __init__(self, opening: Opening) -> None:
        headings, first, caption, make, sink = opening
        self.arms = arms = arms_of(headings, first, caption)
        self._caption, self._make = caption, make
        self._rate_factor = caption.rate_factor
        measured = {column.index for arm in arms for column in arm.columns}
        label_first = bool(headings) and headings[0].kind is Kind.UNKNOWN and 0 not in measured
        self._identifying = [
            (i, one) for i, one in enumerate(headings) if one.kind in IDENTIFYING or (i == 0 and label_first)
        ]
        self._shared = [
            (i, one)
            for i, one in enumerate(headings)
            if one.kind in _SHARED and i not in measured and not (i == 0 and label_first)
        ]
        self._words = [(i, one.kind) for i, one in enumerate(headings) if one.kind in (Kind.COUNT, Kind.DTYPE, Kind.OP)]
        sizes = [(i, one) for i, one in enumerate(headings) if one.kind is Kind.SIZE]
        self._size = sizes[0][0] if len(sizes) == 1 else None
        self._sizes = Sizes(sizes[0][1].unit if len(sizes) == 1 else None)
        self._many_sizes = sizes if len(sizes) > 1 else []
        self._columns = [[_column(one, caption.rate_factor) for one in arm.columns] for arm in arms]
        self._average = averages_of(headings, arms)
        names = [one for _, one in self._identifying]
        self._facts_of = lru_cache(maxsize=1)(lambda key: RowFacts(names, key))  # all arms of a row have the same
        self._unread: dict[str, None] = {}
        self._unstated: set[str] = set()
        self._groups = Groups(sink, self._complete)

    def add(self, line: int, cells: Sequence[str]) -> bool:
        """Takes a row with as many cells as there are headings; False if it has no measurement."""
        size = None
        if self._size is not None:
            size = self._sizes.bytes_of(cells[self._size])
            if size is None and not is_missing(cells[self._size]):
                return False
        found = False
        key = tuple([cells[index] for index, _ in self._identifying])
        shared: Others | None = None if self._shared or self._many_sizes else ()
        for number, arm in enumerate(self.arms):
            side = self._side(arm, self._columns[number], cells)
            if side is None:
                continue
            if shared is None:
                shared = self._shared_numbers(cells)
            if shared:
                side = side._replace(others=side.others + shared)
            if self._size is None:
                size = self._size_of(arm)
            row = self._row(line, size, side, cells) if self._words else Row(line, size, (side,))
            self._groups.add((key, number), row, lambda arm=arm: self._begin(key, arm))  # type: ignore[misc]
            found = True
        return found

    def finish(self) -> None:
        """The table is over."""
        self._groups.flush()

    def _side(self, arm: Arm, columns: list[_Column], cells: Sequence[str]) -> Side | None:
        values: dict[str, Printed] = {}
        others: list[tuple[str, Printed]] = []
        for index, field, scale, column in columns:
            cell = cells[index]
            if scale is not None and SIMPLE.fullmatch(cell) is not None:
                values[field] = Printed(cell, scale)  # most cells of most files
                continue
            numbers = quantities(cell)
            if not numbers and not is_missing(cell):
                self._unread[column.heading] = None
            for number in numbers:
                self._put(arm, column, number, values, others)
        if not values and not others:
            return None
        get = values.get
        return Side(arm.place, get("time"), get("algbw"), get("busbw"), None, tuple(others))

    def _put(
        self,
        arm: Arm,
        column: Measured,
        number: Quantity,
        values: dict[str, Printed],
        others: list[tuple[str, Printed]],
    ) -> None:
        """Puts a number where its unit belongs: of its column's kind into the column, else beside it."""
        kind = column.unit_kind if number.unit is None else number.unit.kind
        field, name, scale = column.field, column.name, column.scale
        if kind != column.unit_kind:
            field, name = self._by_unit(kind or "", column)
        elif number.unit is None and scale is None and kind is not None:
            scale = column.usual
            self._unstated.add(column.heading)
        known = scale is not None or number.unit is not None
        if not (field or name) and not column.field:
            name = column.name
        if field in values or name in dict(others) or not (field or name):
            field, name = "", f"{column.heading} ({number.unit.word if number.unit is not None else 'more'})"
        printed = number.printed(scale or 1.0, self._rate_factor if kind == RATE and known else 1.0)
        if field and known:
            values[field] = printed
        else:
            others.append((name, printed))
        arm.titles.setdefault(field or name, column.heading)
        if number.spread:
            others.append((f"± {field or name}", Printed(number.spread, printed.unit)))

    def _by_unit(self, kind: str, column: Measured) -> tuple[str, str]:
        """Returns where a number goes that is of another kind than its column: a field, or a name in `others`."""
        measure = OF_UNIT.get(kind)
        if kind == RATE and self._caption.kind in (Kind.ALGBW, Kind.BUSBW):
            measure = self._caption.kind
        return ("", "") if measure is None else (FIELDS.get(measure, ""), NAMES.get(measure, measure.name.lower()))

    def _shared_numbers(self, cells: Sequence[str]) -> Others:
        numbers: list[tuple[str, Printed]] = []
        for index, heading in self._shared:
            found = quantities(cells[index])
            if found:
                numbers.append((heading.text, found[0].printed(1.0 if heading.unit is None else heading.unit.scale)))
            elif not is_missing(cells[index]):
                self._unread[heading.text] = None
        for index, heading in self._many_sizes:
            if (size := self._sizes.bytes_of(cells[index])) is not None:
                numbers.append((heading.text, Printed(str(size))))
        return tuple(numbers)

    def _row(self, line: int, size: int | None, side: Side, cells: Sequence[str]) -> Row:
        count = dtype = op = None
        for index, kind in self._words:
            cell = cells[index]
            if is_missing(cell):
                continue
            if kind is Kind.COUNT:
                count = whole_number(cell)
            elif kind is Kind.DTYPE:
                dtype = plain(cell)
            else:
                op = plain(cell)
        return Row(line, size, (side,), count, dtype, op)

    def _size_of(self, arm: Arm) -> int | None:
        text = arm.size or self._caption.size
        return self._sizes.bytes_of(text) if text and not self._many_sizes else None

    def _begin(self, key: tuple[str, ...], arm: Arm) -> Table:
        table = self._make()
        self._facts_of(key).put(table, self._caption, bool(arm.name))
        arm.put(table)
        if self._caption.training and arm.is_of_training:
            table.settings["training"] = self._caption.training
        if not arm.name and table.algorithm is None:
            self._caption.put(table, "algorithm")
        if self._size is None and not self._many_sizes and (arm.size or self._caption.size):
            because = f'the heading "{arm.columns[0].heading}"' if arm.size else self._caption.because.get("size", "")
            table.infer("size_bytes", arm.size or self._caption.size, because)
        return table

    def _complete(self, table: Table) -> None:
        self._sizes.infer(table)
        table.columns = dict(table.columns)
        if len(self._many_sizes) > 1:
            table.infer("size_bytes", "not stated", "several columns are sizes; they stand beside the numbers")
        if self._average is not None and len(table.rows) == 1:
            self._as_average(table, self._average)
        for name, heading in table.columns.items():
            if heading in self._unstated and name in ("algbw", "busbw"):
                table.infer(f"unit of {heading}", "GB/s", "not stated; nccl-tests, whose word it is, prints GB/s")
            elif heading in self._unstated:
                table.infer(f"unit of {heading}", "not stated", "its numbers stand beside those whose unit is known")
        if self._unread:
            table.settings[UNREAD] = ", ".join(list(self._unread)[:MAX_UNREAD])

    def _as_average(self, table: Table, heading: str) -> None:
        """A row's busbw is that of a whole run: no measurement of one size, but the table's average."""
        row = table.rows[0]
        side = row.sides[0]
        if side.busbw is None:
            return
        table.average_busbw = side.busbw
        side = side._replace(busbw=None, others=((heading, side.busbw), *side.others))
        table.rows[0] = Row(row.line, row.size_bytes, (side,), row.count, row.dtype, row.op, row.root)
        table.columns[heading] = table.columns.pop("busbw")


def _column(column: Measured, rate_factor: float) -> _Column:
    is_plain = bool(column.field) and rate_factor == 1
    return column.index, column.field, column.scale if is_plain else None, column
