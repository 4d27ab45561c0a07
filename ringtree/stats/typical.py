"""The interval of a mean effect from one value a launch, without assuming how the values are distributed.

For: the interval that is printed beside a ratio (of its logarithm: one effect a launch).
Not for: times as such (intervals.py: their median), verdicts over many cells (family.py).

Hartigan 1969 (Using subsample values as typical values, JASA 64:1303): the means of the 2^n - 1 non-empty subsets of n
independent values, each symmetric about the same centre, part the line into 2^n pieces that hold the centre with equal
probability. The interval between the k-th smallest and the k-th largest of them covers it with 1 - 2k / 2^n, exactly:
95.3 % with 8 launches and k = 6. The scatter may differ from launch to launch. With 5 launches the widest interval
covers 93.75 %, so 95 % needs 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringtree.stats.intervals import check_interval
from ringtree.stats.subsets import order_statistic, subsets


@dataclass(frozen=True)
class TypicalInterval:
    """Mean of one value a launch, and the interval that covers the true centre with probability `coverage`.

    One launch gives no interval: `low` and `high` are infinite and the coverage, as a promise, is 0.
    """

    centre: float
    low: float
    high: float
    coverage: float
    num_launches: int
    reaches_level: bool

    def __post_init__(self) -> None:
        check_interval("centre", self.low, self.centre, self.high, self.coverage, self.num_launches)
        if not math.isfinite(self.centre):
            raise ValueError(f"the centre is a finite number, not {self.centre}")
        if (self.num_launches == 1) == (math.isfinite(self.low) and math.isfinite(self.high)):
            raise ValueError("one launch gives no interval, and more give a finite one")

    @property
    def label(self) -> str:
        """What may be printed beside the interval; says 95 % only if it is."""
        return interval_label(self.coverage, self.num_launches, self.reaches_level)


def interval_label(coverage: float, num_launches: int, reaches_level: bool) -> str:
    """Returns the words for an interval from typical values."""
    if num_launches == 1:
        return "1 launch, no interval"
    if reaches_level:
        return f"{100 * coverage:.1f} % interval of {num_launches} launches"
    return f"range of {num_launches} launches, covers {100 * coverage:.1f} %"


def typical_interval(values: Sequence[float], level: float = 0.95, seed: int = 0) -> TypicalInterval:
    """Returns the mean of `values` (one a launch) with the narrowest such interval that covers at least `level`.

    With too few launches for `level` it is the range of the values, and says so. Up to 14 launches every subset is
    taken, above that a sample of 16,383 made from `seed`, which is as exact. Raises ValueError for no values, NaN or
    infinity.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)):
        raise ValueError("the centre needs at least one value, all finite")
    n = array.size
    centre = float(array.mean())
    if n == 1:
        return TypicalInterval(centre, -math.inf, math.inf, 0.0, 1, False)
    members = subsets(n, seed)
    means = np.sort(members @ array / members.sum(axis=1))
    k, coverage, reaches_level = order_statistic(len(means), level)
    # Rounding in the mean of equal values must not put the centre outside of its interval.
    low, high = min(float(means[k - 1]), centre), max(float(means[-k]), centre)
    return TypicalInterval(centre, low, high, coverage, n, reaches_level)
