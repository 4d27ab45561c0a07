"""The verdicts of a family of comparisons.

For: "faster", "slower", "equivalent" or "inconclusive" for each cell of all that is shown together.
Not for: how the p values come about (signflip.py), words for people (ringtree.judge).

The family is every comparison that a result shows. Two effects within the margin μ of each other count as no
difference: the null of the difference is |D| <= μ for the log ratio D, asked in two one-sided families, slower (D - μ)
and faster (-D - μ), each at half the error. Any false "faster" or "slower" in the family then has a probability of at
most 1 - level, if launches are independent and symmetric about their centre.

Equivalence is shown by two one-sided tests (Schuirmann 1987), D < μ and D > -μ, each family-wise at half the error, and
both must reject. For one cell the whole error would do on each side; in a family some cells may be too slow and others
too fast, and any false "equivalent" among all of them is to have a probability of at most 1 - level. What is neither
different nor equivalent is inconclusive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ringtree.stats.needed import launches_needed, least_launches
from ringtree.stats.signflip import as_launches_by_cells, sign_flip_p
from ringtree.stats.typical import interval_label, typical_interval

MARGIN = 0.02  # a difference smaller than this is none that anybody should choose by
Verdict = Literal["faster", "slower", "equivalent", "inconclusive"]
Outlook = Literal["decided", "estimated", "out of reach", "unknown"]


@dataclass(frozen=True)
class Judged:
    """time(arm) / time(reference) of one cell of a family: below 1 the arm is faster.

    `ratio`, `low`, `high`: this cell's own estimate and interval (exponentials of a TypicalInterval, so 0 and infinity
    with one launch). `p_faster`, `p_slower`: two-sided, `p_equivalent`: of two one-sided tests; all three hold for the
    `num_cells` cells of the family together.
    `deviation`: standard deviation of the launches' log ratios; None with one launch, which has no scatter.
    """

    ratio: float
    low: float
    high: float
    coverage: float
    reaches_level: bool
    num_launches: int
    p_faster: float
    p_slower: float
    p_equivalent: float
    deviation: float | None
    margin: float
    level: float
    num_cells: int

    def __post_init__(self) -> None:
        if not (0.0 < self.ratio < math.inf and 0.0 <= self.low <= self.ratio <= self.high):
            raise ValueError(f"an interval holds its ratio: {self.low} <= {self.ratio} <= {self.high}")
        if not all(0.0 < p <= 1.0 for p in (self.p_faster, self.p_slower, self.p_equivalent)):
            raise ValueError("a p value lies above 0 and is at most 1")
        if not 0.0 <= self.margin < 1.0 or not 0.0 < self.level < 1.0 or not 0.0 <= self.coverage < 1.0:
            raise ValueError("margin and coverage lie in [0, 1), the level between 0 and 1")
        if self.num_launches < 1 or self.num_cells < 1:
            raise ValueError("a comparison comes from at least one launch, in a family of at least one cell")
        if (self.deviation is None) != (self.num_launches == 1):
            raise ValueError("a deviation comes from two launches or more")
        if self.deviation is not None and not 0.0 <= self.deviation < math.inf:
            raise ValueError(f"a deviation is finite and not negative, not {self.deviation}")

    @property
    def verdict(self) -> Verdict:
        """What the family's tests support. "inconclusive" is not "equivalent"."""
        error = (1.0 - self.level) * (1.0 + 1e-12)
        if self.num_launches < least_launches(self.level):
            return "inconclusive"
        if self.p_faster <= error:
            return "faster"
        if self.p_slower <= error:
            return "slower"
        return "equivalent" if self.p_equivalent <= error else "inconclusive"

    @property
    def launches_needed(self) -> int | None:
        """About how many launches in all would decide an inconclusive cell; None if there is no number to give.

        `outlook` says why there is none. Takes about a millisecond: the power of many numbers of launches is looked at.
        """
        if self.verdict != "inconclusive" or self.deviation is None:
            return None
        effect = math.log(self.ratio)
        needed = launches_needed(effect, self.deviation, self.margin, self.level, num_cells=self.num_cells)
        # These launches did not decide it, so that as many would do can't be the answer.
        return None if needed is None else max(needed, self.num_launches + 1)

    @property
    def outlook(self) -> Outlook:
        """What `launches_needed` means.

        "decided": None, there is a verdict; "estimated": a number; "out of reach": None, it is above MAX_LAUNCHES;
        "unknown": None, one launch has no scatter.
        """
        if self.verdict != "inconclusive":
            return "decided"
        if self.deviation is None:
            return "unknown"
        return "out of reach" if self.launches_needed is None else "estimated"

    @property
    def label(self) -> str:
        """What may be printed beside the interval; says 95 % only if it is."""
        return interval_label(self.coverage, self.num_launches, self.reaches_level)


def judge(effects: ArrayLike, margin: float = MARGIN, level: float = 0.95, seed: int = 0) -> list[Judged]:
    """Returns the verdict of every cell, in order.

    `effects`: log(time of the arm / time of the reference), shape (launches, cells), one row a launch (or block), NaN
    where a launch lacks a cell. `seed` matters above 14 launches only. Raises ValueError for another shape, infinity, a
    cell without any launch, or what is not a margin or level.
    """
    x = as_launches_by_cells(effects)
    if not 0.0 <= margin < 1.0 or not 0.0 < level < 1.0:
        raise ValueError(f"the margin lies in [0, 1) and the level between 0 and 1, not {margin} and {level}")
    if np.any(np.all(np.isnan(x), axis=0)):
        raise ValueError("a cell that no launch has is not a comparison")
    # log(1 + margin) both ways, not 1 - margin below: exchanging arm and reference must exchange the verdicts.
    bound = math.log1p(margin)
    p_slower = np.minimum(1.0, 2.0 * sign_flip_p(x - bound, seed))
    p_faster = np.minimum(1.0, 2.0 * sign_flip_p(-x - bound, seed))
    p_equivalent = np.minimum(1.0, 2.0 * np.maximum(sign_flip_p(bound - x, seed), sign_flip_p(bound + x, seed)))
    judged = []
    for cell in range(x.shape[1]):
        values = x[~np.isnan(x[:, cell]), cell]
        interval = typical_interval(list(values), level, seed)
        judged.append(
            Judged(
                ratio=math.exp(interval.centre),
                low=math.exp(interval.low),
                high=math.exp(interval.high),
                coverage=interval.coverage,
                reaches_level=interval.reaches_level,
                num_launches=interval.num_launches,
                p_faster=float(p_faster[cell]),
                p_slower=float(p_slower[cell]),
                p_equivalent=float(p_equivalent[cell]),
                deviation=float(np.std(values, ddof=1)) if len(values) > 1 else None,
                margin=margin,
                level=level,
                num_cells=x.shape[1],
            )
        )
    return judged
