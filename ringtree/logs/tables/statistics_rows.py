"""Tables with statistics as rows: Mean, Std, Min and Max below one column for each arm.

For: turning such a table into one row with a column for each arm and statistic. What the numbers are must stand above
the table. Not for: rows that are measurements (plan.py, which reads this one).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ringtree.logs.quantities import plain
from ringtree.logs.reading import Sink
from ringtree.logs.records import Table
from ringtree.logs.tables.caption import Caption
from ringtree.logs.tables.headings import Heading, Kind
from ringtree.logs.tables.measures import arms_of
from ringtree.logs.tables.plan import ColumnPlan

_STATISTICS = frozenset(
    ("mean", "avg", "average", "median", "p50", "std", "stdev", "stddev", "min", "max", "cv", "p90", "p95", "p99")
)
_MAX_ROWS = 50


def is_statistics(headings: Sequence[Heading], first: Sequence[str], caption: Caption) -> bool:
    """Says whether the first row begins with a statistic's name, and something above says of what."""
    return (
        caption.kind is not None
        and len(headings) > 1
        and plain(first[0]).lower() in _STATISTICS
        and headings[0].kind is Kind.UNKNOWN
    )


class StatisticsRows:
    """Takes rows, and gives the tables when `finish` is called."""

    def __init__(self, headings: Sequence[Heading], caption: Caption, make: Callable[[], Table], sink: Sink) -> None:
        """`make` begins a table with what the reader knows."""
        self._headings, self._caption, self._make, self._sink = headings, caption, make, sink
        self._rows: list[tuple[int, Sequence[str]]] = []

    def add(self, line: int, cells: Sequence[str]) -> bool:
        """Takes a row; False if it is not a statistic."""
        if len(self._rows) >= _MAX_ROWS or plain(cells[0]).lower() not in _STATISTICS:
            return False
        self._rows.append((line, cells))
        return True

    def finish(self) -> None:
        """The table is over: one table of one row for each column that is not a comparison."""
        headings, cells = [], []
        for index, arm in enumerate(self._headings):
            for _, row in self._rows if index > 0 and arm.kind is not Kind.DERIVED else ():
                name = plain(row[0]).lower()
                headings.append(Heading(name, self._caption.kind or Kind.BANDWIDTH, self._caption.unit, name, arm.text))
                cells.append(row[index])
        plan = ColumnPlan(headings, arms_of(headings, cells, self._caption), self._caption, self._make, self._sink)
        if self._rows:
            plan.add(self._rows[0][0], cells)
        plan.finish()
