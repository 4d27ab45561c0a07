"""Which formula a column of rates holds: size/time, times the bus factor, times n-1, or something else.

For: knowing what a published "bandwidth" is, whatever its heading says. Not for: the formulas (ringtree.audit.factors),
logs (ringtree.audit's checks do that with all that a log knows), physical limits.

A formula explains a row if the printed digits of time and rate allow it; it is the column's if it explains nine rows of
ten, with sizes in powers of 1024 or of 1000. Of several that explain as many rows the simplest counts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ringtree.audit.claims.grid import Column, Grid
from ringtree.audit.factors import formulas
from ringtree.audit.intervals import Interval

_NEEDED = 0.9
ALGBW = "size/time"


class ColumnFormula(NamedTuple):
    """What a column holds. `binary`: sizes are powers of 1024. `num_rows`: rows with size, time and rate."""

    words: str
    binary: bool
    num_explained: int
    num_rows: int

    @property
    def sure(self) -> bool:
        """Whether it explains nearly all rows."""
        return self.num_rows > 0 and self.num_explained >= _NEEDED * self.num_rows

    def factor(self, num_ranks: int | None) -> float:
        """What it holds as a multiple of size/time."""
        return _factors(num_ranks)[self.words]


def time_column(grid: Grid, rate: Column) -> Column | None:
    """The time that belongs to a column of rates: of the same configuration and place."""
    whose = (rate.heading.arm, rate.heading.place)
    same = [one for one in grid.of_kind("time") if (one.heading.arm, one.heading.place) == whose]
    return same[0] if len(same) == 1 else None


def base(grid: Grid, row: int, time: Column, binary: bool = True) -> Interval | None:
    """What size/time of a row can have been, in bytes/s; None where one of them is missing."""
    sizes, seconds = grid.sizes(row), Interval.of(grid.printed(row, time))
    if not sizes or seconds is None or seconds.high <= 0:
        return None
    return Interval.exactly(sizes[0] if binary else sizes[-1]).over(seconds)


def column_formula(grid: Grid, rate: Column, time: Column, num_ranks: int | None) -> ColumnFormula | None:
    """The formula that explains most rows; None if no row has what it takes. `num_ranks`: where no column says."""
    best: ColumnFormula | None = None
    ranks = [grid.count(row, "ranks") or num_ranks for row in range(len(grid.rows))]
    for words in dict.fromkeys(name for n in ranks for name in _factors(n)):
        for binary in (True, False):
            explained = [_explains(grid, row, rate, time, words, binary, n) for row, n in enumerate(ranks)]
            known = [one for one in explained if one is not None]
            if known and (best is None or sum(known) > best.num_explained):
                best = ColumnFormula(words, binary, sum(known), len(known))
    return best


@lru_cache(maxsize=64)
def _factors(num_ranks: int | None) -> dict[str, float]:
    """The audit's formulas by their words, without a number of ranks in these."""
    found = formulas(num_ranks, None, None)
    return {one.name.partition(", n =")[0].replace("·size", " · size"): one.factor for one in found}


def _explains(
    grid: Grid, row: int, rate: Column, time: Column, words: str, binary: bool, num_ranks: int | None
) -> bool | None:
    """None: the row lacks size, time or rate, or the formula needs a number of ranks that is not known."""
    printed, plain = Interval.of(grid.printed(row, rate)), base(grid, row, time, binary)
    factor = _factors(num_ranks).get(words)
    if printed is None or plain is None or printed.high <= 0 or factor is None:
        return None
    # Published rates are computed from times with more digits, and are cut off as often as rounded.
    place = printed.high - printed.low
    return plain.times(factor).meets(Interval(max(0.0, printed.low - place / 2), printed.high + place / 2))
