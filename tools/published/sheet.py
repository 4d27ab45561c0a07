"""A published table as the page and its figures read it: rows by the names of their columns.

For: cells as printed, and what follows from them. Not for: limits of machines (hardware.py), words (published.md.j2).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ringtree.audit.claims.columns import base, column_formula
from ringtree.audit.claims.grid import Column, Grid, read_grid
from ringtree.stats.bandwidth import bus_factor


class Line:
    """One row: `line["size"]`, or `line.size` in a template, is the cell as printed; – for an empty one."""

    def __init__(self, sheet: Sheet, number: int) -> None:
        self._sheet, self._grid, self._number = sheet, sheet.grid, number

    def __getitem__(self, name: str) -> str:
        return self._grid.rows[self._number][self._sheet.column(name).place].strip() or "–"

    def value(self, name: str) -> float | None:
        """The number of a cell, in seconds or bytes/s where it is one of these."""
        return self._grid.value(self._number, self._sheet.column(name))

    def count(self, name: str) -> int | None:
        """The whole number that belongs to a row: of its ranks, its hosts."""
        return self._grid.count(self._number, name)

    @property
    def sizes(self) -> tuple[float, ...]:
        """What its size can mean in bytes, powers of 1024 first."""
        return self._grid.sizes(self._number)

    @property
    def bytes(self) -> float:
        return self.sizes[0]

    @property
    def binary(self) -> str:
        """Its size with the unit of powers of 1024."""
        return f"{self.bytes / 2**20:g} MiB" if self.bytes >= 1 << 20 else f"{self.bytes / 2**10:g} KiB"

    def rate(self, time: str) -> float | None:
        """Size over time in bytes/s, sizes in powers of 1024; None where one is missing."""
        found = base(self._grid, self._number, self._sheet.column(time))
        return None if found is None else found.middle

    def busbw(self, time: str, num_ranks: int | None = None) -> float | None:
        """The bus bandwidth of an all_reduce that took so long; the ranks are those of the row unless given."""
        rate = self.rate(time)
        return None if rate is None else rate * bus_factor("all_reduce", num_ranks or self.count("ranks") or 2)


class Sheet:
    """The table in `folder`. Raises FileNotFoundError if it is not there."""

    def __init__(self, folder: Path, name: str) -> None:
        found = read_grid(folder / name)
        if found is None:
            raise FileNotFoundError(f"{folder / name} holds no table")
        self.grid: Grid = found

    def __iter__(self) -> Iterator[Line]:
        return (Line(self, number) for number in range(len(self.grid.rows)))

    def column(self, name: str) -> Column:
        """The column of that heading."""
        return next(one for one in self.grid.columns if one.name == name)

    def by_bytes(self, name: str) -> dict[float, str]:
        """The cells of a column by the sizes of their rows."""
        return {line.bytes: line[name] for line in self}

    def mean(self, *names: str) -> float:
        """Of all numbers in these columns, empty ones as 0."""
        values = [line.value(name) or 0.0 for line in self for name in names]
        return sum(values) / len(values)

    def holds(self, rate: str, time: str, num_ranks: int | None = None) -> str:
        """In words, which formula a column of rates holds."""
        found = column_formula(self.grid, self.column(rate), self.column(time), num_ranks)
        if found is None or not found.sure:
            return "no formula that is known here"
        unit = "powers of 1024" if found.binary else "powers of 1000"
        return f"{found.words} in {found.num_explained} of {found.num_rows} rows, sizes as {unit}"
