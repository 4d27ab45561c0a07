"""The family test: by hand, against a slow obvious reference, against SciPy, and its error rate.

For: that p values are right and hold for all cells together. Not for: verdicts (test_stats_family.py).
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from ringtree.stats import sign_flip_p

FloatArray = NDArray[np.float64]


def slow_p(values: FloatArray) -> list[float]:
    """Step-down max-T over all sign flips, one flip, one cell and one comparison at a time."""
    x = np.where(np.isnan(values), 0.0, values)
    num_launches, num_cells = x.shape

    def statistic(signs: tuple[int, ...], cell: int) -> float:
        norm = math.sqrt(sum(value**2 for value in x[:, cell]))
        return sum(sign * value for sign, value in zip(signs, x[:, cell], strict=True)) / norm if norm else 0.0

    flips = list(itertools.product((1, -1), repeat=num_launches))
    observed = [statistic(flips[0], cell) for cell in range(num_cells)]
    order = sorted(range(num_cells), key=lambda cell: -observed[cell])
    p, previous = [0.0] * num_cells, 0.0
    for place, cell in enumerate(order):
        left = order[place:]
        reached = sum(max(statistic(signs, c) for c in left) >= observed[cell] - 1e-10 for signs in flips)
        previous = p[cell] = max(previous, reached / len(flips))
    return p


def test_two_launches_and_two_cells_by_hand() -> None:
    # Statistics of the flips (+ +), (- +), (+ -), (- -), each cell divided by its norm:
    # cell 0 {3, 4}: 7/5, 1/5, -1/5, -7/5; cell 1 {1, 0}: 1, -1, 1, -1. Maxima: 7/5, 1/5, 1, -1.
    # Cell 0: 7/5 is reached once, 1/4. Cell 1 alone: 1 is reached twice, 2/4.
    assert sign_flip_p([[3.0, 1.0], [4.0, 0.0]]).tolist() == [0.25, 0.5]


def test_floor_is_two_to_the_minus_launches_whatever_the_number_of_cells() -> None:
    for num_launches in range(1, 15):
        values = np.full((num_launches, 200), 0.1)
        assert np.all(sign_flip_p(values) == 2.0**-num_launches)
        assert np.all(sign_flip_p(-values) == 1.0)


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_the_slow_obvious_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    num_launches, num_cells = int(rng.integers(1, 8)), int(rng.integers(1, 7))
    values = rng.normal(loc=0.7, size=(num_launches, num_cells)) * rng.uniform(0.01, 10, size=num_cells)
    if seed % 3 == 1:
        values[rng.random(size=values.shape) < 0.3] = np.nan
    if seed % 3 == 2:
        values = np.round(values)  # ties, within a cell and between cells
    assert sign_flip_p(values) == pytest.approx(slow_p(values), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_one_cell_is_scipys_permutation_test(seed: int) -> None:
    values = np.random.default_rng(seed).normal(loc=0.4, size=9)
    expected = scipy_stats.permutation_test(
        (values,), np.mean, permutation_type="samples", alternative="greater", n_resamples=math.inf
    )
    assert sign_flip_p(values[:, np.newaxis])[0] == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("seed", range(4))
def test_on_ranks_it_is_wilcoxons_signed_rank_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.arange(1.0, 11.0) * rng.choice([-1.0, 1.0], size=10)
    expected = scipy_stats.wilcoxon(values, alternative="greater", method="exact").pvalue
    assert sign_flip_p(values[:, np.newaxis])[0] == pytest.approx(expected)


def test_sampled_flips_come_near_the_exact_ones() -> None:
    # 15 launches are sampled; 2^15 flips can still be taken one by one here.
    values = np.random.default_rng(2).normal(loc=0.35, size=(15, 3))
    z = values / np.sqrt((values**2).sum(axis=0))
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=15)))
    statistics = signs @ z
    largest = int(np.argmax(statistics[0]))
    exact = np.mean(statistics.max(axis=1) >= statistics[0, largest] - 1e-10)
    sampled = sign_flip_p(values, seed=4)[largest]
    assert sampled == pytest.approx(exact, abs=4 * math.sqrt(exact / 2**14))
    assert sampled != sign_flip_p(values, seed=5)[largest], "another seed takes other flips"
    assert sign_flip_p(values, seed=4)[largest] == sampled
    # The flip that was seen is always among them: p is never 0.
    assert np.all(sign_flip_p(np.ones((60, 2))) >= 2.0**-14)


def test_a_cell_neither_changes_by_its_scale_nor_by_the_order_of_cells_and_launches() -> None:
    rng = np.random.default_rng(12)
    values = rng.normal(loc=0.5, size=(8, 6))
    p = sign_flip_p(values)
    cells, launches = rng.permutation(6), rng.permutation(8)
    assert sign_flip_p(values * [1e-200, 1e200, 1.0, 3.0, 1e-9, 7.0]) == pytest.approx(p)
    assert sign_flip_p(values[:, cells]) == pytest.approx(p[cells])
    assert sign_flip_p(values[launches]) == pytest.approx(p)


def test_cells_that_say_the_same_cost_nothing() -> None:
    cell = np.random.default_rng(1).normal(loc=0.8, size=(8, 1))
    assert sign_flip_p(np.repeat(cell, 50, axis=1)) == pytest.approx(np.repeat(sign_flip_p(cell), 50))


def test_cells_without_anything_to_say() -> None:
    values = np.array([[0.1, 0.0, np.nan], [0.2, 0.0, np.nan], [0.1, 0.0, np.nan]])
    assert sign_flip_p(values).tolist() == [1 / 8, 1.0, 1.0]


@pytest.mark.parametrize("seed", [31, 32])
def test_family_wise_error_is_held_and_would_not_be_without_adjustment(seed: int) -> None:
    rng, repetitions, wrong, unadjusted = np.random.default_rng(seed), 1500, 0, 0
    for _ in range(repetitions):
        launch_luck = rng.laplace(size=(8, 1))
        values = 0.3 * (0.7 * launch_luck + rng.normal(size=(8, 9)) * rng.uniform(0.1, 2.0, size=9))
        wrong += bool(np.any(sign_flip_p(values) <= 0.05))
        unadjusted += any(sign_flip_p(values[:, [cell]])[0] <= 0.05 for cell in range(9))
    assert wrong / repetitions <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / repetitions), f"seed {seed}"
    assert unadjusted / repetitions > 0.15, "the test must be able to see a lack of adjustment"


def test_step_down_finds_more_than_single_step_would() -> None:
    # The two clear cells no longer count against the third: its noisy rivals are gone from the family.
    values = np.random.default_rng(6).normal(loc=[3.0, 3.0, 0.6], size=(8, 3))
    z = values / np.sqrt((values**2).sum(axis=0))
    flips = np.array(list(itertools.product((1.0, -1.0), repeat=8)))
    single_step = [np.mean((flips @ z).max(axis=1) >= total - 1e-10) for total in z.sum(axis=0)]
    p = sign_flip_p(values)
    assert np.all(p <= np.array(single_step) + 1e-12)
    assert p[2] < single_step[2]


@pytest.mark.parametrize("values", [[1.0, 2.0], [[]], [], [[math.inf]], [[[1.0]]]])
def test_values_of_another_shape_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"shape|finite"):
        sign_flip_p(values)
