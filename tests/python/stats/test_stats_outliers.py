"""Tukey's outer fences on logarithms, by hand.

For: what is flagged. Not for: what is done about it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from ringtree.stats import outliers


def test_fences_by_hand() -> None:
    # Logarithms 0 … 8: quartiles 2 and 6, so the fences lie at -10 and 18.
    logs = [float(i) for i in range(9)]
    assert outliers([math.exp(value) for value in logs]) == ()
    # With an added value of 19.5: quartiles 2.25 and 6.75, fences -11.25 and 20.25.
    assert outliers([math.exp(value) for value in [*logs, 19.5]]) == ()
    assert outliers([math.exp(value) for value in [*logs, 20.5]]) == (9,)
    assert outliers([math.exp(value) for value in [-11.5, *logs]]) == ()  # quartiles 1.25, 5.75; fence -12.25
    assert outliers([math.exp(value) for value in [-12.5, *logs]]) == (0,)


def test_a_launch_ten_times_as_long_is_flagged_and_its_place_told() -> None:
    values = list(np.exp(0.05 * np.random.default_rng(1).normal(size=12)))
    values[4] *= 10
    values[7] /= 10
    assert outliers(values) == (4, 7)


def test_fewer_than_five_values_have_no_outliers() -> None:
    assert outliers([1.0, 1.0, 1.0, 1e9]) == ()
    assert outliers([1.0, 1.0, 1.0, 1.0, 1e9]) == (4,)
    assert outliers([]) == ()


def test_equal_values_but_for_rounding_are_none() -> None:
    assert outliers([0.3, 0.3, 0.3 * (1 + 1e-12), 0.3, 0.3, 0.3]) == ()
    assert outliers([0.3, 0.3, 0.3001, 0.3, 0.3, 0.3]) == (2,)


def test_normal_values_are_hardly_ever_flagged() -> None:
    rng = np.random.default_rng(6)
    assert sum(len(outliers(list(np.exp(rng.normal(size=100))))) for _ in range(100)) <= 5


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_what_has_no_logarithm_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        outliers([1.0, bad])
