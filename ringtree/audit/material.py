"""What checks look at: the tables of a file, with what their figures can have been.

For: everything that more than one check wants of a table. Not for: judging it (checks/), reading it (ringtree.logs).

What a log states and what its reader concluded are kept apart: a number of ranks that was derived from busbw/algbw
can't confirm busbw/algbw.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ringtree.audit import reformatted
from ringtree.audit.factors import COLLECTIVES
from ringtree.audit.intervals import Interval
from ringtree.audit.links import Links
from ringtree.audit.setup import Setup
from ringtree.logs import Basis, Document, Fact, Inference, Printed, Row, Side, Skipped, Table
from ringtree.logs.words import element_bytes
from ringtree.traits import BLOCKED, REDUCING, ROOTED

# A size that may have been rounded was not if it is a multiple of _WHOLE.
_WHOLE, _ROUNDED = 512, 0.01


class Point(NamedTuple):
    """One measurement of a row. `base`: size/time in bytes/s; None where a size or time is missing or 0."""

    row: Row
    side: Side
    time: Interval | None
    base: Interval | None
    algbw: Interval | None
    busbw: Interval | None


class Subject:
    """One table under audit. `whole`: it was not cut into several, so that sums over it mean something.

    `links`: of topologies in the same file, known once it has been read.
    """

    def __init__(self, file: str, table: Table, setup: Setup, whole: bool = True, links: Links | None = None) -> None:
        self.file = file
        self.table = table
        self.setup = setup
        self.whole = whole
        self.links = links
        self._half_widths: dict[str, float] = {}  # of columns of tables that may have been reformatted

    @cached_property
    def points(self) -> list[Point]:
        """Every measurement, by rows and sides."""
        sizes = [self.size(row) for row in self.table.rows]
        return [
            self._point(row, side, size) for row, size in zip(self.table.rows, sizes, strict=True) for side in row.sides
        ]

    def _point(self, row: Row, side: Side, size: Interval | None) -> Point:
        time = self.interval(side.time, "time")
        base = size.over(time) if time is not None and time.high > 0 and size is not None else None
        return Point(row, side, time, base, self.interval(side.algbw, "algbw"), self.interval(side.busbw, "busbw"))

    def interval(self, printed: Printed | None, column: str) -> Interval | None:
        """Returns what a figure of a column (time, algbw, busbw or the name of another rate) can have been."""
        if Fact.RETYPED not in self.table.format.facts:
            return Interval.of(printed)
        half = self._half_widths.get(column)
        if half is None:
            sides = (side for row in self.table.rows for side in row.sides)
            half = reformatted.half_width((_of_column(side, column) for side in sides), is_rate=column != "time")
            self._half_widths[column] = half
        return reformatted.interval(printed, half)

    def size(self, row: Row) -> Interval | None:
        """Returns the size that belongs to size/time: all ranks' blocks together, and as exact as it was printed."""
        if not row.size_bytes:
            return None
        if Fact.EXACT_SIZES not in self.table.format.facts and row.size_bytes % _WHOLE:
            size = Interval(row.size_bytes * (1 - _ROUNDED), row.size_bytes * (1 + _ROUNDED))
        else:
            size = Interval.exactly(row.size_bytes)
        blocks = self.table.size_means.total_bytes(1, self.num_ranks)
        return None if blocks is None else size.times(blocks)

    def inferred(self, what: str) -> Inference | None:
        """Returns how the reader came to a field that the log does not state, None if it is stated (or unknown)."""
        return next((one for one in self.table.inferences if one.what == what), None)

    @cached_property
    def collectives(self) -> tuple[str, ...]:
        """What it may have been: the one that is stated, else all that its columns allow."""
        stated = self.table.collective
        if stated is not None and self.inferred("collective") is None:
            return (stated,)
        return tuple(dict.fromkeys([*([stated] if stated else []), *_allowed(self)]))

    @cached_property
    def collective(self) -> str | None:
        """The one collective that it can have been, None if there are several."""
        return self.collectives[0] if len(self.collectives) == 1 else None

    @cached_property
    def num_ranks(self) -> int | None:
        """The number of ranks that is stated, or follows from anything but its bandwidths."""
        if self.setup.num_ranks is not None:
            return self.setup.num_ranks
        how = self.inferred("num_ranks")
        known = None if how is not None and how.basis is Basis.BANDWIDTHS else self.table.num_ranks
        # A size of several counts is that of as many blocks, one a rank.
        return self.blocks if known is None and self.blocks is not None and self.blocks > 1 else known

    @cached_property
    def element_bytes(self) -> int | None:
        """The bytes of an element, if all rows have the same."""
        found = {element_bytes(row.dtype) for row in self.table.rows if row.dtype is not None}
        return found.pop() if len(found) == 1 else None

    @cached_property
    def blocks(self) -> int | None:
        """size / (count × bytes of an element), if it is the same whole number in all rows: 1, or the ranks."""
        found = set(self.quotients.values())
        return round(found.pop()) if len(found) == 1 and min(found).is_integer() else None

    @cached_property
    def quotients(self) -> dict[Row, float]:
        """size / (count × bytes of an element) of each row that has all three."""
        widths = ((row, element_bytes(row.dtype)) for row in self.table.rows if row.count and row.size_bytes)
        return {row: (row.size_bytes or 0) / ((row.count or 0) * width) for row, width in widths if width is not None}

    def setting(self, name: str) -> int | None:
        """The whole number that a setting is, if it is one."""
        text = self.table.settings.get(name, "")
        return int(text) if text.isdecimal() else None

    @cached_property
    def is_one_rank(self) -> bool:
        """Whether nothing was sent: one rank is stated, or every busbw is 0 where algbw is not."""
        if self.num_ranks == 1:
            return True
        rates = [(one.algbw, one.busbw) for one in self.points if one.algbw is not None and one.busbw is not None]
        # A busbw that is printed as 0.00 beside an algbw of 1 GB/s or more is 0, whatever the number of ranks.
        large = [busbw for algbw, busbw in rates if algbw.low > 1e9]
        return bool(large) and all(busbw.low == 0 for busbw in large)


@dataclass
class Material:
    """One file under audit."""

    file: str
    subjects: list[Subject] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def _of_column(side: Side, column: str) -> Printed | None:
    known = {"time": side.time, "algbw": side.algbw, "busbw": side.busbw}
    return known[column] if column in known else dict(side.others).get(column)


def _allowed(subject: Subject) -> tuple[str, ...]:
    """Returns the collectives that operation, root and count leave."""
    rows = subject.table.rows
    ops = {row.op.lower() for row in rows if row.op is not None}
    roots = {row.root for row in rows if row.root is not None}
    reduces = bool(ops) and "none" not in ops
    copies = ops == {"none"}
    rooted = bool(roots) and min(roots) >= 0
    unrooted = roots == {-1}

    def refuted(name: str) -> bool:
        # What goes from rank to rank may be printed with an operation and a root, or without.
        lacks = name != "send_recv" and ((reduces and name not in REDUCING) or (rooted and name not in ROOTED))
        has = (copies and name in REDUCING) or (unrooted and name in ROOTED)
        return lacks or has or _refuted_by_count(name, subject.blocks, subject.num_ranks)

    return tuple(name for name in COLLECTIVES if not refuted(name))


def _refuted_by_count(collective: str, blocks: int | None, num_ranks: int | None) -> bool:
    if blocks is None or collective in ("gather", "scatter"):
        return False
    in_blocks = collective in BLOCKED
    return not in_blocks if blocks > 1 else in_blocks and num_ranks != 1
