"""Where one arm stops being the faster one: the crossover of two arms along the sizes, with its interval.

For: "ring overtakes tree at 1.7 MB (1.2–2.3 MB)", and "no crossover in this range" as a finding of its own.
Not for: the verdict at one size (family.py), models of time (ringtree.model).

A crossover is reported only between sizes at which a winner is claimed: first each size is tested for a difference in
either direction (sign-flip max-T over the sizes, no margin: where curves cross the difference passes through 0, and a
margin would forbid claims near it). The claims decide what is found: a crossing, none, several, or nothing yet.

The estimate is where the mean curve crosses. Between two measured sizes both arms' times are taken as linear in the
size, which is exact for α + s/β: with d = t_B · (exp(e) - 1) for the mean effect e, d is linear and its zero is known.

The interval comes from the crossings of the mean curves of all subsets of launches, as in typical.py. If the arms'
order changes once along the sizes, the crossing of a subset's curve lies below the size s exactly if the subset's mean
effect at s already has the sign of the larger sizes. At the true crossing the effects of the launches are centred at 0,
so each of the 2^n possible signs of the subsets' means there is as likely as Hartigan 1969 (JASA 64:1303) needs, and
the order statistics of the crossings cover the true one as those of the means cover the mean: 95.3 % with 8 launches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtree.stats.signflip import as_launches_by_cells, sign_flip_p
from ringtree.stats.subsets import order_statistic, subsets
from ringtree.stats.typical import interval_label

FloatArray = NDArray[np.float64]
Kind = Literal["crossing", "none", "several", "undecided"]
Side = Literal["A", "B"]


@dataclass(frozen=True)
class CrossoverFinding:
    """What can be said about where A and B exchange places. Sizes in bytes.

    kind: "crossing" (the claims change sign once), "none" (one arm is claimed faster at every size: no crossover in
    this range), "several" (the claims change sign more than once), "undecided" (too little is claimed).
    `faster_below`: who is faster at the small end; for "none", everywhere; None unless the kind is one of those two.
    `estimate`, `low`, `high`: for a crossing only. `low_open`, `high_open`: the interval goes on beyond the range
    measured and is cut off at its end; rare, since claims and interval have the same level: an end of the range that is
    claimed has too few subsets that disagree.
    """

    kind: Kind
    num_launches: int
    faster_below: Side | None = None
    a_faster_at: tuple[int, ...] = ()
    b_faster_at: tuple[int, ...] = ()
    open_at: tuple[int, ...] = ()
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False
    coverage: float = 0.0
    reaches_level: bool = False

    def __post_init__(self) -> None:
        if self.kind == "crossing":
            if self.estimate is None or self.low is None or self.high is None:
                raise ValueError("a crossing has an estimate and an interval")
            if not 0 <= self.low <= self.estimate <= self.high:
                raise ValueError(f"an interval holds its estimate: {self.low} <= {self.estimate} <= {self.high}")
        elif (self.estimate, self.low, self.high) != (None, None, None) or self.low_open or self.high_open:
            raise ValueError("without a crossing there is nothing to estimate")
        if (self.kind in ("crossing", "none")) != (self.faster_below is not None):
            raise ValueError("who is faster below is known exactly if there is one crossing or none")
        if self.kind == "none" and (self.open_at or (self.a_faster_at and self.b_faster_at)):
            raise ValueError("no crossover is found only if one arm is claimed faster at every size")
        sizes = [*self.a_faster_at, *self.b_faster_at, *self.open_at]
        if len(set(sizes)) != len(sizes) or not 0.0 <= self.coverage < 1.0 or self.num_launches < 1:
            raise ValueError(
                "each size is claimed for one arm or open, coverage lies in [0, 1), launches are at least one"
            )

    @property
    def label(self) -> str:
        """What may be printed beside the interval; says 95 % only if it is."""
        if self.kind != "crossing":
            return f"{self.num_launches} launches, no interval"
        return interval_label(self.coverage, self.num_launches, self.reaches_level)


def find_crossovers(
    sizes: Sequence[int],
    effects: ArrayLike,
    times_reference: Sequence[float],
    level: float = 0.95,
    seed: int = 0,
) -> CrossoverFinding:
    """Returns the crossover of the arms A and B along `sizes` (bytes, ascending, at least two).

    `effects`: log(time of A / time of B), shape (launches, sizes), NaN where a launch lacks a size; `times_reference`:
    B's typical time at each size, seconds. The level is that of the interval, and 1 - level the family-wise error of
    the claims. If noise makes a curve cross several times, its crossing nearest to the pooled one (in the logarithm of
    the size) counts, and of the pooled curve the middle one; the interval is then approximate. Raises ValueError for
    shapes that don't fit, sizes that don't ascend, times that are not positive, or a size without any launch.
    """
    x = as_launches_by_cells(effects)
    s, t = np.asarray(sizes, dtype=np.float64), np.asarray(times_reference, dtype=np.float64)
    if len(s) < 2 or len(s) != x.shape[1] or len(s) != len(t) or np.any(np.diff(s) <= 0) or s[0] < 0:
        raise ValueError(
            f"{x.shape[1]} columns and {len(t)} times need as many ascending sizes, two or more, not {sizes}"
        )
    if not (np.all(np.isfinite(t)) and np.all(t > 0)) or not 0.0 < level < 1.0:
        raise ValueError("times are positive and finite, and the level lies between 0 and 1")
    if np.any(np.all(np.isnan(x), axis=0)):
        raise ValueError("a size that no launch has can't be compared")
    error = (1.0 - level) / 2.0 * (1.0 + 1e-12)
    claims = np.where(sign_flip_p(-x, seed) <= error, -1, np.where(sign_flip_p(x, seed) <= error, 1, 0))
    at = {claim: tuple(int(size) for size, c in zip(sizes, claims, strict=True) if c == claim) for claim in (-1, 0, 1)}
    signs = claims[claims != 0]
    changes = int(np.count_nonzero(np.diff(signs)))
    below: Side | None = None if len(signs) == 0 else "A" if signs[0] < 0 else "B"
    if changes > 1:
        return CrossoverFinding("several", len(x), None, at[-1], at[1], at[0])
    if changes == 0:
        if at[0] or below is None:
            return CrossoverFinding("undecided", len(x), None, at[-1], at[1], at[0])
        return CrossoverFinding("none", len(x), below, at[-1], at[1], at[0])
    # Turned so that differences go from below 0, where the first winner is faster, to above.
    orientation = -float(signs[0])
    estimate = _pooled_crossing(s, orientation * _differences(x, t, np.ones((1, len(x)), dtype=np.bool_))[0])
    members = subsets(len(x), seed)
    found = np.sort(crossings_nearest(s, orientation * _differences(x, t, members), estimate))
    k, coverage, reaches_level = order_statistic(len(found), level)
    low, high = float(found[k - 1]), float(found[-k])
    return CrossoverFinding(
        kind="crossing",
        num_launches=len(x),
        faster_below=below,
        a_faster_at=at[-1],
        b_faster_at=at[1],
        open_at=at[0],
        estimate=estimate,
        low=min(max(low, float(s[0])), estimate),
        high=max(min(high, float(s[-1])), estimate),
        low_open=low == -math.inf,
        high_open=high == math.inf,
        coverage=coverage,
        reaches_level=reaches_level,
    )


def _differences(x: FloatArray, t: FloatArray, members: NDArray[np.bool_]) -> FloatArray:
    """Returns time of A - time of B of the mean curve of each subset, shape (subsets, sizes), seconds."""
    there = ~np.isnan(x)
    counts = members.astype(np.float64) @ there
    with np.errstate(invalid="ignore"):
        means = (members.astype(np.float64) @ np.where(there, x, 0.0)) / counts
    # A subset none of whose launches has a size takes the effect there from its neighbours.
    columns = np.arange(x.shape[1])
    for row in np.flatnonzero((counts == 0).any(axis=1)):
        known = counts[row] > 0
        means[row] = np.interp(columns, columns[known], means[row, known]) if known.any() else 0.0
    return np.asarray(t * np.expm1(means), dtype=np.float64)


def _rising_zeros(s: FloatArray, d: FloatArray) -> FloatArray:
    """Returns where each curve d(s) rises through 0 between neighbours, NaN where it doesn't: (curves, sizes - 1)."""
    before, after = d[:, :-1], d[:, 1:]
    rises = (before <= 0) & (after > 0)
    share = np.divide(-before, after - before, out=np.full_like(before, np.nan), where=rises)
    return np.asarray(s[:-1] + share * np.diff(s), dtype=np.float64)


