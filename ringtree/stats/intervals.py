"""The median over launches with an exact, distribution-free interval.

For: saying how sure a cell's time is, from one number a launch.
Not for: comparing arms (rounds.py, family.py), iterations inside one launch (samples.py).

The interval runs between two order statistics. P(median in [x_(k), x_(n+1-k)]) = 1 - 2·P(Binomial(n, 1/2) < k) for any
continuous distribution (Hoefler & Belli, SC'15, rule 5; David & Nagaraja, Order Statistics, 7.1). With five launches
even the whole range covers only 93.75 %, so 95 % needs six: `coverage` always states what the interval really covers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class MedianInterval:
    """Median of one value a launch, and the interval that covers the true median with probability `coverage`."""

    median: float
    low: float
    high: float
    coverage: float
    num_launches: int
    reaches_level: bool

    def __post_init__(self) -> None:
        check_interval("median", self.low, self.median, self.high, self.coverage, self.num_launches)

    @property
    def label(self) -> str:
        """What may be printed beside the interval; says 95 % only if it is."""
        if self.num_launches == 1:
            return "1 launch, no interval"
        if self.reaches_level:
            return f"{100 * self.coverage:.1f} % interval"
        return f"range of {self.num_launches} launches, covers {100 * self.coverage:.1f} %"


def check_interval(name: str, low: float, middle: float, high: float, coverage: float, num_launches: int) -> None:
    """Raises ValueError for an interval without its middle, which is called `name`, or that no launches give."""
    if not low <= middle <= high:
        raise ValueError(f"an interval holds its {name}: {low} <= {middle} <= {high}")
    if not 0.0 <= coverage < 1.0 or num_launches < 1:
        raise ValueError("coverage lies in [0, 1) and comes from at least one launch")


def coverage_of(num_launches: int, k: int) -> float:
    """Returns P(x_(k) <= median <= x_(n+1-k)) for n launches and 1 <= k <= (n + 1) / 2; k counts from 1."""
    if num_launches < 1 or not 1 <= k <= (num_launches + 1) // 2:
        raise ValueError(f"k must lie in 1..{(num_launches + 1) // 2}, not {k}")
    outside = sum(math.comb(num_launches, i) for i in range(k))
    return max(0.0, 1.0 - 2.0 * outside / 2.0**num_launches)


def median_interval(values: Sequence[float], level: float = 0.95) -> MedianInterval:
    """Returns the median of `values` (one a launch) with the shortest such interval that covers at least `level`.

    With too few launches for `level` it is the range, and says so. Raises ValueError for no values, NaN or infinity.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level lies between 0 and 1, not {level}")
    ordered = sorted(float(value) for value in values)
    if not ordered or not all(math.isfinite(value) for value in ordered):
        raise ValueError("the median needs at least one value, all finite")
    n = len(ordered)
    reaching = [k for k in range(1, (n + 1) // 2 + 1) if coverage_of(n, k) >= level]
    k = max(reaching, default=1)
    median = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    # Rounding in the mean of two equal values must not put the median outside of its interval.
    median = min(max(median, ordered[k - 1]), ordered[n - k])
    return MedianInterval(median, ordered[k - 1], ordered[n - k], coverage_of(n, k), n, bool(reaching))
