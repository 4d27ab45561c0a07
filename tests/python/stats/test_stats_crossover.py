"""Crossovers of curves whose truth is known in closed form.

For: what is found, where, and how often the interval holds the truth. Not for: how it is said.

Most curves are α + s/β: A has the smaller α, B the larger β, so A is faster below s* = (αB - αA) / (1/βA - 1/βB).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from ringtree.stats import CrossoverFinding, find_crossovers
from ringtree.stats.crossover import crossings_nearest

FloatArray = NDArray[np.float64]
ALPHA_A, BETA_A, ALPHA_B, BETA_B = 20e-6, 1e9, 60e-6, 2e9
TRUTH = (ALPHA_B - ALPHA_A) / (1 / BETA_A - 1 / BETA_B)  # 80,000 bytes
SIZES = [16_384, 32_768, 65_536, 131_072, 262_144]


def times(sizes: list[int]) -> tuple[FloatArray, FloatArray]:
    s = np.array(sizes, dtype=np.float64)
    return ALPHA_A + s / BETA_A, ALPHA_B + s / BETA_B


def effects(sizes: list[int], noise: FloatArray | float, num_launches: int = 8) -> FloatArray:
    a, b = times(sizes)
    return np.log(a / b) + np.zeros((num_launches, 1)) + noise


def test_lines_cross_where_they_cross() -> None:
    assert pytest.approx(80_000) == TRUTH
    finding = find_crossovers(SIZES, effects(SIZES, 0.0), list(times(SIZES)[1]))
    assert (finding.kind, finding.faster_below) == ("crossing", "A")
    assert (finding.estimate, finding.low, finding.high) == pytest.approx((TRUTH, TRUTH, TRUTH))
    assert (finding.a_faster_at, finding.b_faster_at, finding.open_at) == (tuple(SIZES[:3]), tuple(SIZES[3:]), ())
    assert finding.label == "95.3 % interval of 8 launches"


def test_exchanging_the_arms_exchanges_the_sides_and_keeps_the_place() -> None:
    noise = 0.05 * np.random.default_rng(3).normal(size=(8, 5))
    x, (a, b) = effects(SIZES, noise), times(SIZES)
    there = find_crossovers(SIZES, x, list(b))
    back = find_crossovers(SIZES, -x, list(b * np.exp(x.mean(axis=0))))
    assert (there.faster_below, back.faster_below) == ("A", "B")
    assert (there.a_faster_at, there.b_faster_at) == (back.b_faster_at, back.a_faster_at)
    assert back.estimate == pytest.approx(there.estimate)
    assert (back.low, back.high) == pytest.approx((there.low, there.high), rel=0.02)
    assert not np.allclose(a, b)


def test_interval_is_made_of_the_crossings_of_subset_means_by_brute_force() -> None:
    rng = np.random.default_rng(9)
    sizes = [1000, 2000]
    x = np.array([-0.2, 0.3]) + 0.05 * rng.normal(size=(8, 2))
    t = [1e-3, 1.5e-3]
    crossings = []
    for count in range(1, 9):
        for chosen in itertools.combinations(range(8), count):
            left, right = (t[i] * (math.exp(x[list(chosen), i].mean()) - 1) for i in (0, 1))
            crossings.append(1000 + 1000 * left / (left - right))
    crossings.sort()
    finding = find_crossovers(sizes, x, t)
    assert (finding.low, finding.high) == pytest.approx((crossings[5], crossings[-6]))
    left, right = (t[i] * (math.exp(x[:, i].mean()) - 1) for i in (0, 1))
    assert finding.estimate == pytest.approx(1000 + 1000 * left / (left - right))


def share_held(one: Callable[[], CrossoverFinding], repetitions: int) -> float:
    """Of crossings that were found, which nearly all must be, the share whose interval holds the truth."""
    held = []
    for finding in (one() for _ in range(repetitions)):
        if finding.kind == "crossing":
            assert finding.low is not None
            assert finding.high is not None
            held.append(finding.low <= TRUTH <= finding.high)
    assert len(held) > 0.95 * repetitions
    return sum(held) / len(held)


@pytest.mark.parametrize("common", [0.0, 0.03])
def test_interval_holds_the_truth_as_often_as_it_says(common: float) -> None:
    rng = np.random.default_rng(51)

    def one() -> CrossoverFinding:
        noise = common * rng.normal(size=(8, 1)) + 0.06 * rng.normal(size=(8, 5))
        return find_crossovers(SIZES, effects(SIZES, noise), list(times(SIZES)[1]))

    assert 0.93 <= share_held(one, 400) < 0.99, "an interval that is always right is too wide"


def test_interval_holds_the_truth_if_links_differ_from_launch_to_launch() -> None:
    # As on an emulated cluster whose α and β are drawn anew for each launch: noise along the whole curve.
    rng = np.random.default_rng(52)
    s = np.array(SIZES, dtype=np.float64)

    def one() -> CrossoverFinding:
        scale = np.exp(0.05 * rng.normal(size=(8, 2)))
        a = ALPHA_A * scale[:, :1] + s / (BETA_A * scale[:, 1:])
        b = ALPHA_B * scale[:, :1] + s / (BETA_B * scale[:, 1:])
        x = np.log(a / b) + 0.01 * rng.normal(size=(8, 5))
        return find_crossovers(SIZES, x, list(np.median(b, axis=0)))

    assert share_held(one, 800) >= 0.93


def test_no_crossover_in_the_range_is_a_finding() -> None:
    finding = find_crossovers(SIZES[:3], effects(SIZES[:3], 0.0), list(times(SIZES[:3])[1]))
    assert (finding.kind, finding.faster_below) == ("none", "A")
    assert finding.estimate is None
    assert finding.open_at == ()
    finding = find_crossovers(SIZES[3:], effects(SIZES[3:], 0.0), list(times(SIZES[3:])[1]))
    assert (finding.kind, finding.faster_below) == ("none", "B")


def test_too_little_claimed_is_undecided() -> None:
    b = list(times(SIZES)[1])
    noisy = find_crossovers(SIZES, effects(SIZES, 2.0 * np.random.default_rng(1).normal(size=(8, 5))), b)
    assert (noisy.kind, noisy.faster_below, noisy.open_at) == ("undecided", None, tuple(SIZES))
    # One side claimed, the rest open: the crossover may lie there.
    x = np.full((8, 5), -0.2)
    x[:, 4] = [0.3, -0.3] * 4
    half = find_crossovers(SIZES, x, b)
    assert (half.kind, half.a_faster_at, half.open_at) == ("undecided", tuple(SIZES[:4]), (SIZES[4],))
    # Five launches can't claim anything.
    assert find_crossovers(SIZES, effects(SIZES, 0.0, num_launches=5), b).kind == "undecided"


def test_claims_that_change_twice_are_several_crossovers() -> None:
    x = np.tile([-0.2, -0.2, 0.2, 0.2, -0.2], (8, 1))
    finding = find_crossovers(SIZES, x, [1e-3] * 5)
    assert finding.kind == "several"
    assert finding.a_faster_at == (*SIZES[:2], SIZES[4])
    assert finding.estimate is None


def test_equal_arms_are_hardly_ever_claimed_to_cross() -> None:
    seed, repetitions, claimed = 53, 600, 0
    rng = np.random.default_rng(seed)
    for _ in range(repetitions):
        x = 0.1 * (rng.normal(size=(8, 1)) + rng.normal(size=(8, 5)))
        claimed += bool(find_crossovers(SIZES, x, [1e-3] * 5).open_at != tuple(SIZES))
    assert claimed / repetitions <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / repetitions), f"seed {seed}"


def test_curves_that_do_not_cross_within_the_range_count_as_beyond_it() -> None:
    s = np.array([100.0, 200.0, 300.0])
    curves = np.array(
        [
            [-1.0, 1.0, 3.0],  # crosses at 150
            [-3.0, -2.0, -1.0],  # crosses later
            [1.0, 2.0, 3.0],  # has crossed before
            [-1.0, 0.0, 2.0],  # at 200
            [1.0, 1.0, -1.0],  # the wrong way round: at 150 it has the later sign
            [1.0, -3.0, -4.0],  # the wrong way round: at 150 it has the earlier sign
        ]
    )
    expected = [150.0, math.inf, -math.inf, 200.0, -math.inf, math.inf]
    assert crossings_nearest(s, curves, 150.0).tolist() == expected
    # Of two crossings, at 125 and 325, the nearer to the pooled one.
    wavy = np.array([[-1.0, 3.0, -1.0, 3.0]])
    s = np.array([100.0, 200.0, 300.0, 400.0])
    assert [float(crossings_nearest(s, wavy, pooled)[0]) for pooled in (130.0, 310.0)] == [125.0, 325.0]


def test_the_interval_stays_between_the_sizes_claimed() -> None:
    # A size is claimed for A if too few subsets disagree for the interval to reach it: the same level, the same flips.
    rng, found = np.random.default_rng(61), 0
    for _ in range(200):
        finding = find_crossovers(SIZES, effects(SIZES, 0.25 * rng.normal(size=(8, 1))), list(times(SIZES)[1]))
        if finding.kind == "crossing":
            assert finding.low is not None
            assert finding.high is not None
            assert finding.a_faster_at[-1] <= finding.low <= finding.high <= finding.b_faster_at[0]
            assert not finding.low_open
            assert not finding.high_open
            found += 1
    assert found > 100


def test_noise_near_zero_does_not_move_the_crossing_to_another_place() -> None:
    # Between the claims the mean curve rises through 0 at 25, 45 and 65; the middle one is taken.
    x = np.tile([-0.3, -0.01, 0.01, -0.01, 0.01, -0.01, 0.01, 0.3], (8, 1))
    x[:, 1:7] += 0.1 * np.array([1, -1, 1, -1, 1, -1, 1, -1])[:, np.newaxis]
    finding = find_crossovers([10, 20, 30, 40, 50, 60, 70, 80], x, [1.0] * 8)
    assert finding.open_at == (20, 30, 40, 50, 60, 70)
    assert finding.estimate == pytest.approx(45.0, abs=0.1)
    assert finding.low is not None
    assert finding.high is not None
    assert 10 < finding.low < 45 < finding.high < 80


def test_missing_sizes_of_a_launch_are_bridged() -> None:
    x = effects(SIZES, 0.02 * np.random.default_rng(2).normal(size=(8, 5)))
    whole = find_crossovers(SIZES, x, list(times(SIZES)[1]))
    x[0, 2] = x[3, 4] = x[5, 0] = np.nan
    part = find_crossovers(SIZES, x, list(times(SIZES)[1]))
    assert part.kind == "crossing"
    assert part.estimate == pytest.approx(whole.estimate, rel=0.1)


def test_more_than_14_launches_are_sampled_from_the_seed() -> None:
    x = effects(SIZES, 0.05 * np.random.default_rng(4).normal(size=(18, 5)), num_launches=18)
    b = list(times(SIZES)[1])
    first, again, other = (find_crossovers(SIZES, x, b, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.estimate == other.estimate
    assert (first.low, first.high) == pytest.approx((other.low, other.high), rel=0.02)


@pytest.mark.parametrize(
    ("sizes", "columns", "seconds", "message"),
    [
        ([1], 1, [1.0], "two or more"),
        ([1, 2], 3, [1.0, 1.0], "ascending"),
        ([1, 2], 2, [1.0], "ascending"),
        ([2, 1], 2, [1.0, 1.0], "ascending"),
        ([1, 1], 2, [1.0, 1.0], "ascending"),
        ([1, 2], 2, [1.0, 0.0], "positive"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    sizes: list[int], columns: int, seconds: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        find_crossovers(sizes, np.zeros((8, columns)), seconds)


def test_a_size_that_no_launch_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no launch has"):
        find_crossovers([1, 2], [[math.nan, 1.0]] * 8, [1.0, 1.0])


GOOD = find_crossovers(SIZES, effects(SIZES, 0.0), list(times(SIZES)[1]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimate": None}, "has an estimate"),
        ({"low": 1e9}, "holds its estimate"),
        ({"kind": "several"}, "nothing to estimate"),
        ({"faster_below": None}, "faster below"),
        ({"open_at": (SIZES[0],)}, "claimed for one arm"),
        ({"coverage": 1.0}, "coverage"),
        ({"kind": "none", "estimate": None, "low": None, "high": None, "low_open": True}, "nothing to estimate"),
        ({"num_launches": 0}, "launches"),
    ],
)
def test_a_finding_that_contradicts_itself_can_not_be_made(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(GOOD, **change)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="every size"):
        CrossoverFinding("none", 8, "A", (1,), (), (2,))
