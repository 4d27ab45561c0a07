"""One open table for each job: what readers share whose rows stand below headings of their own.

For: the readers of OSU's and Intel's benchmarks. Not for: what their lines mean, nccl-tests, of whose programs several
may write at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ringtree.logs.groups import add_row
from ringtree.logs.lines import Line
from ringtree.logs.quick_rows import MakeRow
from ringtree.logs.reading import Sink
from ringtree.logs.records import Row, Table


@dataclass
class OpenTable:
    """`prefix`: what stood before the title, and may stand before its other lines. `headings`: of the columns, empty
    until they came. `num_foreign`: lines of others since its last one. `make_row`: None when it is to be made anew."""

    table: Table
    title: Line
    prefix: str
    headings: Sequence[object] = ()
    num_foreign: int = 0
    num_rows: int = 0
    make_row: MakeRow | None = None


One = TypeVar("One", bound=OpenTable)


class OpenTables(ABC, Generic[One]):
    """The part of a RowReader that does not depend on the format."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._open: dict[str, One] = {}

    @property
    def is_open(self) -> bool:
        """As RowReader has it."""
        return bool(self._open)

    def expects_row(self, job: str) -> bool:
        """As RowReader has it."""
        one = self._open.get(job)
        return one is not None and bool(one.headings)

    def quick(self, text: str, job: str, number: int) -> bool:
        """As RowReader has it."""
        one = self._open.get(job)
        return one is not None and self._quick_row(one, text.removeprefix(one.prefix), number)

    @abstractmethod
    def _maker_for(self, one: One) -> MakeRow:
        """Returns what makes rows below the headings of a table."""

    def _quick_row(self, one: One, text: str, number: int) -> bool:
        if not one.headings:
            return False
        if one.make_row is None:
            one.make_row = self._maker_for(one)
        row = one.make_row(text, number)
        if row is None:
            return False
        self._add(one, row)
        one.num_foreign = 0
        return True

    def _add(self, one: One, row: Row) -> None:
        one.table = add_row(one.table, row, self._sink)
        one.num_rows += 1
