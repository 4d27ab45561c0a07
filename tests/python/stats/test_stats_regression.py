"""A run against an earlier one: by brute force, against SciPy, and its error rate.

For: p values and intervals of the regression gate. Not for: which cells are compared.
"""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from ringtree.stats import slower_than_baseline

FloatArray = NDArray[np.float64]


def slow_p(x: FloatArray, y: FloatArray) -> list[float]:
    """Step-down max-T over all exchanges, one at a time; the statistic is the difference of means by the pooled s.d."""
    pooled = np.concatenate([x, y])
    deviation = pooled.std(axis=0)
    exchanges = list(itertools.combinations(range(len(pooled)), len(x)))

    def statistics(chosen: tuple[int, ...]) -> FloatArray:
        others = [i for i in range(len(pooled)) if i not in chosen]
        difference = pooled[list(chosen)].mean(axis=0) - pooled[others].mean(axis=0)
        return np.asarray(difference / deviation, dtype=np.float64)

    everything = [statistics(chosen) for chosen in exchanges]
    observed = everything[0]
    order = sorted(range(x.shape[1]), key=lambda cell: -observed[cell])
    p, previous = [0.0] * x.shape[1], 0.0
    for place, cell in enumerate(order):
        left = order[place:]
        reached = sum(max(found[c] for c in left) >= observed[cell] - 1e-9 for found in everything)
        previous = p[cell] = max(previous, reached / len(exchanges))
    return p


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_the_slow_obvious_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    current = rng.normal(loc=0.05, scale=0.05, size=(int(rng.integers(2, 6)), 4))
    baseline = rng.normal(scale=0.05, size=(int(rng.integers(2, 6)), 4))
    expected = slow_p(current - math.log1p(0.02), baseline)
    assert [cell.p for cell in slower_than_baseline(current, baseline)] == pytest.approx(expected)


def test_one_cell_is_scipys_permutation_test() -> None:
    rng = np.random.default_rng(8)
    x, y = rng.normal(0.4, 1.0, size=7), rng.normal(size=5)
    expected = scipy_stats.permutation_test(
        (x, y), lambda a, b: np.mean(a) - np.mean(b), alternative="greater", n_resamples=math.inf
    )
    (found,) = slower_than_baseline(x[:, np.newaxis], y[:, np.newaxis], margin=0.0)
    assert found.p == pytest.approx(expected.pvalue)


def test_on_ranks_it_is_the_rank_sum_test() -> None:
    ranks = np.random.default_rng(3).permutation(13).astype(np.float64)
    expected = scipy_stats.mannwhitneyu(ranks[:6], ranks[6:], alternative="greater", method="exact").pvalue
    (found,) = slower_than_baseline(ranks[:6, np.newaxis], ranks[6:, np.newaxis], margin=0.0)
    assert found.p == pytest.approx(expected)


@pytest.mark.parametrize(("n1", "n2"), [(1, 1), (2, 3), (4, 4), (5, 8), (8, 8), (12, 7), (20, 20)])
def test_coverage_is_that_of_the_mann_whitney_statistic(n1: int, n2: int) -> None:
    rng = np.random.default_rng(n1 * 100 + n2)
    x, y = rng.normal(size=n1), rng.normal(size=n2)
    (found,) = slower_than_baseline(x[:, np.newaxis], y[:, np.newaxis])
    differences = np.sort((x[:, np.newaxis] - y).ravel())
    assert math.log(found.ratio) == pytest.approx(float(np.median(differences)))
    k = 1 + int(np.argmin(np.abs(differences - math.log(found.low))))
    assert math.log(found.high) == pytest.approx(differences[-k])

    def missed(k: int) -> float:
        """2 P(U <= k - 1), from SciPy's exact p value of samples made to have U = k - 1."""
        base = np.arange(n2, dtype=np.float64)
        rest, sample = k - 1, []
        for i in range(n1):
            above = min(rest, n2)
            sample.append(above - 0.5 - 1e-3 * i)
            rest -= above
        return 2 * float(scipy_stats.mannwhitneyu(sample, base, alternative="less", method="exact").pvalue)

    assert found.coverage == pytest.approx(max(0.0, 1 - missed(k)))
    assert found.reaches_level == (found.coverage >= 0.95)
    if found.reaches_level:
        assert missed(k + 1) > 0.05, "a narrower interval would not do"
    else:
        assert k == 1
        assert "95" not in found.label


def test_interval_covers_the_difference_as_often_as_it_says() -> None:
    seed, repetitions, covered = 6, 1000, 0
    rng = np.random.default_rng(seed)
    for _ in range(repetitions):
        x, y = 0.3 + rng.laplace(size=(8, 1)), rng.laplace(size=(6, 1))
        (found,) = slower_than_baseline(x, y)
        covered += found.low <= math.exp(0.3) <= found.high
    assert abs(covered / repetitions - found.coverage) < 4 * math.sqrt(0.05 * 0.95 / repetitions), f"seed {seed}"


