"""The columns of a table, and rows made from figures by them.

For: which figure of a row is what, in which unit; the quick way from a line to a row. Not for: finding rows in damaged
lines (scan.py), headings (headings.py).

Millions of rows may pass: `Layout.make_row` takes nearly all of them; `Layout.read` says the same more slowly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from ringtree.logs.nccltests.names import DTYPE_BYTES, OPS
from ringtree.logs.quick_rows import Cell, Column, MakeRow, row_maker
from ringtree.logs.records import GB_PER_SECOND, MICROSECONDS, Printed, Row, Side

LARGEST = 2**63 - 1  # of a size or count: what the programs' size_t can sensibly hold
_LARGEST_FIGURE = 1e30
NOT_CHECKED = "N/A"
TIMES, WRONGS = ("time", "cputime"), ("#wrong", "error", "res")
TIMESTAMP = "timestamp"
_PERCENT = 0.01
_UNITS = {"i_cv%": _PERCENT}
_tuple = tuple.__new__


@dataclass(frozen=True)
class SideColumns:
    """The columns of one measurement under the names that they were printed with; `place` as in Side."""

    place: str
    names: tuple[str, ...]

    @property
    def width(self) -> int:
        """Returns how many figures it has."""
        return len(self.names)


class _Plan(NamedTuple):
    """Where in a side's figures each one stands; wrong -1: there is none."""

    place: str
    width: int
    time: int
    algbw: int
    busbw: int
    wrong: int
    others: tuple[tuple[str, int, float], ...]


@dataclass
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
    _plans: tuple[_Plan, ...] = field(init=False, repr=False, compare=False)
    _num_tokens: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._plans = tuple(_plan(side, self.time_unit) for side in self.sides)
        quick = all(name == TIMESTAMP for name in self.tail)
        lead = 3 + self.has_op + self.has_root
        self._num_tokens = lead + self.num_figures + 2 * len(self.tail) if quick else -1

    @property
    def num_figures(self) -> int:
        """Returns how many figures a row has, not counting the root and the tail."""
        return sum(side.width for side in self.sides)

    @property
    def columns(self) -> dict[str, str]:
        """Returns the heading of each field of Side, as Table.columns holds it."""
        names = self.sides[0].names
        found = {}
        for field_name, spellings in (("time", TIMES), ("algbw", ("algbw",)), ("busbw", ("busbw",)), ("wrong", WRONGS)):
            heading = next((name for name in names if name in spellings), None)
            if heading is not None:
                found[field_name] = heading
        return found

    def is_like(self, other: Layout) -> bool:
        """Says whether rows of both have the same columns, whatever the one of wrong elements is called."""
        mine, others = ((each.has_op, each.has_root, each.time_unit, each.num_figures) for each in (self, other))
        return mine == others

    @cached_property
    def make_row(self) -> MakeRow:
        """What makes the row of a line that holds it and nothing else; None: look closer."""
        if self._num_tokens < 0:
            return _no_row
        lead = [Column(Cell.SIZE), Column(Cell.COUNT), Column(Cell.DTYPE)]
        lead += [Column(Cell.OP)] * self.has_op + [Column(Cell.ROOT)] * self.has_root
        sides = [column for side, plan in enumerate(self._plans) for column in _columns(plan, side, self.time_unit)]
        tail = [Column(Cell.PASSED)] * 2 * len(self.tail)
        places = [plan.place for plan in self._plans]
        return row_maker([*lead, *sides, *tail], places, dtypes=DTYPE_BYTES, ops=OPS)

    def read(self, text: str, number: int) -> Row | None:
        """Returns the row that an undamaged line holds and nothing else, also where make_row is not certain."""
        tokens = text.split()
        if len(tokens) != self._num_tokens or tokens[2] not in DTYPE_BYTES:
            return None
        at = 3
        op = root = None
        try:
            size, count = int(tokens[0]), int(tokens[1])
            if self.has_op:
                op = tokens[3]
                if op not in OPS:
                    return None
                at = 4
            if self.has_root:
                root = int(tokens[at])
                at += 1
            sides = self.make_sides(tokens, at)
        except ValueError:
            return None
        if sides is None or not 0 <= size <= LARGEST or not 0 <= count <= LARGEST:
            return None
        return _tuple(Row, (number, size, sides, count, tokens[2], op, root))

    def make_sides(self, figures: Sequence[str], at: int = 0, how_many: int | None = None) -> tuple[Side, ...] | None:
        """Returns the sides whose figures begin at index `at`; None, or ValueError, where one of them can't be."""
        sides = []
        for plan in self._plans if how_many is None else self._plans[:how_many]:
            place, width, i_time, i_algbw, i_busbw, i_wrong, others = plan
            time = _measured(figures[at + i_time], self.time_unit)
            if time is None:
                return None
            # 0/0 and x/0 are printed as they are: no rate was measured.
            algbw = _measured(figures[at + i_algbw], GB_PER_SECOND)
            busbw = _measured(figures[at + i_busbw], GB_PER_SECOND)
            wrong = None
            if i_wrong >= 0 and (text := figures[at + i_wrong]) != NOT_CHECKED:
                float(text)
                wrong = Printed(text)
            more = _others(plan, figures, at) if others else ()
            sides.append(_tuple(Side, (place, time, algbw, busbw, wrong, more, ())))
            at += width
        return tuple(sides)


def _measured(text: str, unit: float) -> Printed | None:
    """Returns a figure; None for what can't be measured, ValueError for what is no number."""
    return Printed(text, unit) if 0 <= float(text) < _LARGEST_FIGURE else None


@lru_cache(maxsize=64)  # each table of a log has the same columns
def _plan(side: SideColumns, time_unit: float) -> _Plan:
    where = {name: index for index, name in enumerate(side.names)}
    time = next((where[name] for name in TIMES if name in where), 0)
    wrong = next((where[name] for name in WRONGS if name in where), -1)
    taken = {time, wrong, where["algbw"], where["busbw"]}
    others = tuple(
        (name, index, _UNITS.get(name, time_unit)) for index, name in enumerate(side.names) if index not in taken
    )
    return _Plan(side.place, side.width, time, where["algbw"], where["busbw"], wrong, others)


def _columns(plan: _Plan, side: int, time_unit: float) -> list[Column]:
    """The columns of a side, from the left."""
    found = [Column(Cell.OTHER, side)] * plan.width
    found[plan.time] = Column(Cell.TIME, side, time_unit)
    found[plan.algbw] = Column(Cell.ALGBW, side, GB_PER_SECOND)
    found[plan.busbw] = Column(Cell.BUSBW, side, GB_PER_SECOND)
    if plan.wrong >= 0:
        found[plan.wrong] = Column(Cell.WRONG, side)
    for name, index, unit in plan.others:
        found[index] = Column(Cell.OTHER, side, unit, name)
    return found


def _no_row(_text: str, _number: int) -> Row | None:
    return None


def _others(plan: _Plan, figures: Sequence[str], at: int) -> tuple[tuple[str, Printed], ...]:
    found = []
    for name, index, unit in plan.others:
        text = figures[at + index]
        if text != NOT_CHECKED:
            float(text)
            found.append((name, Printed(text, unit)))
    return tuple(found)
