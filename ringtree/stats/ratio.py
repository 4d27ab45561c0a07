"""The ratio of an arm's time to the reference arm's, paired by launch.

For: the effect of one cell: the geometric mean of the launches' ratios, a t interval on their logarithms, and the same
interval widened for the number of ratios that are looked at together (Bonferroni), on which the verdict rests.
Not for: equivalence, or sharper tests of a family of cells.

Arms that run in the same launch share its luck (placement, neighbours), so the ratio is taken inside each launch first.
The t interval assumes that log ratios are about normal; with few launches that can't be checked, so below MIN_LAUNCHES
(as many as the median needs for an interval of 95 %) there is an interval but no verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtrit

Verdict = Literal["faster", "slower", "not shown", "too few launches"]
MARGIN = 0.02  # a difference smaller than this is none that anybody should choose by
MIN_LAUNCHES = 6


@dataclass(frozen=True)
class RatioInterval:
    """time(arm) / time(reference): below 1 the arm is faster.

    `low` and `high`: the interval of this ratio alone at `level`. `adjusted_low` and `adjusted_high`: the wider one for
    looking at `num_ratios` ratios together. All four are None with a single launch.
    """

    ratio: float
    low: float | None
    high: float | None
    adjusted_low: float | None
    adjusted_high: float | None
    level: float
    num_launches: int
    num_ratios: int = 1
    margin: float = MARGIN

    def __post_init__(self) -> None:
        ends = (self.adjusted_low, self.low, self.high, self.adjusted_high)
        known = [end for end in ends if end is not None]
        if not self.ratio > 0 or self.num_launches < 1 or len(known) not in (0, 4):
            raise ValueError("a ratio is positive, of at least one launch, with both ends of its intervals or none")
        inside_out = [*known[:2], self.ratio, *known[2:]]
        if inside_out != sorted(inside_out):
            raise ValueError(f"an interval holds its ratio, and the adjusted one holds both: {inside_out}")
        if self.num_ratios < 1 or not 0.0 <= self.margin < 1.0:
            raise ValueError("ratios are at least one, and the margin lies in [0, 1)")

    @property
    def label(self) -> str:
        """What may be printed beside the interval."""
        if self.low is None:
            return "1 launch, no interval"
        return f"{100 * self.level:g} % t interval on log ratios of {self.num_launches} launches"

    @property
    def verdict(self) -> Verdict:
        """What the adjusted interval supports: all of it must lie beyond the margin. "not shown" is not "equal"."""
        if self.adjusted_low is None or self.adjusted_high is None or self.num_launches < MIN_LAUNCHES:
            return "too few launches"
        # 1 / (1 + margin), not 1 - margin: exchanging arm and reference must exchange the verdicts.
        if self.adjusted_high < 1 / (1 + self.margin):
            return "faster"
        return "slower" if self.adjusted_low > 1 + self.margin else "not shown"


def ratio_to_reference(
    arm: Sequence[float],
    reference: Sequence[float],
    level: float = 0.95,
    num_ratios: int = 1,
    margin: float = MARGIN,
) -> RatioInterval:
    """Returns the paired ratio of `arm` to `reference`: launch medians in seconds, both of shape (launches,).

    `num_ratios`: how many ratios are looked at together, this one included. Raises ValueError if the two are not paired
    or a time is not positive and finite.
    """
    if not 0.0 < level < 1.0 or num_ratios < 1:
        raise ValueError(f"the level lies between 0 and 1, of at least one ratio, not {level} of {num_ratios}")
    if len(arm) != len(reference) or not arm:
        raise ValueError(f"arms are paired by launch: {len(arm)} and {len(reference)} launches don't pair")
    a, b = np.asarray(arm, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if not (np.all(np.isfinite(a)) and np.all(np.isfinite(b)) and np.all(a > 0) and np.all(b > 0)):
        raise ValueError("times must be positive and finite to have a ratio")
    logs = np.log(a / b)
    n, centre = len(logs), float(logs.mean())
    if n == 1:
        return RatioInterval(math.exp(centre), None, None, None, None, level, n, num_ratios, margin)
    error = float(logs.std(ddof=1)) / math.sqrt(n)
    # scipy.special, not scipy.stats, which takes a second to import.
    half, adjusted = (float(stdtrit(n - 1, 1 - (1 - level) / (2 * m))) * error for m in (1, num_ratios))
    return RatioInterval(
        ratio=math.exp(centre),
        low=math.exp(centre - half),
        high=math.exp(centre + half),
        adjusted_low=math.exp(centre - adjusted),
        adjusted_high=math.exp(centre + adjusted),
        level=level,
        num_launches=n,
        num_ratios=num_ratios,
        margin=margin,
    )