def test_known_verdicts() -> None:
    rng = np.random.default_rng(2)
    baseline = 0.01 * rng.normal(size=(8, 4))
    current = np.array([0.1, 0.0, -0.1, 0.015]) + 0.01 * rng.normal(size=(8, 4))
    found = slower_than_baseline(current, baseline)
    assert [cell.verdict for cell in found] == ["slower", "not shown", "not shown", "not shown"]
    assert found[0].ratio == pytest.approx(math.exp(0.1), rel=0.01)
    assert found[0].p >= 1 / math.comb(16, 8)
    strict = slower_than_baseline(np.array([0.1, 0.0, -0.1, 0.025]) + baseline[::-1], baseline, margin=0.0)
    assert strict[3].verdict == "slower"


def test_false_alarms_are_as_rare_as_said() -> None:
    seed, repetitions, wrong, unadjusted = 14, 250, 0, 0
    rng = np.random.default_rng(seed)
    for _ in range(repetitions):
        current, baseline = (0.1 * (rng.normal(size=(6, 1)) + 2 * rng.normal(size=(6, 8))) for _ in range(2))
        edge = current + math.log1p(0.02)
        wrong += any(cell.verdict == "slower" for cell in slower_than_baseline(edge, baseline))
        unadjusted += any(slower_than_baseline(edge[:, [c]], baseline[:, [c]])[0].verdict == "slower" for c in range(8))
    assert wrong / repetitions <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / repetitions), f"seed {seed}"
    assert unadjusted / repetitions > 0.15, "the test must be able to see a lack of adjustment"


def test_many_launches_are_sampled_from_the_seed() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(0.5, 1.0, size=(12, 2)), rng.normal(size=(12, 2))
    first, again, other = (slower_than_baseline(x, y, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert [cell.p for cell in first] == pytest.approx([cell.p for cell in other], abs=0.02)
    assert slower_than_baseline(x + 100, y)[0].p == 1 / 20_000, "the exchange that was seen is one of them"


def test_missing_launches_count_for_nothing() -> None:
    rng = np.random.default_rng(4)
    current, baseline = 0.2 + 0.01 * rng.normal(size=(8, 2)), 0.01 * rng.normal(size=(8, 2))
    current[0, 1] = baseline[5, 1] = np.nan
    whole, part = slower_than_baseline(current, baseline)
    assert (part.num_current, part.num_baseline, part.verdict) == (7, 7, "slower")
    assert whole.num_current == 8


def test_one_launch_each_shows_nothing() -> None:
    (found,) = slower_than_baseline([[1.0]], [[0.0]])
    assert (found.verdict, found.p, found.coverage) == ("not shown", 0.5, 0.0)
    assert found.label == "1 launch against 1, no interval"


def test_equal_runs_are_not_slower() -> None:
    for found in slower_than_baseline(np.full((8, 3), 0.1), np.full((8, 3), 0.1), margin=0.0):
        assert (found.p, found.verdict, found.ratio) == (1.0, "not shown", 1.0)


@pytest.mark.parametrize(
    ("current", "baseline", "margin", "level", "message"),
    [
        ([[1.0]], [[1.0, 2.0]], 0.02, 0.95, "only the same cells"),
        ([1.0], [[1.0]], 0.02, 0.95, "shape"),
        ([[math.nan]], [[1.0]], 0.02, 0.95, "lacks"),
        ([[1.0]], [[math.nan]], 0.02, 0.95, "lacks"),
        ([[math.inf]], [[1.0]], 0.02, 0.95, "finite"),
        ([[1.0]], [[1.0]], 1.0, 0.95, "margin"),
        ([[1.0]], [[1.0]], 0.02, 0.0, "level"),
    ],
)
def test_what_can_not_be_compared_is_refused(
    current: list[list[float]], baseline: list[list[float]], margin: float, level: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        slower_than_baseline(current, baseline, margin=margin, level=level)


GOOD = slower_than_baseline([[0.2], [0.3], [0.25]], [[0.0], [0.1], [0.05]])[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"low": 9.0}, "holds its ratio"),
        ({"p": 0.0}, "p value"),
        ({"coverage": 1.0}, "coverage"),
        ({"num_baseline": 0}, "at least one launch"),
        ({"margin": -1.0}, "margin"),
    ],
)
def test_a_finding_that_contradicts_itself_can_not_be_made(change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(GOOD, **change)  # type: ignore[arg-type]
