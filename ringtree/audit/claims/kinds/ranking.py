"""One is the best, everywhere or for some rows: "the default matched or beat forced algorithms at every scale".

One cell against it is enough for it to fall. That all cells agree shows less: of one value each, of one machine.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.audit.claims import noise
from ringtree.audit.claims.about import About
from ringtree.audit.claims.statement import Answer, Statement, TableCell, UndecidedError

MARGIN = 0.02


class Ranking(Statement, TableCell):
    """`column`: of the one that is called the best."""

    kind: Literal["ranking"]
    against: list[str] = Field(default_factory=list, description="columns of the others; empty: all that hold the same")
    general: bool = Field(default=False, description="said of all such machines, not of the table's alone")

    def judge(self, about: About) -> Answer:
        grid, best = about.grid(self), about.column(self)
        others = [about.column(self, name) for name in self.against]
        others = others or [one for one in grid.of_kind(best.kind) if one != best]
        cells = [
            (b / a if best.kind == "time" else a / b, row, other)
            for row in about.rows(self)
            for other in others
            if other.kind == best.kind and (a := grid.value(row, best)) and (b := grid.value(row, other))
        ]
        if not cells:
            lacks = f"no selected row has another {best.kind} beside {best.name}"
            raise UndecidedError(lacks, "the rows of the table that are meant")
        shown = [
            f"{grid.label(row)}: {grid.rows[row][best.place]} against {grid.rows[row][other.place]} ({other.name})"
            for _, row, other in sorted(cells, key=lambda one: one[0])
        ]
        rows = [row for _, row, _ in cells]
        if against := sum(ratio < 1 - MARGIN for ratio, _, _ in cells):
            more = f" and {against - 3} more" if against > 3 else ""
            said = f"the table itself says otherwise in {against} of {len(cells)} comparisons ({noise.few(grid, rows)})"
            return self.falls(said, f"{'; '.join(shown[: min(3, against)])}{more}")
        names = ", ".join(dict.fromkeys(other.name for _, _, other in cells))
        arithmetic = f"{best.name} against {names}: ahead in {len(cells)} of {len(cells)}, least {shown[0]}"
        if min(ratio for ratio, _, _ in cells) >= noise.BEYOND_NOISE and not self.general:
            reason = "the table agrees, and the differences are too large for noise"
            return self.holds(reason, arithmetic, noise.SETTLES)
        whole = "; the table is of one machine, the sentence about all" if self.general else ""
        unknown = "; which machine is not stated" if not about.setup.gpu and best.kind == "rate" else ""
        runs = noise.runs(grid, rows)
        return self.open(f"the table agrees, but with {runs}{whole}{unknown}", noise.SETTLES, arithmetic)
