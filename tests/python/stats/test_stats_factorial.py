"""Factorial designs: their resolution, what their contrasts estimate, what they can't tell apart, and error rates.

For: ringtree.stats.factorial against least squares and published tables, and with judge() as effects are tested.
Not for: factors of arms (test_lab_factors.py).
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from ringtree.stats import contrasts, fractional_design, full_design, judge, resolution
from ringtree.stats.factorial import Contrast, Term

FloatArray = NDArray[np.float64]


def estimates(design: NDArray[np.int64], values: FloatArray) -> dict[Term, float]:
    """The effects that the contrasts of a design estimate from a value of each run."""
    return {one.term: float(one.weights @ values) for one in contrasts(design)}


def least_squares(design: NDArray[np.int64], values: FloatArray) -> dict[Term, float]:
    """The same by least squares, with columns for the levels of each factor and each pair that sum to zero."""
    num_levels = design.max(axis=0) + 1

    def coded(factor: int) -> FloatArray:
        """Level l as a unit vector, the last level as minus the sum of the others."""
        basis = np.vstack([np.eye(num_levels[factor] - 1), -np.ones(num_levels[factor] - 1)])
        return basis[design[:, factor]]

    def whole(coefficients: FloatArray) -> FloatArray:
        """Coefficients of all levels: those along each axis sum to zero."""
        for axis in range(coefficients.ndim):
            coefficients = np.concatenate([coefficients, -coefficients.sum(axis=axis, keepdims=True)], axis=axis)
        return coefficients

    factors = range(design.shape[1])
    blocks = {(factor,): coded(factor) for factor in factors} | {
        (a, b): np.einsum("ri,rj->rij", coded(a), coded(b)).reshape(len(design), -1)
        for a, b in combinations(factors, 2)
    }
    matrix = np.hstack([np.ones((len(design), 1)), *blocks.values()])
    fitted = np.linalg.lstsq(matrix, values, rcond=None)[0]
    found: dict[Term, float] = {}
    first = 1
    for names, block in blocks.items():
        part = fitted[first : first + block.shape[1]].reshape([num_levels[name] - 1 for name in names])
        first += block.shape[1]
        of_levels = whole(part)
        for levels in product(*(range(1, num_levels[name]) for name in names)):
            if len(names) == 1:
                effect = of_levels[levels[0]] - of_levels[0]
            else:
                a, b = levels
                effect = (of_levels[a, b] - of_levels[0, b] - of_levels[a, 0] + of_levels[0, 0]) / 2
            found[tuple(zip(names, levels, strict=True))] = float(effect)
    return found


def test_two_factors_by_hand() -> None:
    design = full_design([2, 2])
    assert design.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    # A: (15 + 21) / 2 - (10 + 12) / 2; B: (12 + 21) / 2 - (10 + 15) / 2; A is 5 at B's level 0 and 9 at its level 1.
    found = estimates(design, np.array([10.0, 12.0, 15.0, 21.0]))
    assert found == pytest.approx({((0, 1),): 7.0, ((1, 1),): 4.0, ((0, 1), (1, 1)): (9 - 5) / 2})


@pytest.mark.parametrize("levels", [(2,), (3,), (2, 2), (2, 2, 2), (3, 2), (2, 4), (3, 2, 2), (2, 2, 2, 2)])
def test_contrasts_are_least_squares(levels: tuple[int, ...]) -> None:
    design = full_design(levels)
    values = np.random.default_rng(sum(levels)).normal(size=len(design))  # with interactions of three factors, too
    assert estimates(design, values) == pytest.approx(least_squares(design, values))


# Box, Hunter & Hunter, table 6.22: the resolution that 2^(k-p) runs can have.
@pytest.mark.parametrize(
    ("num_factors", "num_halvings", "published"),
    [(3, 1, 3), (4, 1, 4), (5, 1, 5), (6, 1, 6), (5, 2, 3), (6, 2, 4), (7, 2, 4), (6, 3, 3), (7, 3, 4), (7, 4, 3)],
)
def test_fractions_have_the_published_resolution(num_factors: int, num_halvings: int, published: int) -> None:
    design = fractional_design(num_factors, num_halvings)
    assert resolution(design) == published
    assert len({tuple(run) for run in design}) == len(design) == 2 ** (num_factors - num_halvings)
    assert set(design[0]) == {0}, "the setting that others are held against is part of it"
    assert (design.mean(axis=0) == 0.5).all()


def test_a_full_design_has_no_word() -> None:
    assert resolution(full_design([2, 2, 2])) is None
    assert all(not one.aliases for one in contrasts(full_design([2, 3, 2])))


@pytest.mark.parametrize(("num_factors", "num_halvings"), [(2, 1), (4, 2), (3, 3), (3, 0)])
def test_what_merges_main_effects_is_refused(num_factors: int, num_halvings: int) -> None:
    with pytest.raises(ValueError, match=r"keep the main effects apart|halves at least once"):
        fractional_design(num_factors, num_halvings)
    with pytest.raises(ValueError, match="every combination"):
        contrasts(np.array([[0, 0], [1, 1]]))


def test_aliases_of_half_of_three_factors_by_hand() -> None:
    # C is 1 where exactly one of A and B is: in signs C = -AB, so each main effect is minus the others' interaction.
    design = fractional_design(3, 1)
    assert design.tolist() == [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    found = {one.term: one.aliases for one in contrasts(design)}
    a, b, c = ((0, 1),), ((1, 1),), ((2, 1),)
    assert found == {a: ((-1, (*b, *c)),), b: ((-1, (*a, *c)),), c: ((-1, (*a, *b)),)}


def test_half_of_four_factors_mixes_interactions_in_pairs_only() -> None:
    found = {one.term: [term for _, term in one.aliases] for one in contrasts(fractional_design(4, 1))}
    assert [len(term) for term in found] == [1, 1, 1, 1, 2, 2, 2]
    for term, aliases in found.items():
        assert [len(alias) for alias in aliases] == ([] if len(term) == 1 else [2])
        assert len({factor for one in (term, *aliases) for factor, _ in one}) in (1, 4), "AB is CD, AC is BD, AD is BC"


@pytest.mark.parametrize(("num_factors", "num_halvings"), [(3, 1), (4, 1), (5, 2), (6, 2)])
def test_an_effect_shows_under_its_own_name_or_that_of_an_alias(num_factors: int, num_halvings: int) -> None:
    design = fractional_design(num_factors, num_halvings)
    signs = 2.0 * design - 1.0
    found = contrasts(design)
    for names in [*combinations(range(num_factors), 1), *combinations(range(num_factors), 2)]:
        values = signs[:, names].prod(axis=1) / 2  # an effect of 1
        for one in found:
            said = {term: sign for sign, term in ((1, one.term), *one.aliases)}
            expected = said.get(tuple((name, 1) for name in names), 0)
            assert one.weights @ values == pytest.approx(expected), (names, one.term)


def test_weights_that_do_not_sum_to_zero_are_no_contrast() -> None:
    with pytest.raises(ValueError, match="sum to 0"):
        Contrast(((0, 1),), np.array([0.5, 0.5]))


def simulated(design: NDArray[np.int64], seed: int, num_cells: int = 3, num_launches: int = 8) -> FloatArray:
    """Log times (launches, cells, runs) without any effect: launches that differ as a whole, and more where slower."""
    rng = np.random.default_rng(seed)
    of_launch = rng.normal(0.0, 0.3, size=(num_launches, 1, 1))
    scatter = 0.05 * (1 + np.arange(num_cells))[:, np.newaxis]
    heavy = rng.standard_t(3, size=(num_launches, num_cells, len(design)))
    return of_launch + scatter * heavy


def effects_of(design: NDArray[np.int64], logs: FloatArray) -> tuple[list[Term], FloatArray]:
    """The terms of every column, and the effects of shape (launches, cells × contrasts)."""
    found = contrasts(design)
    weights = np.array([one.weights for one in found])
    values = np.einsum("lcr,er->lce", logs, weights).reshape(len(logs), -1)
    return [one.term for _ in range(logs.shape[1]) for one in found], values


@pytest.mark.parametrize("design", [full_design([2, 2]), full_design([3, 2]), fractional_design(4, 1)], ids=len)
def test_false_effects_are_as_rare_as_is_said(design: NDArray[np.int64]) -> None:
    """Without any effect, and no margin to protect it, at most 5 % of runs may show one."""
    num_runs = 300
    wrong = sum(
        any(one.verdict != "inconclusive" for one in judge(effects_of(design, simulated(design, seed))[1], margin=0.0))
        for seed in range(num_runs)
    )
    assert wrong <= binom.ppf(0.999, num_runs, 0.05)


def test_an_interaction_is_found_and_credited_to_nothing_else() -> None:
    design = full_design([2, 2, 2])
    together = 0.2 * (2.0 * design[:, 0] - 1) * (2.0 * design[:, 2] - 1)  # half of the effect of A × C: log ratio 0.4
    found, wrong = 0, 0
    num_runs = 100
    for seed in range(num_runs):
        # A fifth of the scatter of the runs above, and the interaction in every cell.
        logs = simulated(design, 1000 + seed) / 5 + together
        terms, values = effects_of(design, logs)
        shown = [term for term, one in zip(terms, judge(values), strict=True) if one.verdict in ("faster", "slower")]
        found += shown.count(((0, 1), (2, 1))) == 3
        wrong += any(term != ((0, 1), (2, 1)) for term in shown)
    assert found >= 0.9 * num_runs
    assert wrong <= binom.ppf(0.999, num_runs, 0.05)
