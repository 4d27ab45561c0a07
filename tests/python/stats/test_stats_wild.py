"""Intervals of a robust fit: they cover what is known, and their width is what follows from the launches.

For: ringtree.stats.wild. Not for: the fit of a cluster's constants (tests/python/simulate/test_calibration.py).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, t

from ringtree.stats.wild import wild_intervals

SEED = 27


def test_intervals_cover_a_known_line() -> None:
    # y = a + b·x with noise of 5 %: 95 % intervals of two parameters, 40 times, miss a few times and not always.
    random = np.random.default_rng(SEED)
    x = np.linspace(0, 1, 12)
    design, missed = np.column_stack([np.ones_like(x), x]), 0
    for number in range(40):
        y = design @ [1.0, 2.0] + 0.05 * random.standard_normal(12)
        found = np.linalg.lstsq(design, y, rcond=None)[0]
        ends = wild_intervals(design, design @ found - y, np.zeros((12, 1)), 0.95, number, 399)
        missed += sum(not low <= true - at <= high for (low, high), true, at in zip(ends, (1, 2), found, strict=True))
    assert missed <= 12  # of 80: 4 are expected, and the bootstrap is a bit narrow with 12 points


def test_launches_of_its_own_widen_a_row_by_how_few_they_are() -> None:
    # Each row has two launches that no other row has, off by 1 up and down. A resample draws K of them, binomial; their
    # median is 0 if K is 0 or if half of an even K are up, else 1 up or down. The fit is the mean of the rows.
    rows, scale = 40, 1e-4  # small: the loss is quadratic there
    deviations = np.full((rows, 2 * rows), np.nan)
    for row in range(rows):
        deviations[row, 2 * row : 2 * row + 2] = scale, -scale
    ends = wild_intervals(np.ones((rows, 1)), np.zeros(rows), deviations, 0.95, SEED, 1999)
    variance = sum(
        binom.pmf(drawn, 2 * rows, 1 / rows) * (1 - (math.comb(drawn, drawn // 2) / 2**drawn if drawn % 2 == 0 else 0))
        for drawn in range(1, 2 * rows + 1)
    )
    ((low, high),) = ends
    assert (high - low) / 2 == pytest.approx(scale * math.sqrt(2 * variance / rows) * t.ppf(0.975, rows - 1), rel=0.08)
