"""Drift and warm-up: by hand, against SciPy, and how often noise alone is flagged.

For: slopes, p values, and when a series counts as settled. Not for: what the lab does with it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ringtree.stats import Drift, drift, is_stable


def test_slope_is_theil_and_sens() -> None:
    rng = np.random.default_rng(2)
    for n in (3, 6, 8, 20):
        values = np.exp(0.02 * np.arange(n) + 0.05 * rng.normal(size=n))
        assert drift(list(values)).slope == pytest.approx(scipy_stats.theilslopes(np.log(values), np.arange(n)).slope)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [3, 5, 7])
def test_p_is_the_permutation_p_of_spearmans_rho(n: int, ties: bool) -> None:
    values = np.exp(np.random.default_rng(n).normal(size=n))
    if ties:
        values = np.random.default_rng(n).choice([1.0, 2.0, 4.0], size=n) * np.where(np.arange(n) < n // 2, 1.0, 2.0)
    order = np.arange(n)

    def correlation(ranked: np.ndarray) -> float:
        return abs(float(np.cov(scipy_stats.rankdata(ranked), order)[0, 1]))

    expected = scipy_stats.permutation_test(
        (values,),
        correlation,
        permutation_type="pairings",
        alternative="greater",
        n_resamples=math.inf,
        vectorized=False,
    )
    assert drift(list(values)).p == pytest.approx(expected.pvalue)


def test_p_above_eight_values_is_sampled_near_that_of_students_approximation() -> None:
    values = list(np.exp(0.05 * np.arange(30) + 0.8 * np.random.default_rng(5).normal(size=30)))
    expected = scipy_stats.spearmanr(values, np.arange(30)).pvalue
    assert 0.001 < expected < 0.5, "a case in which both can be seen"
    assert drift(values).p == pytest.approx(expected, rel=0.2)
    assert drift(values, seed=1) == drift(values, seed=1)
    assert drift([float(i + 1) for i in range(30)]).p == 1e-4  # the order that was seen is among the sampled


def test_known_drifts() -> None:
    rising = drift([1.0, 1.02, 1.05, 1.06, 1.08, 1.11, 1.13, 1.15])
    assert rising.flagged
    assert rising.p == pytest.approx(2 / math.factorial(8))
    assert rising.change == pytest.approx(1.15, abs=0.01)
    assert drift([1.15, 1.13, 1.11, 1.08, 1.06, 1.05, 1.02, 1.0]).flagged
    small = drift([1.0 + 0.005 * i for i in range(8)])
    assert small.p < 0.01
    assert not small.flagged, "3.5 % in all is not worth a warning"
    assert not drift([1.0, 1.2, 1.4, 1.6, 1.8]).flagged, "five launches can't be sure"


def test_noise_alone_is_hardly_ever_flagged() -> None:
    rng, repetitions = np.random.default_rng(9), 300
    flagged = sum(drift(list(np.exp(0.3 * rng.normal(size=8)))).flagged for _ in range(repetitions))
    assert flagged / repetitions <= 0.01 + 3 * math.sqrt(0.01 * 0.99 / repetitions)


def test_few_values_have_no_drift_to_speak_of() -> None:
    assert drift([2.0]) == Drift(0.0, 1.0, 1)
    assert drift([1.0, 2.0]) == Drift(math.log(2.0), 1.0, 2)
    assert drift([3.0, 3.0, 3.0, 3.0]) == Drift(0.0, 1.0, 4)


def test_stable_means_no_longer_falling_by_more_than_the_tolerance() -> None:
    assert not is_stable([9.0, 9.0, 9.0, 5.0, 5.0])
    assert not is_stable([9.0, 9.0, 9.0, 5.0, 5.0, 5.0])
    assert is_stable([9.0, 9.0, 9.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0])
    assert is_stable([1.0, 1.0, 1.0, 0.96, 0.96, 0.96])
    assert not is_stable([1.0, 1.0, 1.0, 0.94, 0.94, 0.94])
    assert is_stable([1.0, 1.0, 1.0, 2.0, 2.0, 2.0]), "rising is not warming up"
    assert is_stable([1.0, 1.0, 50.0, 1.0, 0.1, 1.0]), "one odd value in a window does not count"
    assert is_stable([3.0, 3.0], window=1)
    assert not is_stable([])


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_drift_refuses_what_is_no_time(bad: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        drift([1.0, bad])
    with pytest.raises(ValueError, match="positive"):
        drift([])


def test_windows_tolerances_and_types_are_checked() -> None:
    with pytest.raises(ValueError, match="window"):
        is_stable([1.0], window=0)
    with pytest.raises(ValueError, match="tolerance"):
        is_stable([1.0], tolerance=1.0)
    with pytest.raises(ValueError, match="finite"):
        is_stable([math.nan])
    for arguments in ((math.nan, 0.5, 3), (0.1, 0.0, 3), (0.1, 1.5, 3), (0.1, 0.5, 0)):
        with pytest.raises(ValueError, match="drift"):
            Drift(*arguments)
