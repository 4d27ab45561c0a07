"""Rows of one source that belong to several tables: which is which, with a bound on what is kept.

For: tables whose rows are told apart by their cells (collective, ranks, algorithm). Not for: what the cells mean.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

from ringtree.logs.reading import Sink
from ringtree.logs.records import MAX_ROWS, Row, Table


def add_row(table: Table, row: Row, sink: Sink) -> Table:
    """Puts a row into an open table. Returns the table for the next row: another one like it if this one was full and
    given away."""
    if len(table.rows) >= MAX_ROWS:
        rest = replace(table, rows=[], first_line=row.line, inferences=list(table.inferences))
        table.continued = True
        sink.emit(table)
        table = rest
    table.rows.append(row)
    table.last_line = row.line
    return table


class Groups:
    """Tables that are open, in the order of their first rows. All go away together once they hold MAX_ROWS rows."""

    def __init__(self, sink: Sink, complete: Callable[[Table], None] | None = None) -> None:
        """`complete` gets each table before it is given away."""
        self._sink = sink
        self._complete = complete
        self._tables: dict[Hashable, Table] = {}
        self._num_open = 0
        self.num_rows = 0  # that are kept or were given away

    def add(self, key: Hashable, row: Row, make: Callable[[], Table]) -> None:
        """Puts the row into the table of its key, which `make` begins if need be."""
        if self._num_open >= MAX_ROWS:
            self.flush(continued=True)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = make()
            table.first_line = table.first_line or row.line
        table.rows.append(row)
        table.last_line = max(table.last_line, row.line)
        self._num_open += 1
        self.num_rows += 1

    def flush(self, continued: bool = False) -> None:
        """Gives all tables away. `continued`: the source is not over."""
        for table in self._tables.values():
            table.continued = continued
            if self._complete is not None:
                self._complete(table)
            self._sink.emit(table)
        self._num_open = 0
        self._tables.clear()
