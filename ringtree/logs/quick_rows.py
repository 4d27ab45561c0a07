"""The quick way from a plain line to a row, by the columns that its table has.

For: readers through whose tables rows pass by the million. Not for: lines that are anything but blanks, plain numbers
and known words: of these the maker says nothing, and the reader's own way, which is the reference, decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

from ringtree import _core
from ringtree.logs.records import Printed, Row, Side

Cell = _core.RowMaker.Cell
Column = _core.RowMaker.Column
MakeRow = Callable[[str, int], Row | None]


def row_maker(
    columns: Sequence[Column],
    places: Iterable[str] = ("",),
    *,
    dtypes: Iterable[str] = (),
    ops: Iterable[str] = (),
    dtype: str | None = None,
    op: str | None = None,
) -> MakeRow:
    """Returns what makes the Row of a line's text and number, or None where it is not certain that it is one.

    `columns`: from the left; `places`: of the sides that they belong to; `dtypes`, `ops`: the words that may stand in
    those columns; `dtype`, `op`: of all rows, where there is no such column.
    """
    maker = _core.RowMaker([Row, Side, Printed], list(places), list(columns), list(dtypes), list(ops), dtype, op)
    return cast(MakeRow, maker.make)
