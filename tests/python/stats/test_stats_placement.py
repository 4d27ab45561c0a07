"""Placements from hand-off probes: known mixtures, disturbed probes, borders.

For: finding near and far, and not finding them where there is one placement. Not for: taking probes.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from ringtree.stats import Placements, split_placements

SEEDS = range(20)


def probes(seed: int, *groups: tuple[float, int]) -> list[float]:
    """Hand-off times around each group's centre (seconds), scattered by 8 %, shuffled."""
    rng = np.random.default_rng(seed)
    values = np.concatenate([centre * np.exp(0.08 * rng.normal(size=count)) for centre, count in groups])
    return [float(value) for value in rng.permutation(values)]


@pytest.mark.parametrize("seed", SEEDS)
def test_near_and_far_are_found(seed: int) -> None:
    placements = split_placements(probes(seed, (26e-9, 70), (150e-9, 30)))
    assert placements.names == ("near", "far")
    (threshold,) = placements.thresholds
    assert 35e-9 < threshold < 120e-9
    assert (placements.of(26e-9), placements.of(150e-9), placements.of(1.0)) == ("near", "far", "far")


@pytest.mark.parametrize("seed", SEEDS)
def test_one_placement_stays_one_even_with_probes_that_were_preempted(seed: int) -> None:
    quiet = probes(seed, (26e-9, 100))
    assert split_placements(quiet).thresholds == ()
    # 4 of 100 took up to 100 times as long: too few for a placement.
    assert split_placements([*quiet, 80e-9, 300e-9, 2.6e-6, 2.7e-6]).thresholds == ()
    assert split_placements(quiet).of(2.6e-6) == ""
    assert split_placements(quiet).of_visit(26e-9, 150e-9) == ""


@pytest.mark.parametrize("seed", SEEDS)
def test_probes_during_which_cores_moved_do_not_hide_the_gap(seed: int) -> None:
    # Without tolerance for strays these two bridge the gap with steps below 1.6.
    bridge = [38e-9, 57e-9, 85e-9]
    clean = probes(seed, (26e-9, 100), (130e-9, 60))
    assert split_placements([*clean, *bridge]).names == ("near", "far")
    assert split_placements([*clean, *bridge, 9e-6, 4e-6]).names == ("near", "far")


def test_three_and_four_placements_are_named_from_near_to_far() -> None:
    assert split_placements(probes(1, (26e-9, 40), (60e-9, 40), (150e-9, 40))).names == ("near", "middle 1", "far")
    four = split_placements(probes(2, (26e-9, 40), (60e-9, 40), (150e-9, 40), (400e-9, 40)))
    assert four.names == ("near", "middle 1", "middle 2", "far")
    assert [four.of(centre) for centre in (26e-9, 60e-9, 150e-9, 400e-9)] == list(four.names)


def test_a_placement_needs_three_probes_and_five_percent() -> None:
    near = [26e-9] * 10
    assert split_placements([*near, *[150e-9] * 2]).names == ()
    assert split_placements([*near, *[150e-9] * 3]).names == ("near", "far")
    near = [26e-9] * 96
    assert split_placements([*near, *[150e-9] * 4]).names == ()
    assert split_placements([*near[1:], *[150e-9] * 5]).names == ("near", "far")


def test_a_gap_has_a_ratio_of_at_least_1_6() -> None:
    assert split_placements([1.0] * 5 + [1.59] * 5).names == ()
    placements = split_placements([1.0] * 5 + [1.61] * 5)
    assert placements.thresholds == (pytest.approx(math.sqrt(1.61)),)


def test_the_widest_gap_parts_first() -> None:
    # Both gaps would do, but two probes are not placement: they stay with their nearer neighbours.
    placements = split_placements([26e-9] * 30 + [45e-9] * 2 + [150e-9] * 28)
    assert placements.names == ("near", "far")
    assert placements.of(45e-9) == "near"


def test_a_visit_during_which_the_cores_moved_belongs_nowhere() -> None:
    placements = Placements((60e-9,))
    assert placements.of_visit(26e-9, 28e-9) == "near"
    assert placements.of_visit(140e-9, 150e-9) == "far"
    assert placements.of_visit(26e-9, 150e-9) is None
    assert placements.of_visit(150e-9, 26e-9) is None


def test_few_or_no_probes_are_one_placement() -> None:
    for handoffs in ([], [1e-8], [1e-8, 1e-6], [1e-8] * 5):
        assert split_placements(handoffs) == Placements()


def test_thousands_of_probes_are_no_burden_and_scale_does_not_matter() -> None:
    handoffs = probes(3, (26e-9, 3000), (150e-9, 2000))
    placements = split_placements(handoffs)
    assert placements.names == ("near", "far")
    scaled = split_placements([1e3 * value for value in handoffs])
    assert scaled.thresholds == (pytest.approx(1e3 * placements.thresholds[0]),)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_time_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        split_placements([1e-8, bad])
    with pytest.raises(ValueError, match="positive"):
        Placements((bad,))
    with pytest.raises(ValueError, match="positive"):
        Placements((1e-8,)).of(bad)


def test_thresholds_ascend() -> None:
    for thresholds in ((2.0, 1.0), (1.0, 1.0)):
        with pytest.raises(ValueError, match="ascend"):
            Placements(thresholds)
