"""One number is so many per cent more than another, so many times it, or that part of it per host: "8.2 % faster than
the default", "the scaling efficiency at 8 nodes is 77.5 %".

The arithmetic comes first; then whether the two may be compared at all (algbw with busbw?, does the same work take less
time?), then what one value each is worth.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.audit.claims import noise
from ringtree.audit.claims.about import About, Found
from ringtree.audit.claims.amounts import Stated
from ringtree.audit.claims.columns import time_column
from ringtree.audit.claims.kinds.value import Called, algbw_of
from ringtree.audit.claims.statement import Answer, Statement, TableCell, UndecidedError
from ringtree.audit.claims.written import gigabytes, number, percent, quantity, seconds
from ringtree.audit.training import collectives_of, lacking


class Side(TableCell):
    """One of the two: a cell, a number of the sentence, or both."""

    value: Stated | None = None
    called: Called | None = None

    def number(self, about: About) -> tuple[float, str, Found | None]:
        """The number, of which unit, and its cell."""
        found = about.cell(self) if self.column or self.value is None else None
        if self.value is not None:
            return self.value.value, self.value.unit or "number", found
        assert found is not None
        return found.value, found.column.kind, found


class Ratio(Statement):
    """`new` against `old`."""

    kind: Literal["ratio"]
    value: Stated = Field(description="83 % (more), or 2.6 times")
    less: bool = Field(default=False, description="so many per cent or times less, or slower")
    new: Side
    old: Side
    scaling: bool = Field(default=False, description="the scaling efficiency: per host, of `new` against `old`")
    forced: list[str] = Field(default_factory=list, description="NCCL's algorithms that one side was forced to")

    def judge(self, about: About) -> Answer:
        new, unit, new_cell = self.new.number(about)
        old, old_unit, old_cell = self.old.number(about)
        cells = [one for one in (new_cell, old_cell) if one is not None]
        if unit != old_unit or not old > 0 or not new > 0:
            raise UndecidedError(f"a {unit} can't be compared with a {old_unit}", "two numbers of the same unit")
        if self.scaling:
            return self._efficiency(about, cells)
        ratio, stated = new / old, self.new.value is not None and self.old.value is not None
        where = "of the sentence" if stated else _where(cells)
        shown = f"{quantity(new, unit)} / {quantity(old, unit)} = {ratio:.4g} ({where})"
        if not any(self.value.agrees(one) for one in self._readings(ratio, unit)):
            is_not = f"{ratio:.4g} times {quantity(old, unit)}, which is not {self.value.text}"
            return self.falls(f"{quantity(new, unit)} is {is_not}", shown)
        sides = (self.new, new_cell), (self.old, old_cell)
        if {side.called or (cell and cell.headed) for side, cell in sides} == {"algbw", "busbw"}:
            return self.falls("an algbw is compared with a busbw; they differ by 2(n-1)/n", shown)
        if stated:
            shown += _like_with_like(about, (new, new_cell), (old, old_cell))
        elif len(cells) == 2 and not self.less and (slower := _takes_longer(*cells)):
            times = f"the same size takes {slower[1] / slower[0]:.2f} times as long"
            grows = "the column grows with the number of ranks by its own formula"
            said = f"the quotient is right but nothing improves: {times}, and {grows}"
            return self.falls(said, f"{shown}; {seconds(slower[0])} -> {seconds(slower[1])}")
        alike = self._alike(about)
        if max(ratio, 1 / ratio) >= noise.BEYOND_NOISE and not alike:
            return self.holds("the arithmetic holds, and the difference is too large for noise", shown, noise.SETTLES)
        runs = noise.runs(None if stated else cells[0].grid, [one.row for one in cells])
        said = f"the arithmetic holds, but the difference is inconclusive: {runs}{alike}"
        return self.open(said, noise.SETTLES, shown)

    def _efficiency(self, about: About, cells: list[Found]) -> Answer:
        """The throughput on N hosts over N times that on one, or on fewer."""
        hosts = [about.hosts(one) or 0 for one in cells]
        if len(cells) < 2 or not hosts[0] > hosts[1] > 0:
            raise UndecidedError(
                "the table does not say how many hosts each has", "throughputs at two numbers of hosts"
            )
        (new, old), times = cells, hosts[0] / hosts[1]
        value = new.value / (times * old.value)
        said, label = f"the table's throughputs give {percent(value, 1)}", old.grid.label(old.row).partition(",")[0]
        sums = f"{new.value:g} / ({times:g} · {old.value:g}) = {percent(value, 1)} ({new.column.name})"
        if not self.value.agrees(value):
            return self.falls(said, f"{label}: {sums}")
        few = noise.few(new.grid, [new.row, old.row])
        return self.holds(f"{said}; {few}, so its last digits are noise", f"{label}: {sums}", noise.SETTLES)

    def _readings(self, ratio: float, unit: str) -> list[float]:
        """What somebody may have meant: of rates or of times, more or less."""
        if self.value.unit != "percent":
            return [ratio, 1 / ratio] if self.less or unit == "time" else [ratio]
        if self.less:
            return [1 - ratio, 1 / ratio - 1, 1 - 1 / ratio]
        return [1 / ratio - 1, 1 - ratio] if unit == "time" else [ratio - 1]

    def _alike(self, about: About) -> str:
        """Where both sides ran the same collectives, whatever was asked for."""
        training = about.setup.training
        missing = lacking(training, self.forced) if training is not None else []
        if training is None or not missing or "all_reduce" in collectives_of(training):
            return ""
        uses = f"; and {training} uses {' and '.join(collectives_of(training))}, for which NCCL has no {missing[0]}: "
        return f"{uses}most likely the same ran in both, and the difference is noise"


def _where(cells: list[Found]) -> str:
    new, old = cells[0], cells[-1]
    if len(cells) < 2 or new.grid is not old.grid or (new.column != old.column and new.row != old.row):
        return " and ".join(one.label for one in cells)
    same = new.column == old.column
    return new.column.name if same else f"{new.grid.label(new.row)}: {new.column.name}, {old.column.name}"


def _like_with_like(about: About, *sides: tuple[float, Found | None]) -> str:
    """The ratio of the two algbw, if one of two rates that are called so turns out to be something else."""
    known = [None if cell is None else algbw_of(about, cell) for _, cell in sides]
    new, old = (value if one is None else one[1].middle for (value, _), one in zip(sides, known, strict=True))
    if abs(new / old / (sides[0][0] / sides[1][0]) - 1) < 0.02:
        return ""
    return f"; like with like, size/time: {gigabytes(new)} / {gigabytes(old)} = {number(new / old)}"


def _takes_longer(new: Found, old: Found) -> tuple[float, float] | None:
    """A rate that grows while the same size takes longer is not an improvement: the formula's factor grew."""
    time = time_column(new.grid, new.column) if new.column.kind == "rate" else None
    if time is None or new.column != old.column or new.grid.sizes(new.row) != new.grid.sizes(old.row):
        return None
    before, after = old.grid.value(old.row, time), new.grid.value(new.row, time)
    return (before, after) if before and after and after > before and new.value > old.value else None
