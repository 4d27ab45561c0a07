"""The interval of a median against the binomial distribution of SciPy and simulation with fixed seeds.

For: that an interval covers what its label says. Not for: intervals of ratios (test_stats_typical.py).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ringtree.stats import MedianInterval, coverage_of, median_interval


@pytest.mark.parametrize("num_launches", range(1, 41))
def test_coverage_agrees_with_the_binomial_distribution(num_launches: int) -> None:
    for k in range(1, (num_launches + 1) // 2 + 1):
        expected = 1 - 2 * scipy_stats.binom.cdf(k - 1, num_launches, 0.5)
        assert coverage_of(num_launches, k) == pytest.approx(max(0.0, expected), abs=1e-12)


def test_interval_is_the_shortest_that_covers_the_level() -> None:
    for n in range(6, 41):
        values = [float(i) for i in range(1, n + 1)]
        interval = median_interval(values)
        k = int(interval.low)
        assert interval.high == n + 1 - k
        assert interval.coverage >= 0.95
        assert interval.reaches_level
        if k + 1 <= (n + 1) // 2:
            assert coverage_of(n, k + 1) < 0.95


def test_too_few_launches_never_say_95_percent() -> None:
    for n in range(1, 6):
        interval = median_interval([float(i) for i in range(n)])
        assert not interval.reaches_level
        assert (interval.low, interval.high) == (0.0, float(n - 1))
        assert "95" not in interval.label
    assert median_interval([1.0] * 5).label == "range of 5 launches, covers 93.8 %"
    assert median_interval([1.0]).label == "1 launch, no interval"
    assert median_interval([1.0] * 6).label == "96.9 % interval"


def test_median_interval_covers_the_true_median_as_often_as_it_says() -> None:
    rng = np.random.default_rng(20260101)
    for n in (6, 9, 15):
        draws = np.exp(rng.normal(size=(4000, n)))  # true median 1
        intervals = [median_interval(list(row)) for row in draws]
        hits = sum(interval.low <= 1.0 <= interval.high for interval in intervals)
        coverage = intervals[0].coverage
        tolerance = 4 * math.sqrt(coverage * (1 - coverage) / 4000)
        assert abs(hits / 4000 - coverage) < tolerance


def test_an_interval_that_misses_its_median_can_not_be_made() -> None:
    with pytest.raises(ValueError, match="holds its median"):
        MedianInterval(median=3.0, low=1.0, high=2.0, coverage=0.9, num_launches=6, reaches_level=False)


@pytest.mark.parametrize("values", [[], [math.nan, 1.0], [math.inf]])
def test_median_interval_refuses_what_has_no_median(values: list[float]) -> None:
    with pytest.raises(ValueError, match="at least one value"):
        median_interval(values)


def test_more_launches_give_narrower_intervals() -> None:
    rng = np.random.default_rng(3)
    values = list(rng.normal(10.0, 1.0, size=200))
    widths = [median_interval(values[:n]).high - median_interval(values[:n]).low for n in (12, 50, 200)]
    assert all(wide > narrow for wide, narrow in pairwise(widths))
