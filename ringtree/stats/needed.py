"""About how many launches would decide a comparison, one way or the other.

For: the hint beside "inconclusive". Not for: deciding anything: launches added after looking are a new run.

Planned as if the launches' effects were normal, with the power of Student's t (noncentral; for equivalence by the bound
1 - the sum of both errors; Schuirmann 1987). Two things make it resemble the test that judges (family.py):
- The error is one that 2^n flips can resolve. In a family one flip more is taken as lost, that of all launches: it
  turns a cell that is well within the margin into one far beyond it. Hence 6 launches can tell a single cell, and a
  family needs 7.
- The error is shared out over the cells, for a difference as by Bonferroni. For equivalence by the root of their
  number: cells move together there, since what is flipped is mostly their common distance to the margin.
"""

from __future__ import annotations

import math

MAX_LAUNCHES = 1000


def least_launches(level: float = 0.95) -> int:
    """Returns the smallest number of launches that can tell faster from slower: 2^(1 - n) <= 1 - level; 6 at 95 %."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level lies between 0 and 1, not {level}")
    n = 1
    while 2.0 ** (1 - n) > (1.0 - level) * (1.0 + 1e-12):
        n += 1
    return n


def launches_needed(
    effect: float, deviation: float, margin: float, level: float, power: float = 0.8, num_cells: int = 1
) -> int | None:
    """Returns about how many launches would decide a cell with probability `power`; None for more than MAX_LAUNCHES.

    `effect`: the log ratio to plan for; beyond log(1 + margin) the difference is to be shown, else equivalence.
    `deviation`: standard deviation of the launches' log ratios; `num_cells`: of the family. Never below
    least_launches(level). Raises ValueError for what is not an effect, deviation, margin, level or power.
    """
    if not math.isfinite(effect) or not (math.isfinite(deviation) and deviation >= 0):
        raise ValueError(f"an effect is finite and a deviation not negative, not {effect} and {deviation}")
    if not 0.0 <= margin < 1.0 or not 0.0 < power < 1.0 or num_cells < 1:
        raise ValueError("the margin lies in [0, 1), the power between 0 and 1, and cells are at least one")
    least = least_launches(level)
    if _power(MAX_LAUNCHES, effect, deviation, margin, level, num_cells) < power:
        return None
    # Bisection: power grows with the launches, and so does the error that their flips resolve.
    low, high = least - 1, MAX_LAUNCHES
    while high - low > 1:
        middle = (low + high) // 2
        if _power(middle, effect, deviation, margin, level, num_cells) >= power:
            high = middle
        else:
            low = middle
    return high


def _power(n: int, effect: float, deviation: float, margin: float, level: float, num_cells: int) -> float:
    """The approximate probability that n launches decide the cell."""
    bound = math.log1p(margin)
    if abs(effect) > bound:
        error = _resolved(n, (1.0 - level) / 2.0, num_cells) / num_cells
        return _one_sided(n, abs(effect) - bound, deviation, error)
    error = _resolved(n, (1.0 - level) / 2.0, num_cells) / math.sqrt(num_cells)
    above, below = (_one_sided(n, bound + sign * effect, deviation, error) for sign in (1.0, -1.0))
    return max(0.0, above + below - 1.0)


def _resolved(n: int, error: float, num_cells: int) -> float:
    """The largest error up to `error` that the flips of n launches can be held to."""
    if n > 40:
        return error
    flips = math.floor(error * 2.0**n + 1e-9) - (num_cells > 1)
    return max(0, flips) / 2.0**n


def _one_sided(n: int, distance: float, deviation: float, error: float) -> float:
    """The power of a one-sided t test to see that a centre `distance` above 0 is above 0."""
    # Loaded here: it is needed for this hint only.
    from scipy.special import chdtrc, nctdtr, stdtrit

    if distance <= 0.0 or error <= 0.0:
        return 0.0
    if deviation <= 1e-9 * distance:
        return 1.0
    critical = float(stdtrit(n - 1, 1.0 - error))
    noncentrality = math.sqrt(n) * distance / deviation
    missed = float(nctdtr(n - 1, noncentrality, critical))
    if math.isnan(missed):  # the series fails far out, where only the scatter of the estimated deviation still counts
        missed = float(chdtrc(n - 1, (n - 1) * (noncentrality / critical) ** 2))
    return 1.0 - missed
