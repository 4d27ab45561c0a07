"""What a statement is judged with: the cells that it names, the ranks, hosts and limits of its runs.

For: the kinds. Not for: reading tables (grid.py), rates of hardware (ringtree.hardware), the audit's rules.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from ringtree.audit.claims.amounts import Amount
from ringtree.audit.claims.grid import Column, Grid, read_grid
from ringtree.audit.claims.statement import Runs, Setup, TableCell, UndecidedError
from ringtree.audit.claims.written import quantity
from ringtree.audit.machine import machine_for
from ringtree.audit.setup import Setup as AuditSetup
from ringtree.hardware import Gpu, Limit, highest, load_catalogue, match_gpu
from ringtree.logs.tables.headings import Kind

_HEADED = {Kind.ALGBW: "algbw", Kind.BUSBW: "busbw"}


class Found(NamedTuple):
    """A cell with its number."""

    grid: Grid
    row: int
    column: Column
    value: float

    @property
    def label(self) -> str:
        """Row and column, for people."""
        return f"{self.grid.label(self.row)}, {self.column.name}"

    @property
    def shown(self) -> str:
        """The number with its unit."""
        return quantity(self.value, self.column.kind)

    @property
    def headed(self) -> str | None:
        """algbw or busbw, if the heading says so."""
        return _HEADED.get(self.column.heading.kind)

    def agrees(self, stated: Amount) -> bool:
        """Whether somebody who saw the cell could have stated this. Raises UndecidedError for another unit."""
        if (stated.unit if stated.unit in ("time", "rate") else "number") != self.column.kind:
            is_no = f"{stated.text} is not a {self.column.kind}, and that is what {self.column.name} holds"
            raise UndecidedError(is_no, "the unit of the stated number")
        return stated.agrees(self.value)


@dataclass
class Tables:
    """The tables beside the claims. `missing`: what claims name and is not there, for an error at the end."""

    folder: Path
    setups: Mapping[str, Setup]
    missing: list[str] = field(default_factory=list)
    _read: dict[str, Grid | None] = field(default_factory=dict)

    def grid(self, name: str) -> Grid:
        """The table of that name; one that leads elsewhere is not read. Raises UndecidedError if it is not there."""
        if name not in self._read:
            file, _, number = name.partition("#")
            path = self.folder / file
            beside = Path(file).name == file and path.is_file() and os.access(path, os.R_OK)
            self._read[name] = read_grid(path, int(number) if number.isdecimal() else 1) if beside else None
        grid = self._read[name]
        if grid is None:
            raise self.lacks(f"can't read {name}: no readable table of that name beside the claims")
        return grid

    def lacks(self, what: str) -> UndecidedError:
        """Notes what is missing; returns the error to raise."""
        self.missing.append(what)
        return UndecidedError(what, "the table as it was published")


@dataclass(frozen=True)
class About:
    """`table`: the claim's own, may be empty. `setup`: what is known of the runs, without what rows say. `own`: what
    the statement itself says of them. The methods raise UndecidedError for what is not there."""

    tables: Tables
    table: str
    setup: Setup
    own: Runs

    def grid(self, cell: TableCell | None = None) -> Grid:
        """The table of a cell, by default the claim's own."""
        name = (cell.table if cell is not None else "") or self.table
        if not name:
            raise UndecidedError("no table is named", "the table that has the numbers")
        return self.tables.grid(name)

    def column(self, cell: TableCell, name: str = "") -> Column:
        """The column of a cell, or another one of its table."""
        grid, name = self.grid(cell), name or cell.column
        found = grid.column(name)
        if found is None:
            raise self.tables.lacks(f"{grid.name} has no column {name!r}: {', '.join(grid.headings)}")
        return found

    def cells(self, cell: TableCell) -> list[Found]:
        """All cells with a number that are meant, at least one."""
        grid, column = self.grid(cell), self.column(cell)
        rows = self.rows(cell)
        found = [Found(grid, row, column, value) for row in rows if (value := grid.value(row, column)) is not None]
        if not found:
            raise UndecidedError(f"no selected row of {grid.name} holds a number", "which rows are meant")
        return found

    def cell(self, cell: TableCell) -> Found:
        """The one cell that is meant."""
        found = self.cells(cell)
        if len(found) > 1:
            raise UndecidedError(f"{len(found)} rows of {found[0].grid.name} match", "which of them is meant")
        return found[0]

    def rows(self, cell: TableCell) -> list[int]:
        """The rows of a cell."""
        for name in cell.row:
            self.column(cell, name)
        return self.grid(cell).rows_where(cell.row)

    def ranks(self, found: Found | None = None) -> int | None:
        """How many ranks took part: as the statement says, its row, else what is known of the table."""
        return self.own.ranks or (found and found.grid.count(found.row, "ranks")) or self.setup.ranks

    def hosts(self, found: Found | None = None) -> int | None:
        """How many hosts took part, likewise."""
        return self.own.hosts or (found and found.grid.count(found.row, "hosts")) or self.setup.hosts

    def need(self, what: Literal["ranks", "hosts"]) -> int:
        """How many there are."""
        number = self.ranks() if what == "ranks" else self.hosts()
        if number is None:
            raise UndecidedError(f"neither claim nor table states the number of {what}", f"the number of {what}")
        return number

    def limit(self, collective: str, found: Found | None = None) -> Limit | None:
        """The highest rates of any algorithm on the machine, as the audit has it; None where too little is known."""
        ranks = self.ranks(found) or 1
        machine = machine_for(AuditSetup(self.setup.gpu, self.setup.system, self.hosts(found), ranks))
        limits = [highest(collective, topology) for topology in machine.topologies if ranks > 1]
        known = [one for one in limits if one.algbw is not None]
        return max(known, key=lambda one: one.algbw or 0.0) if known and len(known) == len(limits) else None

    def gpus(self) -> tuple[Gpu, ...]:
        """The GPUs that can be meant; none where none is named."""
        return match_gpu(self.setup.gpu).candidates if self.setup.gpu else ()

    def one_way_rates(self) -> list[tuple[str, float]]:
        """(name, bytes/s that it can send) of the GPUs that can be meant, of all where none is named."""
        known = load_catalogue()
        rates = ((gpu.name, known.link_rate(gpu)) for gpu in self.gpus() or known.gpus.values())
        return [(name, rate) for name, rate in rates if rate]
