"""The ratio of an arm's time to the reference arm's, paired by launch.

For: the effect of one cell with its interval: the geometric mean of the launches' ratios and a t interval on their
logarithms. Not for: a family of cells: the interval is each cell's own, not adjusted for looking at many, and a verdict
here says no more than that.

Arms that run in the same launch share its luck (placement, neighbours), so the ratio is taken inside each launch first.
The t interval assumes that log ratios are about normal; with few launches that can't be checked, and the label says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtrit

Verdict = Literal["faster", "slower", "not shown", "no interval"]


@dataclass(frozen=True)
class RatioInterval:
    """time(arm) / time(reference): below 1 the arm is faster. `low` and `high` are None with a single launch."""

    ratio: float
    low: float | None
    high: float | None
    level: float
    num_launches: int

    def __post_init__(self) -> None:
        if not self.ratio > 0 or self.num_launches < 1 or (self.low is None) != (self.high is None):
            raise ValueError("a ratio is positive, of at least one launch, with both ends of its interval or none")
        if self.low is not None and self.high is not None and not self.low <= self.ratio <= self.high:
            raise ValueError(f"an interval holds its ratio: {self.low} <= {self.ratio} <= {self.high}")

    @property
    def label(self) -> str:
        """What may be printed beside the interval."""
        if self.low is None:
            return "1 launch, no interval"
        return f"{100 * self.level:g} % t interval on log ratios of {self.num_launches} launches"

    @property
    def verdict(self) -> Verdict:
        """What this one interval supports. "not shown" is not "equal"."""
        if self.low is None or self.high is None:
            return "no interval"
        if self.high < 1.0:
            return "faster"
        return "slower" if self.low > 1.0 else "not shown"


def ratio_to_reference(arm: Sequence[float], reference: Sequence[float], level: float = 0.95) -> RatioInterval:
    """Returns the paired ratio of `arm` to `reference`: launch medians in seconds, both of shape (launches,).

    Raises ValueError if the two are not paired or a time is not positive and finite.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level lies between 0 and 1, not {level}")
    if len(arm) != len(reference) or not arm:
        raise ValueError(f"arms are paired by launch: {len(arm)} and {len(reference)} launches don't pair")
    a, b = np.asarray(arm, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if not (np.all(np.isfinite(a)) and np.all(np.isfinite(b)) and np.all(a > 0) and np.all(b > 0)):
        raise ValueError("times must be positive and finite to have a ratio")
    logs = np.log(a / b)
    n, centre = len(logs), float(logs.mean())
    if n == 1:
        return RatioInterval(math.exp(centre), None, None, level, n)
    # scipy.special, not scipy.stats, which takes a second to import.
    half = float(stdtrit(n - 1, (1 + level) / 2)) * float(logs.std(ddof=1)) / math.sqrt(n)
    return RatioInterval(math.exp(centre), math.exp(centre - half), math.exp(centre + half), level, n)
