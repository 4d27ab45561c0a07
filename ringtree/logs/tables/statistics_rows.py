"""Tables with statistics as rows: Mean, Std, Min and Max below one column for each arm.

For: such a table as one row of timings for each arm. What the numbers are must stand above the table. Not for: rows
that are measurements (plan.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ringtree.logs.quantities import plain, quantity
from ringtree.logs.reading import Sink
from ringtree.logs.records import GB_PER_SECOND, Printed, Row, Side, Table
from ringtree.logs.sizes import Sizes
from ringtree.logs.tables.caption import Caption
from ringtree.logs.tables.headings import Heading, Kind
from ringtree.logs.tables.measures import FIELDS, Arm, Measured
from ringtree.logs.tables.row_facts import RowFacts

_MEAN = ("mean", "avg", "average", "median", "p50")
_STATISTICS = frozenset((*_MEAN, "std", "stdev", "stddev", "min", "max", "cv", "p90", "p95", "p99"))
_MAX_ROWS = 50


def is_statistics(headings: Sequence[Heading], first: Sequence[str], caption: Caption) -> bool:
    """Says whether the first row begins with a statistic's name, and something above says of what."""
    return (
        caption.kind is not None
        and len(headings) > 1
        and bool(first)
        and plain(first[0]).lower() in _STATISTICS
        and headings[0].kind is Kind.UNKNOWN
    )


class StatisticsRows:
    """Takes rows, and gives the tables when `finish` is called."""

    def __init__(self, headings: Sequence[Heading], caption: Caption, make: Callable[[], Table], sink: Sink) -> None:
        """`make` begins a table with what the reader knows."""
        self._headings, self._caption, self._make, self._sink = headings, caption, make, sink
        self._rows: list[tuple[int, list[str]]] = []

    @property
    def num_rows(self) -> int:
        """Returns how many statistics were taken."""
        return len(self._rows)

    def add(self, line: int, cells: Sequence[str]) -> bool:
        """Takes a row; False if it is no statistic."""
        if len(self._rows) >= _MAX_ROWS or plain(cells[0]).lower() not in _STATISTICS:
            return False
        self._rows.append((line, list(cells)))
        return True

    def finish(self) -> None:
        """The table is over: gives one table of one row for each column that is no comparison."""
        for index, heading in enumerate(self._headings):
            if index > 0 and heading.kind is not Kind.DERIVED:
                self._give(index, heading)

    def _give(self, index: int, heading: Heading) -> None:
        kind, unit = self._caption.kind or Kind.BANDWIDTH, self._caption.unit
        scale = unit.scale if unit is not None else GB_PER_SECOND if kind in (Kind.ALGBW, Kind.BUSBW) else None
        numbers: dict[str, Printed] = {}
        for _, cells in self._rows:
            number = quantity(cells[index])
            if number is not None:
                numbers[plain(cells[0]).lower()] = number.printed(scale or 1.0)
        best = next((name for name in _MEAN if name in numbers), None)
        if not numbers:
            return
        name = FIELDS[kind]
        main = numbers.pop(best) if best is not None and name and scale is not None else None
        table = self._make()
        RowFacts().put(table, self._caption, True)
        Arm(heading.arm, columns=[Measured(index, heading.text, name if main else "", "", None, scale)]).put(table)
        table.infer("measure", name or "a bandwidth", self._caption.because.get("kind", ""))
        size = None
        if self._caption.size:
            sizes = Sizes()
            size = sizes.bytes_of(self._caption.size)
            table.infer("size_bytes", self._caption.size, self._caption.because.get("size", ""))
            sizes.infer(table)
        side = Side(self._caption.place, others=tuple(numbers.items()))
        if main is not None:
            values = {"time": None, "algbw": None, "busbw": None, name: main}
            side = Side(side.place, values["time"], values["algbw"], values["busbw"], others=side.others)
        table.rows = [Row(self._rows[0][0], size, (side,))]
        table.first_line, table.last_line = self._rows[0][0], self._rows[-1][0]
        self._sink.emit(table)
