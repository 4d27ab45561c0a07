"""CSV and TSV files with headings that can be understood.

For: files that people export: size,ring_time,tree_time and the like. Not for: files of programs with a form of their
own (logs/aiconfigurator.py, which is asked first).
"""

from __future__ import annotations

import re
from typing import BinaryIO

from ringtree.logs.data_lines import cells_of, data_lines, delimiter_of, first_lines
from ringtree.logs.reading import Context, Sink, UnreadableFileError
from ringtree.logs.records import Fact, Format, RowReason, Table
from ringtree.logs.tables.caption import Caption
from ringtree.logs.tables.choose import TableRows

FORMAT = Format("csv", Fact.RETYPED)
OTHER_LENGTH = RowReason("a line with another number of cells than the headings")
_MAX_CELLS = 500
_LINES = 3
_TITLE = re.compile(r"[^\W\d_][\w %/().#+:@-]{0,60}")


class CsvFile:
    """The first line that is not a comment has the headings."""

    def sniff(self, head: str) -> bool:
        """Two or more headings that are names, and rows below them with as many cells."""
        lines = first_lines(head, _LINES)
        delimiter = delimiter_of(lines[0]) if len(lines) > 1 else None
        if delimiter is None:
            return False
        rows = [cells_of(line, delimiter) for line in lines]
        titles = rows[0]
        return (
            titles is not None
            and 2 <= len(titles) <= _MAX_CELLS
            and all(_TITLE.fullmatch(title.strip()) is not None for title in titles)
            and len({title.strip() for title in titles}) == len(titles)
            and all(row is not None and len(row) == len(titles) for row in rows[1:])
        )

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Reads all lines. Raises UnreadableFileError if none is a row."""
        lines = data_lines(source, sink)
        first_number, first = next(lines, (0, ""))
        delimiter = delimiter_of(first)
        titles = cells_of(first, delimiter) if delimiter is not None else None
        if delimiter is None or titles is None:
            raise UnreadableFileError("its first line is not a heading")
        rows = TableRows(
            [title.strip() for title in titles], lambda first: Caption(), lambda: Table(FORMAT, first_number), sink
        )
        num_rows = 0
        for number, line in lines:
            cells = cells_of(line, delimiter)
            if cells is None or len(cells) != len(titles):
                sink.skip(OTHER_LENGTH, number, line)
            else:
                num_rows += 1
                rows.add(number, line, cells)
        if num_rows == 0:
            raise UnreadableFileError("no line has as many cells as the headings")
        rows.finish()
