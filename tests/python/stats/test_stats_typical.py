"""The interval of a mean effect: by hand, by brute force, and how often it covers.

For: Hartigan's typical values, exact and sampled. Not for: the verdicts of a family (test_stats_family.py).
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ringtree.stats import TypicalInterval, sign_flip_p, typical_interval


def test_three_values_by_hand() -> None:
    # Means of the subsets of {0, 1, 5}: 0, 1, 5, 0.5, 2.5, 3, 2. At 50 % k is 2: from 0.5 to 3.
    interval = typical_interval([0.0, 1.0, 5.0], level=0.5)
    assert (interval.low, interval.centre, interval.high) == (0.5, 2.0, 3.0)
    assert interval.coverage == 0.5
    assert interval.reaches_level


def test_eight_values_cover_95_percent_with_the_sixth_smallest_mean() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=8)
    means = sorted(float(np.mean(chosen)) for size in range(1, 9) for chosen in itertools.combinations(values, size))
    assert len(means) == 255
    interval = typical_interval(list(values))
    assert interval.low == pytest.approx(means[5])
    assert interval.high == pytest.approx(means[-6])
    assert interval.coverage == 1 - 12 / 256
    assert interval.label == "95.3 % interval of 8 launches"


def test_too_few_launches_never_say_95_percent() -> None:
    for n, coverage in ((2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375)):
        interval = typical_interval([float(i) for i in range(n)])
        assert (interval.low, interval.high) == (0.0, float(n - 1))
        assert interval.coverage == coverage
        assert not interval.reaches_level
        assert "95" not in interval.label
    assert typical_interval([1.0] * 5).label == "range of 5 launches, covers 93.8 %"
    assert typical_interval(range(6)).coverage == 1 - 2 / 64
    one = typical_interval([0.3])
    assert (one.centre, one.low, one.high, one.coverage) == (0.3, -math.inf, math.inf, 0.0)
    assert one.label == "1 launch, no interval"


@pytest.mark.parametrize("n", [6, 9, 16])
def test_interval_and_sign_flip_test_agree(n: int) -> None:
    # A centre outside of the interval is one that the test, with the same flips, rejects at half the error.
    values = np.random.default_rng(n).standard_t(3, size=n)
    interval = typical_interval(list(values))
    alpha = (1 - interval.coverage) / 2
    for side, end in ((1.0, interval.low), (-1.0, -interval.high)):
        for step, rejected in ((-1e-6, True), (1e-6, False)):
            p = sign_flip_p((side * values - end - step)[:, np.newaxis])[0]
            if n <= 14:
                assert (p <= alpha + 1e-12) == rejected
            else:  # different random flips: they agree about
                assert p == pytest.approx(alpha, abs=0.005)


@pytest.mark.parametrize("distribution", ["normal", "uniform", "laplace"])
@pytest.mark.parametrize("n", [6, 8])
def test_interval_covers_the_centre_as_often_as_it_says(distribution: str, n: int) -> None:
    seed, repetitions = 20260301 + n, 2000
    draws = getattr(np.random.default_rng(seed), distribution)(size=(repetitions, n))
    centre = 0.5 if distribution == "uniform" else 0.0
    intervals = [typical_interval(list(row)) for row in draws]
    covered = sum(interval.low <= centre <= interval.high for interval in intervals) / repetitions
    coverage = intervals[0].coverage
    assert covered >= 0.94, f"seed {seed}"
    assert abs(covered - coverage) < 4 * math.sqrt(coverage * (1 - coverage) / repetitions), f"seed {seed}"


def test_coverage_holds_where_launches_scatter_differently_and_t_does_not() -> None:
    seed, repetitions = 5, 2000
    scales = np.array([0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 1.0])
    draws = np.random.default_rng(seed).normal(size=(repetitions, 8)) * scales
    covered = sum((i := typical_interval(list(row))).low <= 0 <= i.high for row in draws) / repetitions
    assert abs(covered - 0.953125) < 0.02, f"seed {seed}"
    p = scipy_stats.ttest_1samp(draws, 0.0, axis=1).pvalue
    assert np.mean(p > 0.05) > 0.97, "the t interval must differ here, or this test shows nothing"


def test_sampled_subsets_above_14_launches_cover_as_well() -> None:
    seed, repetitions = 17, 120
    draws = np.random.default_rng(seed).normal(size=(repetitions, 15))
    intervals = [typical_interval(list(row)) for row in draws]
    covered = sum(interval.low <= 0 <= interval.high for interval in intervals) / repetitions
    assert intervals[0].coverage == pytest.approx(0.95, abs=1e-3)
    assert covered >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / repetitions), f"seed {seed}"
    # About as wide as the t interval of normal values.
    for interval, row in zip(intervals[:20], draws, strict=False):
        low, high = scipy_stats.ttest_1samp(row, 0.0).confidence_interval(0.95)
        assert interval.high - interval.low == pytest.approx(high - low, rel=0.15)


def test_seed_fixes_the_sampled_subsets() -> None:
    values = list(np.random.default_rng(8).normal(size=20))
    assert typical_interval(values, seed=1) == typical_interval(values, seed=1)
    assert typical_interval(values, seed=1) != typical_interval(values, seed=2)


def test_equal_values_give_an_interval_that_holds_its_centre() -> None:
    for n in (2, 7, 12, 30):
        interval = typical_interval([0.1] * n)
        assert interval.low <= interval.centre <= interval.high
        assert interval.high - interval.low < 1e-12


@pytest.mark.parametrize("values", [[], [math.nan, 1.0], [math.inf]])
def test_values_without_a_centre_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="at least one value"):
        typical_interval(values)


def test_level_and_invariants_are_checked() -> None:
    with pytest.raises(ValueError, match="level"):
        typical_interval([1.0, 2.0], level=1.0)
    with pytest.raises(ValueError, match="holds its centre"):
        TypicalInterval(3.0, 1.0, 2.0, 0.9, 6, False)
    with pytest.raises(ValueError, match="holds its centre"):
        TypicalInterval(math.nan, 1.0, 2.0, 0.9, 6, False)
    with pytest.raises(ValueError, match="coverage"):
        TypicalInterval(1.5, 1.0, 2.0, 1.0, 6, False)
    with pytest.raises(ValueError, match="one launch gives no interval"):
        TypicalInterval(1.5, 1.0, 2.0, 0.0, 1, False)
    with pytest.raises(ValueError, match="one launch gives no interval"):
        TypicalInterval(1.5, -math.inf, math.inf, 0.0, 2, False)
