"""A published table as cells with units: what a sentence is held against.

For: reading the file that a sentence names, and telling sizes, times, rates and labels apart by headings and cells.
Not for: logs with set-up and provenance (ringtree.logs), finding the cells that a sentence means (lookup.py).

Reads CSV, tables of Markdown, and columns of text under a commented heading, as nccl-tests prints them. Any cell may be
empty, and nothing in a file is an error: what is no number stays a label.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ringtree.audit.claims.quantities import Quantity, quantities
from ringtree.audit.intervals import Interval
from ringtree.logs import Printed

MAX_BYTES = 4 << 20
MAX_ROWS = 20_000
MAX_COLUMNS = 200

# Endings of headings that name a unit: kind and what one of it is in seconds, bytes/s or bytes.
_HEADING_UNITS = (
    (r"tokens?_per_s(?:ec(?:ond)?)?|tokens/s|samples_per_s", "throughput", 1.0),
    (r"GBps|GB/s|GB_per_s|\(GB/s\)", "rate", 1e9),
    (r"MBps|MB/s", "rate", 1e6),
    (r"Gbps|Gb/s|Gbit/s", "rate", 1e9 / 8),
    (r"_us|\(us\)|_µs", "time", 1e-6),
    (r"_ms|\(ms\)", "time", 1e-3),
    (r"_s|_seconds|\(s\)", "time", 1.0),
)
_COUNTS = {"nodes": "hosts", "hosts": "hosts", "gpus": "ranks", "ranks": "ranks", "nranks": "ranks", "world": "ranks"}
_RUNS = frozenset(("runs", "launches", "repeats", "repetitions"))
# Words of a heading that say of what kind a column is, not whose it is.
_NOT_A_SUBJECT = frozenset(
    [
        "avg",
        "mean",
        "median",
        "min",
        "max",
        "time",
        "bw",
        "bandwidth",
        "as",
        "published",
        "gbps",
        "mbps",
        "ms",
        "us",
        "s",
        "per",
        "sec",
        "second",
        "seconds",
        "tokens",
        "size",
        "message",
        "payload",
        "rate",
        "throughput",
        "in",
        "out",
        "of",
        "place",
        "b",
        "gb",
    ]
)
_SIZE_HEADING = re.compile(r"(?:message |msg )?(?:size|payload|bytes)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    """`kind`: size, time, rate, throughput, ranks, hosts, runs, factor, percent, number or label. `scale`: what one of
    the heading's unit is (cells may name their own). `subject`: the words that say whose column it is."""

    place: int
    name: str
    kind: str
    scale: float
    subject: frozenset[str]

    @property
    def lower_is_better(self) -> bool:
        """Whether less of it is better."""
        return self.kind == "time"


@dataclass(frozen=True)
class Grid:
    """A table. `rows`: the cells as text, all of the same length."""

    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns by what their headings and cells say."""
        return tuple(
            _column(index, name, [row[index] for row in self.rows if row[index].strip()])
            for index, name in enumerate(self.headings)
        )

    def of_kind(self, *kinds: str) -> list[Column]:
        """The columns of one of `kinds`."""
        return [column for column in self.columns if column.kind in kinds]

    def printed(self, row: int, column: Column) -> Printed | None:
        """The number in a cell, in seconds, bytes/s, a count …; None for an empty cell or one that is no number."""
        return printed_number(self.rows[row][column.place], column.scale)

    def value(self, row: int, column: Column) -> float | None:
        """The same as a float."""
        printed = self.printed(row, column)
        return None if printed is None else printed.value

    def interval(self, row: int, column: Column) -> Interval | None:
        """What the number in a cell can have been."""
        return Interval.of(self.printed(row, column))

    def sizes(self, row: int) -> tuple[float, ...]:
        """What the row's size can be in bytes, powers of 1024 first; empty if it has none."""
        for column in self.of_kind("size"):
            text = self.rows[row][column.place].strip()
            if re.fullmatch(r"\d+", text):
                return (float(text),)
            found = [one for one in quantities(text) if one.kind == "size"]
            if len(found) == 1:
                return found[0].sizes
        return ()

    def count(self, row: int, kind: str) -> int | None:
        """Ranks, hosts or runs of a row, None if there is no such column."""
        for column in self.of_kind(kind):
            value = self.value(row, column)
            if value is not None and 0 < value < 1e9:
                return round(value)
        return None


