"""The columns of a table, and rows made from figures by them.

For: which figure of a row is what, in which unit. Not for: finding rows in damaged lines (scan.py), headings
(headings.py), lines to rows by columns (ringtree.logs.quick_rows).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ringtree.logs.quick_rows import NOT_CHECKED, Cell, Column, MakeRow, RowColumns
from ringtree.logs.records import GB_PER_SECOND, MICROSECONDS, Printed, Row, Side
from ringtree.nccl.nccl_tests import DTYPE_BYTES, PRINTED_OPS

_LARGEST_FIGURE = 1e30
TIMES, WRONGS = ("time", "cputime"), ("#wrong", "error", "res")
TIMESTAMP = "timestamp"
_UNITS = {"i_cv%": 0.01}


@dataclass(frozen=True)
class SideColumns:
    """The columns of one measurement under the names that they were printed with; `place` as in Side."""

    place: str
    names: tuple[str, ...]

    @property
    def width(self) -> int:
        """Returns how many figures it has."""
        return len(self.names)


@dataclass(frozen=True)
class Layout:
    """`stated`: from a heading; else concluded. `has_places`, `has_units`: lines above and below the heading said so.

    `tail`: what follows the sides in a row (timestamp, algo, proto, nchannels). `time_unit`: seconds.
    """

    sides: tuple[SideColumns, ...]
    has_op: bool = True
    has_root: bool = True
    time_unit: float = MICROSECONDS
    tail: tuple[str, ...] = ()
    stated: bool = True
    has_units: bool = False
    has_places: bool = True

    @property
    def num_figures(self) -> int:
        """Returns how many figures a row has, not counting the root and the tail."""
        return sum(side.width for side in self.sides)

    @property
    def columns(self) -> dict[str, str]:
        """Returns the heading of each field of Side, as Table.columns holds it."""
        names = {_column(name, 0, 1.0).field: name for name in reversed(self.sides[0].names)}
        return {field: names[field] for field in ("time", "algbw", "busbw", "wrong") if field in names}

    def is_like(self, other: Layout) -> bool:
        """Says whether rows of both have the same columns, whatever the one of wrong elements is called."""
        mine, others = ((each.has_op, each.has_root, each.time_unit, each.num_figures) for each in (self, other))
        return mine == others

    @cached_property
    def _rows(self) -> RowColumns:
        lead = [Column(Cell.SIZE), Column(Cell.COUNT), Column(Cell.DTYPE)]
        lead += [Column(Cell.OP)] * self.has_op + [Column(Cell.ROOT)] * self.has_root
        sides = [_column(name, at, self.time_unit) for at, side in enumerate(self.sides) for name in side.names]
        tail = [Column(Cell.PASSED)] * 2 * len(self.tail)
        places = [side.place for side in self.sides]
        return RowColumns([*lead, *sides, *tail], places, dtypes=DTYPE_BYTES.keys(), ops=PRINTED_OPS, figure=_figure)

    @cached_property
    def make_row(self) -> MakeRow:
        """What makes the row of a line that holds it and nothing else; None: look closer."""
        return self._rows.quick if self._is_whole else lambda _text, _number: None

    def read(self, text: str, number: int) -> Row | None:
        """The same, also where make_row is not certain."""
        return self._rows.row(text.split(), number) if self._is_whole else None

    @cached_property
    def _is_whole(self) -> bool:
        """Whether all of a row has a width that is known: of what may follow only timestamps have."""
        return set(self.tail) <= {TIMESTAMP}

    def make_sides(self, figures: Sequence[str], how_many: int | None = None) -> tuple[Side, ...]:
        """Returns the sides, or the first ones, of their figures. Raises ValueError where one of them can't be."""
        return self._rows.sides(figures, how_many)


@lru_cache(maxsize=16)
def shared(layout: Layout) -> Layout:
    """Returns the layout that is like this one, if there was one, so that tables share what makes their rows."""
    return layout


def _column(name: str, side: int, time_unit: float) -> Column:
    if name in TIMES:
        return Column(Cell.TIME, side, time_unit)
    if name in ("algbw", "busbw"):
        return Column(Cell.ALGBW if name == "algbw" else Cell.BUSBW, side, GB_PER_SECOND)
    return Column(Cell.WRONG, side) if name in WRONGS else Column(Cell.OTHER, side, _UNITS.get(name, time_unit), name)


def _figure(column: Column, text: str) -> Printed | None:
    """Takes what the programs print. 0/0 and x/0 are printed as they are: no rate was measured."""
    if column.cell in (Cell.WRONG, Cell.OTHER):
        if text == NOT_CHECKED:
            return None
        float(text)
    elif not 0 <= float(text) < _LARGEST_FIGURE:
        return None
    return Printed(text, column.unit)
