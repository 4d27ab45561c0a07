"""What a comparison of single values is worth.

For: the kinds that compare two cells of a table. Not for: statistics (ringtree.stats): there is nothing to compute from
one value.

Fresh starts of one configuration have been seen to differ by 20 to 40 % on quiet-looking machines, so a difference of
less than a factor of two between two single values is not evidence; a larger one is taken for real as long as nothing
else was changed.
"""

from __future__ import annotations

from collections.abc import Iterable

from ringtree.audit.claims.grid import Grid

BEYOND_NOISE = 2.0
SETTLES = "at least 6 fresh starts of each, in shuffled order, and the interval of their ratio"


def runs(grid: Grid | None, rows: Iterable[int]) -> str:
    """In words how often each cell was measured, as far as the table says."""
    counts = {grid.count(row, "runs") for row in rows} if grid is not None else {None}
    if counts == {1}:
        return "one run per cell, so run-to-run variation is unknown"
    known = sorted(count for count in counts if count is not None)
    if known:
        return f"{known[0]} runs per cell, but no spread is given"
    return "one value per cell, so run-to-run variation is unknown"


def few(grid: Grid, rows: Iterable[int]) -> str:
    """The same, shorter: "one run per cell"."""
    return runs(grid, rows).partition(",")[0]
