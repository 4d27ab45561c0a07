"""Lines of a file that is a table as a whole, and their cells.

For: readers of CSV and TSV files. Not for: text with other things between tables (lines.py).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import BinaryIO

from ringtree.logs.lines import TOO_LONG, raw_lines
from ringtree.logs.reading import Sink

COMMENT = "#"
_DELIMITERS = ("\t", ",", ";")


def data_lines(source: BinaryIO, sink: Sink) -> Iterator[tuple[int, str]]:
    """Yields (number, text) of the lines that are neither empty nor comments."""
    source.seek(0)  # a collector's comments are comments, and their lines count
    for number, text in raw_lines(source, lambda number: sink.skip(TOO_LONG, number, "")):
        if text and not text.isspace() and not text.startswith(COMMENT):
            yield number, text


def first_lines(head: str, count: int) -> list[str]:
    """Returns the first lines of a file's beginning that data_lines would give, without a last one that may be cut."""
    whole = head if len(head) < 60_000 else head[: head.rfind("\n") + 1]
    lines = []
    for line in whole.split("\n", 1000):
        line = line.rstrip("\r")
        if line and not line.isspace() and not line.startswith(COMMENT):
            lines.append(line)
            if len(lines) == count:
                break
    return lines


def delimiter_of(line: str) -> str | None:
    """Returns what separates the cells of a heading: a tab, else a comma, else a semicolon; None if nothing does."""
    return next((one for one in _DELIMITERS if one in line), None)


def cells_of(line: str, delimiter: str) -> list[str] | None:
    """Returns the cells, with quotes resolved; None if the quotes are wrong."""
    if '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration):
        return None
