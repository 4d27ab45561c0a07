"""Tables with sizes as columns: | channels | 4M | 8M | 16M |.

For: turning such a table's rows by a quarter: each cell is a row of its own, with its size beside it. What the numbers
are must stand above the table or in the cells. Not for: tables with a row for each size (plan.py, which reads these).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ringtree.logs.quantities import RATE, TIME, quantities
from ringtree.logs.reading import Sink
from ringtree.logs.records import Table
from ringtree.logs.sizes import Sizes
from ringtree.logs.tables.caption import Caption
from ringtree.logs.tables.headings import Heading, Kind, classify
from ringtree.logs.tables.measures import arms_of
from ringtree.logs.tables.plan import ColumnPlan
from ringtree.logs.tables.row_facts import IDENTIFYING

_MIN_SIZES = 2


def is_across(headings: Sequence[Heading], first: Sequence[str], caption: Caption) -> bool:
    """Says whether all columns but the first, or but a few names before them, are sizes, and numbers are measured."""
    sizes = _size_columns(headings)
    if len(sizes) < _MIN_SIZES or sizes[-1] != len(headings) - 1 or sizes[0] + len(sizes) != len(headings):
        return False
    units = [number.unit.kind for number in quantities(first[sizes[0]]) if number.unit is not None]
    return caption.kind is not None or any(kind in (TIME, RATE) for kind in units)


class Across:
    """Takes rows; those with the same names are one table."""

    def __init__(self, headings: Sequence[Heading], caption: Caption, make: Callable[[], Table], sink: Sink) -> None:
        """`make` begins a table with what the reader knows."""
        start = _size_columns(headings)[0]
        self._sizes = [one.text for one in headings[start:]]
        self._headings = [
            one if one.kind in IDENTIFYING else one._replace(kind=Kind.SETTING) for one in headings[:start]
        ]
        self._headings += [classify("size"), Heading(", ".join(self._sizes), Kind.UNKNOWN)]
        self._caption, self._make, self._sink = caption, make, sink
        self._plan: ColumnPlan | None = None

    def add(self, line: int, cells: Sequence[str]) -> bool:
        """Takes a row with as many cells as there are headings; False if it has no measurement."""
        names, figures = list(cells[: -len(self._sizes)]), cells[-len(self._sizes) :]
        if self._plan is None:
            told = next((cell for cell in figures if quantities(cell)), "")
            arms = arms_of(self._headings, [*names, "", told], self._caption)
            self._plan = ColumnPlan(self._headings, arms, self._caption, self._make, self._sink)
        added = [self._plan.add(line, [*names, size, cell]) for size, cell in zip(self._sizes, figures, strict=True)]
        return any(added)

    def finish(self) -> None:
        """The table is over."""
        if self._plan is not None:
            self._plan.finish()


def _size_columns(headings: Sequence[Heading]) -> list[int]:
    sizes = Sizes()
    return [
        index
        for index, one in enumerate(headings)
        if index > 0 and any(c.isalpha() for c in one.text) and sizes.bytes_of(one.text) is not None
    ]