def _pooled_crossing(s: FloatArray, d: FloatArray) -> float:
    """Returns the crossing of the curve of all launches: the middle one, if noise near 0 makes several."""
    zeros = _rising_zeros(s, d[np.newaxis])[0]
    zeros = zeros[~np.isnan(zeros)]
    return float(zeros[(len(zeros) - 1) // 2])


def crossings_nearest(s: FloatArray, d: FloatArray, pooled: float) -> FloatArray:
    """Returns of each curve the crossing nearest to `pooled`; infinite if it lies beyond the range, (curves,)."""
    zeros = _rising_zeros(s, d)
    distance = np.where(np.isnan(zeros), np.inf, np.abs(np.log1p(zeros) - math.log1p(pooled)))
    nearest = np.argmin(distance, axis=1)
    chosen = np.take_along_axis(zeros, nearest[:, np.newaxis], axis=1)[:, 0]
    # A curve that never rises through 0 has its sign at the pooled crossing; it crossed before the range or will after.
    left = min(max(int(np.searchsorted(s, pooled, side="right")) - 1, 0), len(s) - 2)
    share = (pooled - s[left]) / (s[left + 1] - s[left])
    there = d[:, left] + share * (d[:, left + 1] - d[:, left])
    return np.where(np.isnan(chosen), np.where(there > 0, -np.inf, np.inf), chosen)
