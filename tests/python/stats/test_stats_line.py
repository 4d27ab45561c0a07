"""Lines through times, and which of two kinds of growth points show.

For: ringtree.stats.line. Not for: which points are taken (test_health_several.py).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from ringtree.stats import fit_line, tell_apart

HOSTS = [2.0, 4.0, 8.0, 16.0, 32.0]
LOGS = [math.log2(one) for one in HOSTS]


def test_an_exact_line_is_found_with_no_residual() -> None:
    line = fit_line([1e3, 1e6, 1e9, 1e10], [20e-6 + size / 100e9 for size in (1e3, 1e6, 1e9, 1e10)])
    assert line is not None
    assert line.intercept == pytest.approx(20e-6, rel=1e-6)
    assert 1 / line.slope == pytest.approx(100e9, rel=1e-6)
    assert line.residual < 1e-9


def test_intervals_cover_what_is_true_as_often_as_they_say() -> None:
    random = np.random.default_rng(7)
    x = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    true, covered = 3 + 2 * x, 0
    for _ in range(1000):
        line = fit_line(list(x), list(true * (1 + 0.02 * random.standard_normal(len(x)))))
        assert line is not None
        covered += line.slope_interval[0] <= 2 <= line.slope_interval[1]
    assert 0.93 < covered / 1000 < 0.97


@pytest.mark.parametrize("x", [[1.0, 2.0], [1.0, 2.0, 2.0, 1.0]])
def test_two_points_are_no_line_with_an_interval(x: list[float]) -> None:
    assert fit_line(x, x) is None
    assert tell_apart(x, [math.log2(one) for one in x], x) is None


@pytest.mark.parametrize(("x", "linear"), [(HOSTS, True), (LOGS, False)])
def test_noisy_growth_is_told_apart(x: list[float], linear: bool) -> None:
    random = np.random.default_rng(3)
    times = [(10 + 9 * one) * (1 + 0.02 * random.standard_normal()) for one in x]
    told = tell_apart(HOSTS, LOGS, times)
    assert told is not None
    assert (told.p_first > 0.05) is linear
    assert (told.p_second > 0.05) is not linear
    assert (told.delta > 0) is linear


def test_what_is_true_is_seldom_rejected() -> None:
    random = np.random.default_rng(5)
    rejected = 0
    for number in range(100):
        told = tell_apart(HOSTS, LOGS, [(10 + 9 * x) * (1 + 0.1 * random.standard_normal()) for x in LOGS], seed=number)
        assert told is not None
        rejected += told.p_second < 0.05
    assert rejected <= 12


def test_three_points_on_neither_line_are_left_open() -> None:
    told = tell_apart(HOSTS[:3], LOGS[:3], [30.0, 40.0, 52.0])
    assert told is not None
    assert told.delta < 0
    assert min(told.p_first, told.p_second) > 0.05
