"""Tables with sizes as columns: | channels | 4M | 8M | 16M |.

For: the rows of such a table; each is a table of timings with one row a size. What the numbers are must stand above
the table or in the cells. Not for: tables with a row for each size (plan.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ringtree.logs.quantities import RATE, TIME, quantity
from ringtree.logs.reading import Sink
from ringtree.logs.records import GB_PER_SECOND, Printed, Row, Side, Table
from ringtree.logs.sizes import Sizes
from ringtree.logs.tables.caption import Caption
from ringtree.logs.tables.headings import Heading, Kind
from ringtree.logs.tables.measures import FIELDS
from ringtree.logs.tables.row_facts import IDENTIFYING, facts_of

_MIN_SIZES = 2


def is_across(headings: Sequence[Heading], first: Sequence[str], caption: Caption) -> bool:
    """Says whether all columns but the first, or but a few names before them, are sizes, and numbers are measured."""
    sizes = _size_columns(headings)
    if len(sizes) < _MIN_SIZES or sizes[-1] != len(headings) - 1 or sizes[0] + len(sizes) != len(headings):
        return False
    number = quantity(first[sizes[0]]) if sizes[0] < len(first) else None
    has_unit = number is not None and number.unit is not None and number.unit.kind in (TIME, RATE)
    return has_unit or caption.kind is not None


class Across:
    """Takes rows and gives a table for each at once."""

    def __init__(self, headings: Sequence[Heading], caption: Caption, make: Callable[[], Table], sink: Sink) -> None:
        """`make` begins a table with what the reader knows."""
        self._headings, self._caption, self._make, self._sink = headings, caption, make, sink
        self._columns = _size_columns(headings)
        self._sizes = Sizes()
        self._identifying = [
            (i, one if one.kind in IDENTIFYING else one._replace(kind=Kind.SETTING))
            for i, one in enumerate(headings[: self._columns[0]])
        ]
        self.num_rows = 0

    def add(self, line: int, cells: Sequence[str]) -> bool:
        """Takes a row with as many cells as there are headings; False if it has no measurement."""
        rows = []
        for index in self._columns:
            size, side = self._sizes.bytes_of(self._headings[index].text), self._side(cells[index])
            if size is not None and side is not None:
                rows.append(Row(line, size, (side,)))
        if not rows:
            return False
        table = self._make()
        facts_of(self._identifying, cells).put(table, self._caption, False)
        if table.algorithm is None and table.protocol is None and self._caption.algorithm is not None:
            table.algorithm = self._caption.algorithm
            self._caption.infer(table, "algorithm")
        if self._caption.kind is not None:
            table.infer("measure", FIELDS[self._caption.kind] or "a bandwidth", self._caption.because.get("kind", ""))
            if self._caption.kind is Kind.BANDWIDTH:
                table.infer("bw", "a bandwidth", "not stated which bandwidth")
        self._sizes.infer(table)
        titles = ", ".join(self._headings[index].text for index in self._columns)
        table.columns = {FIELDS.get(self._caption.kind or Kind.BANDWIDTH) or "bw": titles}
        table.first_line = table.last_line = line
        table.rows = rows
        self.num_rows += len(rows)
        self._sink.emit(table)
        return True

    def finish(self) -> None:
        """The table is over."""

    def _side(self, cell: str) -> Side | None:
        number = quantity(cell)
        if number is None:
            return None
        kind, unit = self._caption.kind, number.unit or self._caption.unit
        if number.unit is not None:
            if number.unit.kind not in (TIME, RATE):
                return None
            if number.unit.kind == TIME:
                kind = Kind.TIME
            elif kind is None or kind is Kind.TIME:
                kind = Kind.BANDWIDTH
        scale = unit.scale if unit is not None else GB_PER_SECOND if kind in (Kind.ALGBW, Kind.BUSBW) else None
        printed = Printed(number.text, scale or 1.0)
        place = self._caption.place
        if kind is Kind.TIME and scale is not None:
            return Side(place, time=printed)
        if kind is Kind.ALGBW:
            return Side(place, algbw=printed)
        if kind is Kind.BUSBW:
            return Side(place, busbw=printed)
        return Side(place, others=(("bw" if kind is Kind.BANDWIDTH else "time", printed),))


def _size_columns(headings: Sequence[Heading]) -> list[int]:
    sizes = Sizes()
    return [
        index
        for index, one in enumerate(headings)
        if index > 0 and any(c.isalpha() for c in one.text) and sizes.bytes_of(one.text) is not None
    ]
