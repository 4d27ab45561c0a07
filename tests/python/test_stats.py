"""ringtree.stats against SciPy, known answers and simulation with fixed seeds.

For: that an interval covers what its label says. Not for: how it is printed (test_lab_summary.py).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from ringtree.stats import (
    MARGIN,
    MIN_LAUNCHES,
    MedianInterval,
    RatioInterval,
    algbw,
    bus_factor,
    busbw,
    coverage_of,
    launch_median,
    median_interval,
    ratio_to_reference,
    samples,
)

FloatArray = NDArray[np.float64]


def test_sample_is_the_slowest_ranks_time_of_one_call() -> None:
    assert samples([[2.0, 8.0, 4.0], [6.0, 2.0, 4.0]], batch=2).tolist() == [3.0, 4.0, 2.0]
    assert launch_median([[2.0, 8.0, 4.0], [6.0, 2.0, 4.0]], batch=2) == 3.0


@pytest.mark.parametrize(
    ("times", "batch"), [([], 1), ([[]], 1), ([[1.0], [1.0, 2.0]], 1), ([[math.nan]], 1), ([[-1.0]], 1), ([[1.0]], 0)]
)
def test_samples_refuse_what_is_no_measurement(times: list[list[float]], batch: int) -> None:
    with pytest.raises(ValueError, match=r"batch|iteration|times"):
        samples(times, batch)


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
    with pytest.raises(ValueError, match="holds its ratio"):
        RatioInterval(2.0, low=0.5, high=1.5, adjusted_low=0.4, adjusted_high=3.0, level=0.95, num_launches=6)
    with pytest.raises(ValueError, match="adjusted one holds both"):
        RatioInterval(2.0, low=0.5, high=2.5, adjusted_low=0.4, adjusted_high=2.1, level=0.95, num_launches=6)
    with pytest.raises(ValueError, match="both ends"):
        RatioInterval(2.0, low=0.5, high=None, adjusted_low=0.4, adjusted_high=None, level=0.95, num_launches=6)
    with pytest.raises(ValueError, match="margin"):
        RatioInterval(2.0, None, None, None, None, level=0.95, num_launches=1, margin=-0.1)


@pytest.mark.parametrize("values", [[], [math.nan, 1.0], [math.inf]])
def test_median_interval_refuses_what_has_no_median(values: list[float]) -> None:
    with pytest.raises(ValueError, match="at least one value"):
        median_interval(values)


def test_ratio_agrees_with_scipys_paired_t_interval() -> None:
    rng = np.random.default_rng(5)
    for n in (2, 6, 20):
        arm, reference = np.exp(rng.normal(size=n)), np.exp(rng.normal(size=n))
        ours = ratio_to_reference(list(arm), list(reference))
        logs = np.log(arm) - np.log(reference)
        low, high = scipy_stats.ttest_1samp(logs, 0.0).confidence_interval(0.95)
        assert ours.ratio == pytest.approx(scipy_stats.gmean(arm / reference))
        assert ours.low == pytest.approx(math.exp(low))
        assert ours.high == pytest.approx(math.exp(high))


def test_ratio_is_paired_by_launch() -> None:
    # Launches differ by 100 times, the arm is twice as fast in each: unpaired, nothing could be said.
    reference = [1.0, 10.0, 100.0, 3.0, 30.0, 5.0]
    ratio = ratio_to_reference([value / 2 for value in reference], reference)
    assert ratio.ratio == pytest.approx(0.5)
    assert ratio.verdict == "faster"
    inverse = ratio_to_reference(reference, [value / 2 for value in reference])
    assert inverse.verdict == "slower"
    assert inverse.ratio == pytest.approx(1 / ratio.ratio)


def test_verdict_needs_an_interval_that_excludes_one() -> None:
    assert ratio_to_reference([0.1], [1.0]).label == "1 launch, no interval"
    assert ratio_to_reference([0.5, 2.0, 0.9, 0.6, 1.5, 1.0], [1.0] * 6).verdict == "not shown"


def test_verdict_needs_six_launches() -> None:
    for n in range(1, MIN_LAUNCHES):
        assert ratio_to_reference([0.1] * n, [1.0] * n).verdict == "too few launches"
    assert ratio_to_reference([0.1] * MIN_LAUNCHES, [1.0] * MIN_LAUNCHES).verdict == "faster"


def test_verdict_needs_an_interval_beyond_the_margin() -> None:
    for ratio, verdict in ((0.99, "not shown"), (1.019, "not shown"), (0.97, "faster"), (1.03, "slower")):
        arm = [ratio * (1 + 1e-4 * (-1) ** launch) for launch in range(6)]
        interval = ratio_to_reference(arm, [1.0] * 6)
        assert interval.low is not None
        assert interval.high is not None
        assert not interval.low <= 1.0 <= interval.high, "without the margin it would be called different"
        assert interval.verdict == verdict
        assert ratio_to_reference(arm, [1.0] * 6, margin=0.0).verdict == ("faster" if ratio < 1 else "slower")


def test_adjusted_interval_agrees_with_scipy_at_bonferronis_level_and_leaves_the_plain_one() -> None:
    rng = np.random.default_rng(8)
    arm, reference = list(np.exp(rng.normal(size=7))), list(np.exp(rng.normal(size=7)))
    plain, adjusted = ratio_to_reference(arm, reference), ratio_to_reference(arm, reference, num_ratios=36)
    low, high = scipy_stats.ttest_1samp(np.log(arm) - np.log(reference), 0.0).confidence_interval(1 - 0.05 / 36)
    assert adjusted.adjusted_low == pytest.approx(math.exp(low))
    assert adjusted.adjusted_high == pytest.approx(math.exp(high))
    assert (adjusted.low, adjusted.high) == (plain.low, plain.high) == (plain.adjusted_low, plain.adjusted_high)


@pytest.mark.parametrize("num_ratios", [1, 12])
def test_a_family_of_identical_arms_is_called_different_no_oftener_than_its_level(num_ratios: int) -> None:
    rng = np.random.default_rng(11)
    n, repetitions = 6, 3000 if num_ratios == 1 else 1500
    wrong_claims = wrong_unadjusted = wrong_beyond_margin = 0
    for _ in range(repetitions):
        shared = rng.normal(scale=0.5, size=n)  # the launch's luck, common to both arms
        arms, references = (np.exp(shared + rng.normal(scale=0.05, size=(num_ratios, n))) for _ in range(2))
        pairs = list(zip(arms, references, strict=True))

        def claims(count: int, margin: float, pairs: list[tuple[FloatArray, FloatArray]] = pairs) -> bool:
            ratios = [ratio_to_reference(list(a), list(b), num_ratios=count, margin=margin) for a, b in pairs]
            return any(ratio.verdict in ("faster", "slower") for ratio in ratios)

        wrong_claims += claims(num_ratios, 0.0)
        wrong_unadjusted += claims(1, 0.0)
        wrong_beyond_margin += claims(num_ratios, MARGIN)
    # Bonferroni's bound is 0.05, for independent ratios as these 1 - (1 - 0.05/m)^m.
    expected = 1 - (1 - 0.05 / num_ratios) ** num_ratios
    assert abs(wrong_claims / repetitions - expected) < 4 * math.sqrt(expected * (1 - expected) / repetitions)
    assert wrong_beyond_margin <= wrong_claims
    if num_ratios > 1:
        assert wrong_unadjusted / repetitions > 0.3, "the test must be able to see a lack of adjustment"


@pytest.mark.parametrize(("arm", "reference"), [([1.0], [1.0, 2.0]), ([], []), ([0.0], [1.0]), ([math.nan], [1.0])])
def test_ratio_refuses_what_does_not_pair(arm: list[float], reference: list[float]) -> None:
    with pytest.raises(ValueError, match=r"pair|positive"):
        ratio_to_reference(arm, reference)


def test_busbw_is_the_rate_of_the_busiest_link_whatever_the_number_of_ranks() -> None:
    # A ring moves 2(n-1)/n of the data through each link, an all_gather or reduce_scatter half of that.
    for n in (1, 2, 3, 8, 64):
        assert bus_factor("all_reduce", n) == pytest.approx(2 * (n - 1) / n)
        assert bus_factor("all_gather", n) == bus_factor("reduce_scatter", n) == pytest.approx((n - 1) / n)
        assert bus_factor("broadcast", n) == bus_factor("reduce", n) == 1.0
    assert algbw(1_000_000, 0.5) == 2e6
    assert busbw("all_reduce", 1_000_000, 0.5, 4) == pytest.approx(3e6)


def test_unknown_collective_and_zero_time_have_no_rate() -> None:
    with pytest.raises(ValueError, match="all_gather"):
        bus_factor("allreduce", 4)
    with pytest.raises(ValueError, match="positive time"):
        algbw(8, 0.0)


def test_more_launches_give_narrower_intervals() -> None:
    rng = np.random.default_rng(3)
    values = list(rng.normal(10.0, 1.0, size=200))
    widths = [median_interval(values[:n]).high - median_interval(values[:n]).low for n in (12, 50, 200)]
    assert all(wide > narrow for wide, narrow in pairwise(widths))
