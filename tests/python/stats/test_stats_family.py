"""Verdicts of a family: known answers, symmetry, error rates, power, and the invariants of Judged.

For: that a claim is as rare where it is wrong, and as frequent where it is right, as is said.
Not for: the p values as such (test_stats_signflip.py), how many launches would do (test_stats_needed.py).
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from ringtree.stats import MARGIN, judge, sign_flip_p, typical_interval

FloatArray = NDArray[np.float64]
BOUND = math.log1p(MARGIN)
ALTERNATING = np.array([1.0, -1.0] * 4)
GOOD = judge([[0.1]] * 8)[0]


def around(ratio: float, scatter: float, num_launches: int = 8) -> FloatArray:
    """Log ratios around `ratio`, every other launch above and below, so that their mean is exact."""
    return math.log(ratio) + scatter * ALTERNATING[:num_launches]


def test_known_verdicts() -> None:
    effects = np.stack([around(0.9, 0.01), around(1.1, 0.01), around(1.0, 0.005), around(1.05, 0.2)], axis=1)
    faster, slower, same, unclear = judge(effects)
    assert [cell.verdict for cell in (faster, slower, same, unclear)] == [
        "faster", "slower", "equivalent", "inconclusive"
    ]  # fmt: skip
    assert faster.ratio == pytest.approx(0.9)
    assert (faster.outlook, faster.launches_needed) == ("decided", None)
    assert unclear.outlook in ("estimated", "out of reach")
    assert {cell.num_cells for cell in (faster, slower, same, unclear)} == {4}


def test_single_cell_p_values_by_hand() -> None:
    # All eight launches say the same: one flip of 256 is as extreme, doubled for the two directions.
    (slower,) = judge([[0.1]] * 8)
    assert (slower.p_slower, slower.p_faster, slower.p_equivalent) == (2 / 256, 1.0, 1.0)
    (same,) = judge([[0.0]] * 8)
    assert (same.p_slower, same.p_faster, same.p_equivalent) == (1.0, 1.0, 2 / 256)
    assert same.verdict == "equivalent"


def test_interval_is_that_of_the_cell_alone() -> None:
    effects = np.random.default_rng(4).normal(0.1, 0.05, size=(8, 5))
    for cell, judged in enumerate(judge(effects)):
        interval = typical_interval(list(effects[:, cell]))
        assert (judged.ratio, judged.low, judged.high) == pytest.approx(
            tuple(math.exp(value) for value in (interval.centre, interval.low, interval.high))
        )
        assert judged.label == "95.3 % interval of 8 launches"


def test_a_difference_within_the_margin_is_no_difference() -> None:
    for ratio, verdict in (
        (1.019, "equivalent"),
        (1.0201, "slower"),
        (1 / 1.019, "equivalent"),
        (1 / 1.0201, "faster"),
    ):
        (judged,) = judge(around(ratio, 1e-5)[:, np.newaxis])
        assert judged.verdict == verdict, ratio
        (strict,) = judge(around(ratio, 1e-5)[:, np.newaxis], margin=0.0)
        assert strict.verdict == ("faster" if ratio < 1 else "slower")


@pytest.mark.parametrize("seed", range(8))
def test_exchanging_arm_and_reference_exchanges_the_verdicts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    effects = rng.normal(rng.normal(0, 0.08, size=7), 0.03, size=(8, 7))
    mirrored = {"faster": "slower", "slower": "faster", "equivalent": "equivalent", "inconclusive": "inconclusive"}
    for there, back in zip(judge(effects), judge(-effects), strict=True):
        assert back.verdict == mirrored[there.verdict]
        assert (back.ratio, back.low, back.high) == pytest.approx((1 / there.ratio, 1 / there.high, 1 / there.low))
        assert (back.p_faster, back.p_slower, back.p_equivalent) == (
            there.p_slower, there.p_faster, there.p_equivalent
        )  # fmt: skip
        assert back.launches_needed == there.launches_needed


def test_fewer_than_six_launches_decide_nothing() -> None:
    for n in range(1, 6):
        for effect in (0.5, -0.5, 0.0):
            (judged,) = judge([[effect]] * n)
            assert judged.verdict == "inconclusive"
    assert [judge([[effect]] * 6)[0].verdict for effect in (0.5, -0.5, 0.0)] == ["slower", "faster", "equivalent"]


def test_one_launch_says_that_it_has_no_scatter() -> None:
    (judged,) = judge([[0.3]])
    assert (judged.low, judged.high, judged.coverage) == (0.0, math.inf, 0.0)
    assert (judged.outlook, judged.launches_needed) == ("unknown", None)
    assert judged.label == "1 launch, no interval"


def test_missing_launches_count_for_nothing_and_are_not_in_the_interval() -> None:
    effects = np.full((8, 2), 0.2)
    effects[:3, 1] = np.nan
    whole, part = judge(effects)
    assert (whole.verdict, whole.num_launches) == ("slower", 8)
    # 5 launches of its own: nothing can be claimed, however large the family's number of launches.
    assert (part.verdict, part.num_launches) == ("inconclusive", 5)
    effects[2, 1] = 0.2
    assert judge(effects)[1].verdict == "slower"


def test_undecided_cells_say_how_many_launches_would_do() -> None:
    noisy, hopeless = judge(np.stack([around(1.1, 0.15), around(1.0, 2.0)], axis=1))
    assert noisy.outlook == "estimated"
    assert noisy.launches_needed is not None
    assert noisy.launches_needed > noisy.num_launches
    assert (hopeless.outlook, hopeless.launches_needed) == ("out of reach", None)
    # 7 would usually do, but these 20 did not: then it takes more than 20.
    unlucky = dataclasses.replace(GOOD, num_launches=20, deviation=0.02, p_slower=0.06)
    assert (unlucky.outlook, unlucky.launches_needed) == ("estimated", 21)


@pytest.mark.parametrize("true_effect", [0.0, BOUND])
def test_false_claims_are_as_rare_as_said_with_correlated_noisy_cells(true_effect: float) -> None:
    seed, repetitions, wrong, unadjusted = 77, 600, 0, 0
    rng = np.random.default_rng(seed)
    margin = MARGIN if true_effect else 0.0  # both at the edge of the null, where errors are most frequent
    for _ in range(repetitions):
        effects = true_effect + 0.3 * (rng.normal(size=(8, 1)) + rng.normal(size=(8, 9))) / math.sqrt(2)
        wrong += any(judged.verdict in ("faster", "slower") for judged in judge(effects, margin=margin))
        centred = effects - true_effect
        unadjusted += any(
            2 * min(sign_flip_p(centred[:, [c]])[0], sign_flip_p(-centred[:, [c]])[0]) <= 0.05 for c in range(9)
        )
    assert wrong / repetitions <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / repetitions), f"seed {seed}"
    assert unadjusted / repetitions > 0.15, "the test must be able to see a lack of adjustment"


@pytest.mark.parametrize("edge", [BOUND, -BOUND])
def test_false_equivalence_is_as_rare_as_said(edge: float) -> None:
    seed, repetitions = 78, 1000
    rng = np.random.default_rng(seed)
    # Three cells are just too different, three are truly equivalent, and all share the launch's luck.
    centres = np.array([edge] * 3 + [0.0] * 3)
    wrong = right = 0
    for _ in range(repetitions):
        effects = centres + 0.007 * (rng.normal(size=(8, 1)) + rng.normal(size=(8, 6)))
        equivalent = [judged.verdict == "equivalent" for judged in judge(effects)]
        wrong += any(equivalent[:3])
        right += equivalent[3]
    assert wrong / repetitions <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / repetitions), f"seed {seed}"
    assert right / repetitions > 0.6, "the test must be able to claim equivalence"


@pytest.mark.parametrize(("effect", "verdict"), [(math.log(1.1), "slower"), (-math.log(1.1), "faster")])
def test_ten_percent_is_found_with_eight_launches(effect: float, verdict: str) -> None:
    seed, repetitions, found = 79, 300, 0
    rng = np.random.default_rng(seed)
    for _ in range(repetitions):
        effects = rng.normal(scale=0.02, size=(8, 9))
        effects[:, 4] += effect
        found += judge(effects)[4].verdict == verdict
    assert found / repetitions >= 0.95, f"seed {seed}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ratio": 0.0}, "holds its ratio"),
        ({"low": 2.0}, "holds its ratio"),
        ({"high": math.nan}, "holds its ratio"),
        ({"p_slower": 0.0}, "p value"),
        ({"p_equivalent": 1.5}, "p value"),
        ({"margin": 1.0}, "margin"),
        ({"level": 1.0}, "level"),
        ({"coverage": 1.0}, "coverage"),
        ({"num_launches": 0}, "at least one launch"),
        ({"num_cells": 0}, "at least one launch"),
        ({"deviation": None}, "two launches or more"),
        ({"num_launches": 1}, "two launches or more"),
        ({"deviation": -0.1}, "not negative"),
    ],
)
def test_a_judgement_that_contradicts_itself_can_not_be_made(change: dict[str, float | None], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(GOOD, **change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("effects", "margin", "level", "message"),
    [
        ([1.0], 0.02, 0.95, "shape"),
        ([[math.inf]], 0.02, 0.95, "finite"),
        ([[math.nan, 1.0]], 0.02, 0.95, "no launch has"),
        ([[1.0]], -0.1, 0.95, "margin"),
        ([[1.0]], 0.02, 1.0, "level"),
    ],
)
def test_what_can_not_be_judged_is_refused(effects: list[float], margin: float, level: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        judge(effects, margin=margin, level=level)
