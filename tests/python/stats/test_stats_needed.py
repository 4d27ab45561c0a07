"""How many launches would do: by hand, by its limits, and against the power of the test that judges.

For: that the hint is about right. Not for: the verdicts themselves.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from ringtree.stats import MARGIN, MAX_LAUNCHES, launches_needed, least_launches, sign_flip_p

BOUND = math.log1p(MARGIN)


def test_least_launches_by_hand() -> None:
    assert least_launches(0.95) == 6  # 2^-5 = 3.1 %
    assert least_launches(0.9) == 5  # 2^-4 = 6.25 %
    assert least_launches(0.99) == 8  # 2^-7 = 0.78 %
    assert least_launches(0.75) == 3  # 2^-2 = 25 %, to the point
    assert least_launches(0.5) == 2
    with pytest.raises(ValueError, match="level"):
        least_launches(1.0)


def test_textbook_size_of_a_normal_sample() -> None:
    # ((1.960 + 0.842) · 5)^2 = 196 launches for a distance of a fifth of the deviation, two-sided 5 %, power 80 %.
    assert launches_needed(0.2, 1.0, 0.0, 0.95) == pytest.approx(198, abs=2)
    # Equivalence with the truth in the middle: ((1.960 + 1.282) · deviation / bound)^2, as 2.5 % are allowed to err at
    # each end and 10 % are missed there.
    assert launches_needed(0.0, 5 * BOUND, MARGIN, 0.95) == pytest.approx(10.51 * 25, abs=3)


def test_never_below_what_flips_can_resolve() -> None:
    assert launches_needed(1.0, 0.0, MARGIN, 0.95) == 6
    assert launches_needed(0.0, 0.0, MARGIN, 0.95) == 6
    assert launches_needed(1.0, 1e-9, MARGIN, 0.95) == 6
    # In a family the flip of all launches may be lost to a cell that is well within the margin.
    assert launches_needed(1.0, 1e-9, MARGIN, 0.95, num_cells=100) == 7
    quiet = np.full((7, 3), 0.0) + 1e-4 * np.arange(7)[:, np.newaxis]
    quiet[:, 0] = 0.1 + 0.01 * np.arange(7)
    assert 2 * sign_flip_p(quiet[:6] - BOUND)[0] > 0.05
    assert 2 * sign_flip_p(quiet - BOUND)[0] <= 0.05


def test_what_no_number_of_launches_decides_is_none() -> None:
    assert launches_needed(BOUND, 0.01, MARGIN, 0.95) is None  # exactly at the margin
    assert launches_needed(0.0, 0.1, 0.0, 0.95) is None  # without a margin nothing is equivalent
    assert launches_needed(0.0, 0.5, MARGIN, 0.95) is None  # about 5,300


def test_more_noise_more_cells_and_more_power_need_more_launches() -> None:
    base = launches_needed(0.1, 0.1, MARGIN, 0.95)
    assert base is not None
    for other in (
        launches_needed(0.1, 0.15, MARGIN, 0.95),
        launches_needed(0.08, 0.1, MARGIN, 0.95),
        launches_needed(0.1, 0.1, MARGIN, 0.95, num_cells=9),
        launches_needed(0.1, 0.1, MARGIN, 0.95, power=0.95),
        launches_needed(0.1, 0.1, MARGIN, 0.99),
    ):
        assert other is not None
        assert base < other <= MAX_LAUNCHES
    assert launches_needed(-0.1, 0.1, MARGIN, 0.95) == base


@pytest.mark.parametrize(
    ("effect", "deviation", "num_cells"),
    [(0.1, 0.05, 1), (0.05, 0.03, 1), (0.3, 0.25, 1), (0.1, 0.05, 9), (-0.2, 0.1, 30), (0.0, 0.018, 1), (0.01, 0.01, 1),
     (0.0, 0.015, 9), (0.0, 0.01, 30)],
)  # fmt: skip
def test_that_many_launches_do_decide_about_four_times_in_five(effect: float, deviation: float, num_cells: int) -> None:
    seed, repetitions, decided = 41, 150, 0
    needed = launches_needed(effect, deviation, MARGIN, 0.95, num_cells=num_cells)
    assert needed is not None
    assert needed <= 12, "keeps this test fast"
    rng = np.random.default_rng(seed)
    for _ in range(repetitions):
        x = deviation * rng.normal(size=(needed, num_cells))
        x[:, 0] += effect
        if abs(effect) > BOUND:
            decided += 2 * sign_flip_p(math.copysign(1.0, effect) * x - BOUND)[0] <= 0.05
        else:
            decided += 2 * max(sign_flip_p(BOUND - x)[0], sign_flip_p(BOUND + x)[0]) <= 0.05
    assert 0.65 <= decided / repetitions <= 0.97, f"{needed} launches, seed {seed}"


@pytest.mark.parametrize(
    ("effect", "deviation", "margin", "power", "num_cells"),
    [(math.nan, 0.1, 0.02, 0.8, 1), (0.1, -0.1, 0.02, 0.8, 1), (0.1, math.inf, 0.02, 0.8, 1), (0.1, 0.1, 1.0, 0.8, 1),
     (0.1, 0.1, 0.02, 1.0, 1), (0.1, 0.1, 0.02, 0.8, 0)],
)  # fmt: skip
def test_what_can_not_be_planned_is_refused(
    effect: float, deviation: float, margin: float, power: float, num_cells: int
) -> None:
    with pytest.raises(ValueError, match=r"effect|margin"):
        launches_needed(effect, deviation, margin, 0.95, power=power, num_cells=num_cells)
