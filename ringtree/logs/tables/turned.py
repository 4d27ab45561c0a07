"""Tables that do not have a row for each measurement, as rows that do.

For: sizes as columns (| channels | 4M | 8M |), of which each cell becomes a row; statistics as rows (Mean, Std below a
column for each arm), which become one row. What the numbers are must stand above the table or in the cells. Not for:
reading the rows (plan.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree.logs.quantities import RATE, TIME, plain, quantities
from ringtree.logs.sizes import Sizes
from ringtree.logs.tables.headings import Heading, Kind, classify
from ringtree.logs.tables.plan import ColumnPlan, Opening
from ringtree.logs.tables.row_facts import IDENTIFYING

_MIN_SIZES = 2
_STATISTICS = frozenset(
    ("mean", "avg", "average", "median", "p50", "std", "stdev", "stddev", "min", "max", "cv", "p90", "p95", "p99")
)
_MAX_ROWS = 50


def is_across(opening: Opening) -> bool:
    """Says whether all columns but the first, or but a few names before them, are sizes, and numbers are measured."""
    headings, first, caption, *_ = opening
    sizes = _size_columns(headings)
    if len(sizes) < _MIN_SIZES or sizes[-1] != len(headings) - 1 or sizes[0] + len(sizes) != len(headings):
        return False
    units = [number.unit.kind for number in quantities(first[sizes[0]]) if number.unit is not None]
    return caption.kind is not None or any(kind in (TIME, RATE) for kind in units)


class Across:
    """Takes rows with a cell for each size; those with the same names are one table."""

    def __init__(self, opening: Opening) -> None:
        headings, first = opening.headings, opening.first
        start = _size_columns(headings)[0]
        self._sizes = [one.text for one in headings[start:]]
        names = [one if one.kind in IDENTIFYING else one._replace(kind=Kind.SETTING) for one in headings[:start]]
        turned = [*names, classify("size"), Heading(", ".join(self._sizes), Kind.UNKNOWN)]
        told = next((cell for cell in first[start:] if quantities(cell)), "")
        self._plan = ColumnPlan(opening._replace(headings=turned, first=[*first[:start], "", told]))
        self.finish = self._plan.finish

    def add(self, line: int, cells: Sequence[str]) -> bool:
        """As ColumnPlan."""
        names, figures = cells[: -len(self._sizes)], cells[-len(self._sizes) :]
        added = [self._plan.add(line, [*names, size, cell]) for size, cell in zip(self._sizes, figures, strict=True)]
        return any(added)


def _size_columns(headings: Sequence[Heading]) -> list[int]:
    sizes = Sizes()
    return [
        index
        for index, one in enumerate(headings)
        if index > 0 and any(c.isalpha() for c in one.text) and sizes.bytes_of(one.text) is not None
    ]


def is_statistics(opening: Opening) -> bool:
    """Says whether the first row begins with a statistic's name, and something above says of what."""
    headings, first, caption, *_ = opening
    said = caption.kind is not None and len(headings) > 1 and headings[0].kind is Kind.UNKNOWN
    return said and plain(first[0]).lower() in _STATISTICS


class StatisticsRows:
    """Takes rows that are statistics, and gives the tables when `finish` is called."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._rows: list[tuple[int, Sequence[str]]] = []

    def add(self, line: int, cells: Sequence[str]) -> bool:
        """As ColumnPlan; False if it is not a statistic."""
        if len(self._rows) >= _MAX_ROWS or plain(cells[0]).lower() not in _STATISTICS:
            return False
        self._rows.append((line, cells))
        return True

    def finish(self) -> None:
        """The table is over: one table of one row for each column that is not a comparison."""
        headings, cells, caption = [], [], self._opening.caption
        for index, arm in enumerate(self._opening.headings):
            for _, row in self._rows if index > 0 and arm.kind is not Kind.DERIVED else ():
                name = plain(row[0]).lower()
                headings.append(Heading(name, caption.kind or Kind.BANDWIDTH, caption.unit, name, arm.text))
                cells.append(row[index])
        plan = ColumnPlan(self._opening._replace(headings=headings, first=cells))
        if self._rows:
            plan.add(self._rows[0][0], cells)
        plan.finish()
