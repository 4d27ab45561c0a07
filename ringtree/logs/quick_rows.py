"""Rows of the lines of a table, by its columns: the quick way, and the careful one that it must agree with.

For: every reader whose rows are words under headings. Not for: which words are headings, damaged lines (the readers).

Millions of rows may pass. `quick` takes nearly all of them: lines of nothing but blanks, plain numbers and known words.
Of any other it says nothing, and `row`, which is the reference, decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple, cast

from ringtree._core import RowMaker
from ringtree.logs.quantities import is_number
from ringtree.logs.records import Printed, Row, Side

Cell = RowMaker.Cell
MakeRow = Callable[[str, int], Row | None]
LARGEST = 2**63 - 1  # of a size or count
NOT_CHECKED = "N/A"
_MEASURED = {Cell.TIME: "time", Cell.ALGBW: "algbw", Cell.BUSBW: "busbw", Cell.WRONG: "wrong"}
_LEAD = (Cell.SIZE, Cell.COUNT, Cell.ROOT, Cell.DTYPE, Cell.OP)
_tuple = tuple.__new__  # a NamedTuple's own constructor takes three times as long


class Column(NamedTuple):
    """What stands in it. Of a figure: the side that it belongs to, by its place in the row; what one of its unit is;
    its name, if it is one of Side.others."""

    cell: RowMaker.Cell
    side: int = 0
    unit: float = 1.0
    name: str = ""

    @property
    def field(self) -> str:
        """The name of a figure in Table.columns, empty for what is none."""
        return self.name if self.cell is Cell.OTHER else _MEASURED.get(self.cell, "")


def plain_figure(column: Column, text: str) -> Printed:
    """Takes a finite number. Raises ValueError for anything else."""
    if not is_number(text):
        raise ValueError(text)
    return Printed(text, column.unit)


Figure = Callable[[Column, str], Printed | None]


class RowColumns:
    """`columns`: from the left, those of a side together; `places`: of the sides; `dtypes`, `ops`: the words that may
    stand in those columns; `dtype`, `op`: of all rows, where there is no such column; `figure`: takes a figure, and
    returns None for one that tells nothing."""

    def __init__(
        self,
        columns: Iterable[Column],
        places: Iterable[str] = ("",),
        *,
        dtypes: Collection[str] = (),
        ops: Collection[str] = (),
        dtype: str | None = None,
        op: str | None = None,
        figure: Figure = plain_figure,
    ) -> None:
        self._columns, self._places, self._figure = tuple(columns), tuple(places), figure
        self._dtypes, self._ops, self._dtype, self._op = dtypes, ops, dtype, op
        self._lead = [(at, one.cell) for at, one in enumerate(self._columns) if one.cell in _LEAD]
        self._figures = [at for at, one in enumerate(self._columns) if one.field]
        figures = [self._columns[at] for at in self._figures]
        self._sides = [[one for one in figures if one.side == side] for side in range(len(self._places))]

    @cached_property
    def quick(self) -> MakeRow:
        """Makes the Row of a line's text and number, or None where it is not certain that it is one."""
        columns = [RowMaker.Column(*one) for one in self._columns]
        types = [Row, Side, Printed]
        words = list(self._dtypes), list(self._ops)
        return cast(MakeRow, RowMaker(types, list(self._places), columns, *words, self._dtype, self._op).make)

    def row(self, words: Sequence[str], number: int) -> Row | None:
        """Makes the Row of a line's words, None if they are none."""
        if len(words) != len(self._columns):
            return None
        found: dict[RowMaker.Cell, int] = {}
        dtype, op = self._dtype, self._op
        try:
            for at, cell in self._lead:
                if cell is Cell.DTYPE:
                    dtype = _known(words[at], self._dtypes)
                elif cell is Cell.OP:
                    op = _known(words[at], self._ops)
                else:
                    found[cell] = _whole(words[at], -1 if cell is Cell.ROOT else 0)
            sides = self.sides([words[at] for at in self._figures])
        except ValueError:
            return None
        size, count, root = (found.get(cell) for cell in (Cell.SIZE, Cell.COUNT, Cell.ROOT))
        return _tuple(Row, (number, size, sides, count, dtype, op, root))

    def sides(self, figures: Sequence[str], how_many: int | None = None) -> tuple[Side, ...]:
        """Makes the sides of their figures, or the first ones. Raises ValueError where a figure or a time is none."""
        made, words = [], iter(figures)
        for place, columns in zip(self._places[:how_many], self._sides, strict=False):
            side: dict[str, Printed | None] = {}
            others = []
            for column, text in zip(columns, words, strict=False):
                figure = self._figure(column, text)
                if column.cell is Cell.OTHER and figure is not None:
                    others.append((column.name, figure))
                elif column.cell is Cell.TIME and figure is None:
                    raise ValueError(text)
                elif column.cell is not Cell.OTHER:
                    side[column.field] = figure
            time, algbw, busbw, wrong = (side.get(name) for name in _MEASURED.values())
            made.append(_tuple(Side, (place, time, algbw, busbw, wrong, tuple(others), ())))
        return tuple(made)


def _whole(word: str, least: int) -> int:
    value = int(word)
    if not least <= value <= LARGEST:
        raise ValueError(word)
    return value


def _known(word: str, words: Collection[str]) -> str:
    if word not in words:
        raise ValueError(word)
    return word
