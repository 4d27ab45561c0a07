"""Where two change places: "the crossover lies at about 64 MB on 2 nodes".

The table brackets a crossover between two of its sizes. With one value a cell the bracket itself has no interval, so a
size inside it is undecided; one outside it falls.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Literal

from pydantic import Field

from ringtree.audit.claims import noise
from ringtree.audit.claims.about import About
from ringtree.audit.claims.amounts import Size
from ringtree.audit.claims.statement import Answer, Statement, TableCell, UndecidedError

_OUTSIDE = 1.06


class Crossover(Statement, TableCell):
    """`column` and `other` change places at `at`, which may be a range."""

    kind: Literal["crossover"]
    other: str = Field(description="the heading of the other one")
    at: Size

    def judge(self, about: About) -> Answer:
        first, second = about.column(self), about.column(self, self.other)
        grid, rows = about.grid(self), about.rows(self)
        if first.kind != second.kind:
            unlike = f"a {first.kind} can't be compared with a {second.kind}"
            raise UndecidedError(unlike, "two columns of the same unit")
        where = ", ".join(one if isinstance(one, str) else f"{one} {name}" for name, one in self.row.items())
        where += ": " if where else ""
        points = sorted(
            (grid.sizes(row)[0], math.log(a / b))
            for row in rows
            if (a := grid.value(row, first)) and (b := grid.value(row, second)) and a / b > 0 and grid.sizes(row)
        )
        # From, to, and where the logarithm of the ratio, interpolated, is 0.
        pairs = [(*one, *other) for one, other in pairwise(points) if one[1] * other[1] < 0]
        brackets = [(low, high, low * (high / low) ** (a / (a - b))) for low, a, high, b in pairs]
        if not brackets:
            shown = f"{where}no change of sign among {len(rows)} rows"
            return self.falls(f"{where}the two do not change places within the table", shown)
        middle = math.sqrt(self.at.low * self.at.high)
        low, high, at = min(brackets, key=lambda one: abs(math.log(middle / one[2])))
        span = f"{_size(low)} and {_size(high)}"
        shown = f"{where}between {span}, by interpolation {_size(at)}"
        says = f"{where}the table has the two change places between {span}"
        # Sizes of the table were taken as powers of 1024; so is the sentence's.
        if self.at.high * _OUTSIDE < low or self.at.low > high * _OUTSIDE:
            return self.falls(says, shown)
        several = f", and {len(brackets)} times in all" if len(brackets) > 1 else ""
        unsure = f"where in between is inconclusive with {noise.few(grid, rows)}"
        settles = "several fresh starts at sizes around it, and the interval of the crossover"
        return self.open(f"{says}{several}; {unsure}", settles, shown)


def _size(value: float) -> str:
    unit, scale = next((one for one in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)) if value >= one[1]), ("B", 1))
    return f"{value / scale:.3g} {unit}"
