"""Which cells of the table a sentence means.

For: rows by the sizes, counts and labels that it names, columns by their subjects; how numbers are written in reasons.
Not for: what follows from the cells (the forms).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ringtree.audit.claims import words
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.grid import Column, Grid
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.size_ranges import same_size, size_range


@dataclass(frozen=True)
class Cell:
    """A value of the table, and the quantities of the sentence that led to it."""

    row: int
    column: Column
    value: float
    used: tuple[Quantity, ...] = ()


@dataclass(frozen=True)
class Rows:
    """Rows that a sentence can mean, and the quantities of the sentence that chose them. `unclear`: why the sizes that
    it names choose none; then there are no rows."""

    rows: tuple[int, ...]
    used: tuple[Quantity, ...]
    unclear: str = ""


def rows_for(claim: Claim, text: str | None = None, given: list[Quantity] | None = None) -> Rows:
    """The rows whose size, ranks, hosts and labels agree with the sentence (or the part `text` of it, and `given`).

    What the sentence does not name does not restrict. A count or one size that no row has restricts nothing and is not
    used; a range of sizes in which no row lies is unclear.
    """
    grid = claim.grid
    if grid is None:
        return Rows((), ())
    rows = list(range(len(grid.rows)))
    used: list[Quantity] = []
    named = claim.quantities if given is None else given
    sizes = [one for one in named if one.kind == "size"]
    if sizes and grid.of_kind("size"):
        found = _of_sizes(claim.text, grid, rows, sizes)
        if found.unclear:
            return found
        rows, used = list(found.rows), list(found.used)
    for one in named:
        kept = [row for row in rows if _fits(grid, row, one)]
        if kept and one.low == one.high:
            rows = kept
            used.append(one)
    rows = _by_labels(grid, rows, claim.text if text is None else text)
    return Rows(tuple(rows), tuple(used))


def columns_for(grid: Grid, text: str, kinds: tuple[str, ...]) -> list[Column]:
    """The columns of `kinds` whose subject `text` names; of those, the ones of which it names most."""
    said = words.tokens(text)
    matched = [column for column in grid.of_kind(*kinds) if column.subject and column.subject <= said]
    most = max((len(column.subject) for column in matched), default=0)
    return [column for column in matched if len(column.subject) == most]


def label_of(grid: Grid, row: int) -> str:
    """The row's labels, size and counts, for people."""
    shown = [
        grid.rows[row][column.place].strip()
        if column.kind in ("label", "size")
        else f"{grid.rows[row][column.place]} {column.name}"
        for column in grid.columns
        if column.kind in ("label", "size", "hosts") and grid.rows[row][column.place].strip()
    ]
    return ", ".join(shown[:4])


def sizes_not_found(claim: Claim, found: Rows) -> str:
    """Why the sizes of the sentence don't lead to rows, empty if they do."""
    if found.unclear or claim.grid is None or not claim.grid.of_kind("size"):
        return found.unclear
    missing = [one.text for one in claim.of_kind("size") if one not in found.used]
    return f"the table has no row of {', '.join(missing)}" if missing else ""


def time_of(claim: Claim) -> Cell | None:
    """The one time that the sentence's subject and size lead to."""
    grid = claim.grid
    if grid is None or not grid.of_kind("time"):
        return None
    columns = columns_for(grid, claim.text, ("time",)) or (
        grid.of_kind("time") if len(grid.of_kind("time")) == 1 else []
    )
    found = rows_for(claim)
    cells = [
        Cell(row, column, value, found.used)
        for row in found.rows
        for column in columns
        if (value := grid.value(row, column)) is not None
    ]
    return cells[0] if len(cells) == 1 else None


def time_column(grid: Grid, rate: Column) -> Column | None:
    """The time that belongs to a column of rates: of the same subject, or the last one left of it if it has none."""
    times = grid.of_kind("time")
    rates = grid.of_kind("rate")
    same = [column for column in times if column.subject == rate.subject]
    if len(same) == 1:
        return same[0]
    if {"algbw", "busbw"} & rate.subject or len(rates) == 1:
        left = [column for column in times if column.place < rate.place]
        return left[-1] if left else None
    return None


def seconds(value: float) -> str:
    """A time for people: 60.3 us, 1.81 ms."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= factor or unit == "us":
            return f"{number(value / factor)} {unit}"
    return ""


def gigabytes(rate: float) -> str:
    """A rate in GB/s with four significant digits or its whole part."""
    return number(rate / 1e9)


def number(value: float) -> str:
    """Four significant digits, or all before the point."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _of_sizes(text: str, grid: Grid, rows: list[int], sizes: list[Quantity]) -> Rows:
    meant = size_range(text, sizes)
    if meant.unclear:
        return Rows((), (), meant.unclear)
    inside = {row: meant.has(grid.sizes(row)) for row in rows}
    if None in inside.values():
        return Rows(
            (), (), "whether a row lies in the range depends on whether K, M and G are powers of 1024 or of 1000"
        )
    kept = tuple(row for row in rows if inside[row])
    if kept:
        listed = [one for one in sizes if any(same_size(one.sizes, grid.sizes(row)) for row in kept)]
        return Rows(kept, tuple(sizes if meant.bounds else listed))
    if meant.bounds:
        return Rows((), (), "the table has no size in the range that it names")
    return Rows(tuple(rows), ())


def _fits(grid: Grid, row: int, one: Quantity) -> bool:
    return one.kind == "count" and one.noun in ("ranks", "hosts") and grid.count(row, one.noun) == one.count


def _by_labels(grid: Grid, rows: list[int], text: str) -> list[int]:
    """Of `rows` those whose labels share most words with the text, among words that tell labels apart."""
    said = words.tokens(text)
    for column in grid.of_kind("label"):
        labels = {row: words.tokens(grid.rows[row][column.place]) for row in rows}
        everywhere = frozenset.intersection(*labels.values()) if labels else frozenset()
        score = {row: len((label - everywhere) & said & _telling(label)) for row, label in labels.items()}
        best = max(score.values(), default=0)
        if best > 0:
            rows = [row for row in rows if score[row] == best]
    return rows


def _telling(label: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in label if not re.fullmatch(r"\d+|via|of|in|on|the|and|b", word))
