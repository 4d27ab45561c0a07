"""Which formula a column of rates holds: size/time, times the bus factor, times n-1, or something else.

For: knowing what a published "bandwidth" is, whatever its heading says. Not for: logs (ringtree.audit's checks do that
with all that a log knows), physical limits.

A formula explains a row if the printed digits of time and rate allow it; it is the column's if it explains nine rows of
ten, with sizes in powers of 1024 or of 1000. Rows of few digits agree with several; the row with most digits decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ringtree.audit.claims.grid import Column, Grid
from ringtree.audit.intervals import Interval
from ringtree.stats.bandwidth import bus_factor

_NEEDED = 0.9


@dataclass(frozen=True)
class Formula:
    """`factor(n)`: what the column holds as a multiple of size/time. `needs_ranks`: it depends on n."""

    name: str
    words: str
    factor: Callable[[int], float]
    needs_ranks: bool = True


ALGBW = Formula("algbw", "size/time", lambda n: 1.0, needs_ranks=False)
BUSBW = Formula("busbw", "2(n-1)/n · size/time", lambda n: bus_factor("all_reduce", n))
_OTHERS = (
    Formula("", "(n-1) · size/time", lambda n: n - 1.0),
    Formula("", "n · size/time", lambda n: float(n)),
    Formula("", "2(n-1) · size/time", lambda n: 2.0 * (n - 1)),
    Formula("", "2 · size/time", lambda n: 2.0, needs_ranks=False),
    Formula("", "(n-1)/n · size/time", lambda n: (n - 1) / n),
)
FORMULAS = (ALGBW, BUSBW, *_OTHERS)


@dataclass(frozen=True)
class ColumnFormula:
    """What a column holds. `binary`: sizes are powers of 1024. `num_rows`: rows with size, time and rate."""

    formula: Formula
    binary: bool
    num_explained: int
    num_rows: int

    @property
    def sure(self) -> bool:
        """Whether it explains nearly all rows."""
        return self.num_rows > 0 and self.num_explained >= _NEEDED * self.num_rows


def base(grid: Grid, row: int, time: Column, binary: bool = True) -> Interval | None:
    """What size/time of a row can have been, in bytes/s; None where one of them is missing."""
    sizes, seconds = grid.sizes(row), grid.interval(row, time)
    if not sizes or seconds is None or seconds.high <= 0:
        return None
    return Interval.exactly(sizes[0] if binary else sizes[-1]).over(seconds)


def column_formula(grid: Grid, rate: Column, time: Column, num_ranks: int | None) -> ColumnFormula | None:
    """The formula that explains most rows; None if no row has what it takes. `num_ranks`: where no column says."""
    best: ColumnFormula | None = None
    for formula in FORMULAS:
        for binary in (True, False):
            rows = [
                row
                for row in range(len(grid.rows))
                if _explains(grid, row, rate, time, formula, binary, num_ranks) is not None
            ]
            num = sum(_explains(grid, row, rate, time, formula, binary, num_ranks) is True for row in rows)
            found = ColumnFormula(formula, binary, num, len(rows))
            if rows and (best is None or num > best.num_explained):
                best = found
    return best


def ranks_of(grid: Grid, row: int, num_ranks: int | None) -> int | None:
    """The row's ranks, else those of the table as a whole."""
    stated = grid.count(row, "ranks")
    return stated if stated is not None else num_ranks


def _explains(
    grid: Grid, row: int, rate: Column, time: Column, formula: Formula, binary: bool, num_ranks: int | None
) -> bool | None:
    """None: the row lacks size, time or rate, or the formula needs a number of ranks that is not known."""
    printed, plain = grid.interval(row, rate), base(grid, row, time, binary)
    n = ranks_of(grid, row, num_ranks)
    if printed is None or plain is None or printed.high <= 0 or (formula.needs_ranks and (n is None or n < 2)):
        return None
    # Published rates are computed from times with more digits, and are cut off as often as rounded.
    place = printed.high - printed.low
    return plain.times(formula.factor(n or 0)).meets(
        Interval(max(0.0, printed.low - place / 2), printed.high + place / 2)
    )
