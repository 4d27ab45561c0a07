"""The effect of a launch, by hand.

For: pairing inside rounds. Not for: anything over several launches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from ringtree.stats import round_effect


def test_effect_is_the_median_over_rounds_of_the_log_ratio_of_medians() -> None:
    # Ratios of the rounds' medians: 2, 1/2 and 3; their median is 2.
    arm = [[2.0, 2.0, 90.0], [1.0], [6.0, 3.0]]
    reference = [[1.0, 1.0, 1.0], [2.0, 2.0], [1.0, 2.0]]
    assert round_effect(arm, reference) == pytest.approx(math.log(2.0))


def test_a_slow_round_cancels_where_medians_of_the_launch_would_not() -> None:
    # The machine is ten times slower from round 2 on; the arm takes 1.5 times as long in every round.
    reference = [[1.0], [1.1], [10.0], [11.0], [9.0]]
    arm = [[1.5 * value for value in visit] for visit in reference]
    assert round_effect(arm, reference) == pytest.approx(math.log(1.5))


def test_rounds_without_both_arms_are_left_out() -> None:
    assert round_effect([[], [4.0], [1.0]], [[1.0], [2.0], []]) == pytest.approx(math.log(2.0))


def test_exchanging_arm_and_reference_turns_the_effect_round() -> None:
    arm, reference = [[1.0, 2.0], [5.0], [2.5]], [[3.0], [1.0, 0.5], [2.0]]
    assert round_effect(arm, reference) == pytest.approx(-round_effect(reference, arm))


@pytest.mark.parametrize(
    ("arm", "reference", "message"),
    [
        ([[1.0]], [[1.0], [1.0]], "don't pair"),
        ([], [], "in no round"),
        ([[1.0], []], [[], [1.0]], "in no round"),
        ([[0.0]], [[1.0]], "positive"),
        ([[1.0]], [[math.nan]], "positive"),
    ],
)
def test_effect_refuses_what_has_none(
    arm: Sequence[Sequence[float]], reference: Sequence[Sequence[float]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        round_effect(arm, reference)


@pytest.mark.parametrize("count", [1, 2, 5, 6, 64, 65, 200, 201])
def test_many_samples_and_few_have_the_same_median(count: int) -> None:
    # Shuffled by a step that has no factor in common with the counts: the median of 1 … count is (count + 1) / 2.
    samples = [float(1 + (7 * i) % count) if count % 7 else float(1 + (11 * i) % count) for i in range(count)]
    assert round_effect([samples], [[1.0]]) == pytest.approx(math.log((count + 1) / 2))


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.inf, math.nan])
@pytest.mark.parametrize("count", [1, 3, 100])
def test_a_time_that_is_none_is_refused_wherever_it_stands(wrong: float, count: int) -> None:
    for place in {0, count // 2, count - 1}:
        samples = [1.0] * count
        samples[place] = wrong
        with pytest.raises(ValueError, match="positive and finite"):
            round_effect([samples], [[1.0]])
