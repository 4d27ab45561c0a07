"""Has it become slower: the launches of one run against those of an earlier one.

For: a gate in continuous integration. Not for: comparing arms of one run (family.py), which are paired and thus
sharper.

The launches of two runs share nothing, so nothing is paired: under the null (no cell is slower by more than the margin)
the margin is taken off the current run, and whole launches are exchanged between the two runs, in all cells at once.
The statistic of a cell is the current launches' share of the deviations from the pooled mean over their root sum of
squares, which grows with the difference of the means and has the same denominator under every exchange; the p values
are adjusted for all cells by the step-down max-T procedure (max_t.py). Exchanging supposes that launches of the two
runs scatter alike. The interval of a ratio is that of Hodges and Lehmann: the differences of all pairs of launches,
their median, and the order statistics whose coverage the exact distribution of the Mann-Whitney statistic gives
(Hollander & Wolfe, 4.3).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtree.stats.max_t import step_down_p
from ringtree.stats.signflip import as_launches_by_cells

EXACT_EXCHANGES = 20_000  # all of them up to 8 and 8 launches (12,870), above that as many sampled ones
RegressionVerdict = Literal["slower", "not shown"]


@dataclass(frozen=True)
class Regressed:
    """time(current) / time(baseline) of one cell of a family: above 1 it became slower.

    `low`, `high`: this cell's own interval; `p`: one-sided, of "slower by more than `margin`", for the `num_cells`
    cells of the family together.
    """

    ratio: float
    low: float
    high: float
    coverage: float
    reaches_level: bool
    num_current: int
    num_baseline: int
    p: float
    margin: float
    level: float
    num_cells: int

    def __post_init__(self) -> None:
        if not (0.0 < self.low <= self.ratio <= self.high < math.inf):
            raise ValueError(f"an interval holds its ratio: {self.low} <= {self.ratio} <= {self.high}")
        if not 0.0 < self.p <= 1.0 or not 0.0 <= self.coverage < 1.0:
            raise ValueError("a p value lies above 0 and is at most 1, coverage lies in [0, 1)")
        if min(self.num_current, self.num_baseline, self.num_cells) < 1:
            raise ValueError("both runs have at least one launch of the cell, in a family of at least one")
        if not 0.0 <= self.margin < 1.0 or not 0.0 < self.level < 1.0:
            raise ValueError("the margin lies in [0, 1) and the level between 0 and 1")

    @property
    def verdict(self) -> RegressionVerdict:
        """ "not shown" is not "as fast as before"."""
        return "slower" if self.p <= (1.0 - self.level) * (1.0 + 1e-12) else "not shown"

    @property
    def label(self) -> str:
        """What may be printed beside the interval; says 95 % only if it is."""
        counts = f"{self.num_current} against {self.num_baseline} launches"
        if self.reaches_level:
            return f"{100 * self.coverage:.1f} % interval of {counts}"
        if self.num_current == self.num_baseline == 1:
            return "1 launch against 1, no interval"
        return f"range of {counts}, covers {100 * self.coverage:.1f} %"


def slower_than_baseline(
    current: ArrayLike, baseline: ArrayLike, margin: float = 0.02, level: float = 0.95, seed: int = 0
) -> list[Regressed]:
    """Returns for every cell, in order, whether the current run is slower than the baseline.

    `current`, `baseline`: logarithms of times or of ratios, shapes (launches, cells) with the same cells in the same
    order, NaN where a launch lacks a cell. Every exchange of launches is taken up to EXACT_EXCHANGES, above that as
    many made from `seed`, the one that was seen among them. Raises ValueError for other shapes, infinity, or a cell
    that one of the runs lacks.
    """
    x, y = as_launches_by_cells(current), as_launches_by_cells(baseline)
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"the runs have {x.shape[1]} and {y.shape[1]} cells: only the same cells compare")
    if not 0.0 <= margin < 1.0 or not 0.0 < level < 1.0:
        raise ValueError(f"the margin lies in [0, 1) and the level between 0 and 1, not {margin} and {level}")
    if np.any(np.all(np.isnan(x), axis=0)) or np.any(np.all(np.isnan(y), axis=0)):
        raise ValueError("a cell that one of the runs lacks can't be compared")
    p = _exchange_p(x - math.log1p(margin), y, seed)
    found = []
    for cell in range(x.shape[1]):
        mine, other = (values[~np.isnan(values[:, cell]), cell] for values in (x, y))
        centre, low, high, coverage, reaches_level = _hodges_lehmann(mine, other, level)
        found.append(
            Regressed(
                ratio=math.exp(centre),
                low=math.exp(low),
                high=math.exp(high),
                coverage=coverage,
                reaches_level=reaches_level,
                num_current=len(mine),
                num_baseline=len(other),
                p=float(p[cell]),
                margin=margin,
                level=level,
                num_cells=x.shape[1],
            )
        )
    return found


def _exchange_p(x: NDArray[np.float64], y: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """The step-down max-T p values of "x is above y", by exchanging whole launches; (cells,)."""
    pooled = np.concatenate([x, y])
    z = np.where(np.isnan(pooled), 0.0, pooled - np.nanmean(pooled, axis=0))
    norms = np.sqrt((z * z).sum(axis=0))
    # What is equal but for rounding has no deviations.
    z = np.where(norms > 1e-12, z / np.where(norms > 1e-12, norms, 1.0), 0.0)
    return step_down_p(_exchanges(len(x), len(y), seed), z)


@lru_cache(maxsize=4)
def _exchanges(num_current: int, num_baseline: int, seed: int) -> NDArray[np.float64]:
    """Rows of 1 for the launches that count as current and 0 for the others; the first row is the one that was seen."""
    n = num_current + num_baseline
    if math.comb(n, num_current) <= EXACT_EXCHANGES:
        which = np.array(list(itertools.combinations(range(n), num_current)))
    else:
        orders = np.random.default_rng(seed).permuted(np.tile(np.arange(n), (EXACT_EXCHANGES, 1)), axis=1)
        which = orders[:, :num_current]
        which[0] = np.arange(num_current)
    rows = np.zeros((len(which), n))
    np.put_along_axis(rows, which, 1.0, axis=1)
    rows.flags.writeable = False  # kept for the next call
    return rows


def _hodges_lehmann(
    x: NDArray[np.float64], y: NDArray[np.float64], level: float
) -> tuple[float, float, float, float, bool]:
    """Returns median, low and high of the differences of all pairs, the coverage, and whether it reaches `level`."""
    differences = np.sort((x[:, np.newaxis] - y).ravel())
    below = _mann_whitney(len(x), len(y))
    # The interval from the k-th difference to the k-th from above misses with 2 P(U < k).
    k = max(1, int(np.searchsorted(below, (1.0 - level) / 2.0 * (1.0 + 1e-12), side="right")))
    coverage = max(0.0, 1.0 - 2.0 * float(below[k - 1]))
    centre = float(np.median(differences))
    return centre, float(differences[k - 1]), float(differences[-k]), coverage, coverage >= level - 1e-12


@lru_cache(maxsize=64)
def _mann_whitney(n1: int, n2: int) -> NDArray[np.float64]:
    """Returns P(U <= u) for u = 0 … n1 · n2 under the null, without ties.

    The counts are the coefficients of the Gaussian binomial: the product over i of (1 - q^(n2 + i)) / (1 - q^i).
    """
    counts = [1] + [0] * (n1 * n2)  # integers of Python: exact for any number of launches
    for i in range(1, n1 + 1):
        for u in range(len(counts) - 1, n2 + i - 1, -1):
            counts[u] -= counts[u - n2 - i]
        for u in range(i, len(counts)):
            counts[u] += counts[u - i]
    total = sum(counts)
    cumulative = np.array([c / total for c in itertools.accumulate(counts)])
    cumulative.flags.writeable = False  # it is kept for the next cell
    return cumulative