def read_grid(path: Path) -> Grid | None:
    """The table in a file; None if there is none that can be read."""
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    lines = text.lstrip("\ufeff").splitlines()
    table = _markdown(lines) or _text_columns(lines) or _comma_separated(lines)
    if table is None:
        return None
    headings, rows = table
    width = min(len(headings), MAX_COLUMNS)
    cells = tuple(tuple((row + [""] * width)[:width]) for row in rows[:MAX_ROWS])
    return Grid(path.name, tuple(headings[:width]), cells)


def printed_number(text: str, scale: float) -> Printed | None:
    """A cell that is one number, with or without a unit of its own; None for others."""
    text = text.strip().replace(",", "")
    if re.fullmatch(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", text):
        return Printed(text, scale)
    found: list[Quantity] = quantities(text)
    number = re.match(r"\d+(?:\.\d+)?", text)
    if len(found) != 1 or found[0].span != (0, len(text)) or found[0].kind == "size" or number is None:
        return None
    return Printed(number[0], found[0].unit)


def _column(index: int, name: str, cells: list[str]) -> Column:
    words = re.findall(r"[a-z]+\d*|\d+", name.lower())
    subject = frozenset(words) - _NOT_A_SUBJECT
    kind, scale = _kind(name.strip(), words, cells)
    return Column(index, name, kind, scale, subject)


def _kind(name: str, words: list[str], cells: list[str]) -> tuple[str, float]:
    if words and words[0] in _RUNS:
        return "runs", 1.0
    if name.lower() in _COUNTS:
        return _COUNTS[name.lower()], 1.0
    sizes = [cell for cell in cells if [one.kind for one in quantities(cell)] == ["size"]]
    if _SIZE_HEADING.match(name.replace("_", " ")) and (sizes or all(cell.strip().isdigit() for cell in cells)):
        return "size", 1.0
    for pattern, kind, scale in _HEADING_UNITS:
        if re.search(rf"(?:{pattern})$", name, re.IGNORECASE if kind == "throughput" else 0):
            return kind, scale
    own = {one.kind for cell in cells for one in quantities(cell)[:1]}
    if len(own) == 1 and all(printed_number(cell, 1.0) is not None for cell in cells):
        kind = own.pop()
        return ("number" if kind == "count" else kind), 1.0
    return "label", 1.0


def _comma_separated(lines: list[str]) -> tuple[list[str], list[list[str]]] | None:
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    try:
        rows = list(csv.reader(io.StringIO("\n".join(lines))))
    except csv.Error:
        return None
    return (rows[0], rows[1:]) if len(rows) > 1 and len(rows[0]) > 1 else None


def _markdown(lines: list[str]) -> tuple[list[str], list[list[str]]] | None:
    for index in range(len(lines) - 1):
        if lines[index].lstrip().startswith("|") and re.fullmatch(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*", lines[index + 1]):
            rows = []
            for line in lines[index + 2 :]:
                if not line.lstrip().startswith("|"):
                    break
                rows.append(_cells(line))
            return _cells(lines[index]), rows
    return None


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _text_columns(lines: list[str]) -> tuple[list[str], list[list[str]]] | None:
    """Columns under a heading in a comment: "# size count type … time algbw busbw #wrong time algbw busbw #wrong"."""
    for index, line in enumerate(lines):
        words = line.lstrip("#").split()
        if line.startswith("#") and {"size", "time", "algbw", "busbw"} <= set(words):
            rows = [row.split() for row in lines[index + 1 :] if re.match(r"\s*\d", row)]
            rows = [row for row in rows if len(row) == len(words)]
            return (_with_units(words), rows) if rows else None
    return None


def _with_units(words: list[str]) -> list[str]:
    units = {"time": "time_us", "algbw": "algbw_GBps", "busbw": "busbw_GBps"}
    seen: dict[str, int] = {}
    headings = []
    for word in words:
        seen[word] = seen.get(word, 0) + 1
        side = {1: "", 2: "in place "}.get(seen[word], f"{seen[word]} ") if words.count(word) > 1 else ""
        headings.append(side + units.get(word, word))
    return headings
