"""The step-down max-T adjustment of p values, whatever it is that is exchanged.

For: sign flips (signflip.py) and exchanges between two runs (regression.py).
Not for: saying which exchanges the null allows, or making the statistic.

The largest statistic is compared with the largest of all cells under each exchange, the second largest with the largest
of the cells that are left, and so on, and no cell is more certain than one with a larger statistic (Westfall & Young
1993, algorithm 2.8 by statistics; Romano & Wolf 2005, JASA 100:94). The cells' own dependence is in the exchanges, so
cells that say the same cost nothing, unlike with Bonferroni or Holm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROWS_AT_ONCE = 2048  # bounds memory: 2048 exchanges × 300 cells are 5 MB
TIE = 1e-10  # statistics this close are equal but for rounding, and count as reached


def step_down_p(weights: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the adjusted one-sided p value of each cell, large statistics being extreme; (cells,).

    `weights`: one exchange a row, shape (exchanges, launches), the one that was seen first; `z`: shape (launches,
    cells), with columns of norm 1 or 0. The statistics are weights @ z. Work: exchanges × launches × cells
    multiplications.
    """
    observed = weights[0] @ z
    # Ascending, so that the running maximum up to a cell is that over the cells which step-down has left with it.
    order = np.argsort(observed, kind="stable")
    z, ascending = z[:, order], observed[order]
    reached = np.zeros(len(order), dtype=np.int64)
    for start in range(0, len(weights), ROWS_AT_ONCE):
        statistics = weights[start : start + ROWS_AT_ONCE] @ z
        np.maximum.accumulate(statistics, axis=1, out=statistics)
        reached += (statistics >= ascending - TIE).sum(axis=0)
    p = np.empty(len(order))
    p[order] = np.maximum.accumulate((reached / len(weights))[::-1])[::-1]
    return p
