"""Rules along the sizes: few changes, none for noise, nothing that is surely slower.

For: ringtree.tune.rules, against a search through all ways. Not for: ratios (test_tune_scores.py).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from ringtree.tune.rules import boundaries, choose_along


def loss_of(way: Sequence[str], ratios: list[dict[str, float]], change: float) -> float:
    losses = sum(math.log(of[label]) for of, label in zip(ratios, way, strict=True))
    return losses + change * sum(a != b for a, b in itertools.pairwise(way))


def none(ratios: list[dict[str, float]]) -> list[dict[str, float]]:
    return [dict.fromkeys(of, 0.0) for of in ratios]


@pytest.mark.parametrize("seed", range(20))
def test_no_other_way_loses_less(seed: int) -> None:
    random = np.random.default_rng(seed)
    ratios: list[dict[str, float]] = []
    for _ in range(6):
        of = {label: 1 + abs(random.normal(0, 0.02)) for label in "abc" if random.random() < 0.8}
        ratios.append(of or {"a": 1.0})
    errors = [{label: 0.01 * random.random() for label in of} for of in ratios]
    possible = [
        [label for label in of if of[label] * math.exp(-2 * error[label]) <= 1.02 * min(of.values())]
        for of, error in zip(ratios, errors, strict=True)
    ]
    change = math.log(1.02) + 2 * float(np.median([each for of in errors for each in of.values()]))
    found = choose_along(range(1, 7), ratios, errors)
    assert all(label in of for label, of in zip(found, possible, strict=True))
    least = min(loss_of(way, ratios, change) for way in itertools.product(*possible))
    assert loss_of(found, ratios, change) == pytest.approx(least)


def test_a_small_advantage_counts_where_it_lasts() -> None:
    once = [{"a": 1.0, "b": 1.3}, {"a": 1.019, "b": 1.0}, {"a": 1.0, "b": 1.3}]
    assert choose_along([8, 16, 32], once, none(once)) == ["a", "a", "a"]
    lasting = [once[0], *[once[1]] * 4]
    assert choose_along([8, 16, 32, 64, 128], lasting, none(lasting)) == ["a", "b", "b", "b", "b"]


def test_nothing_that_is_surely_slower_is_chosen_even_once() -> None:
    more = [{"a": 1.0, "b": 1.3}, {"a": 1.05, "b": 1.0}, {"a": 1.0, "b": 1.3}]
    assert choose_along([8, 16, 32], more, none(more)) == ["a", "b", "a"]
    doubtful = [{"a": 0.0, "b": 0.02}, {"a": 0.02, "b": 0.0}, {"a": 0.0, "b": 0.02}]
    assert choose_along([8, 16, 32], more, doubtful) == ["a", "a", "a"]


def test_noise_makes_no_rules() -> None:
    random = np.random.default_rng(1)
    sizes = [1 << k for k in range(3, 27)]
    logs = [{label: random.normal(0, 0.1) for label in "abcd"} for _ in sizes]
    ratios = [{label: math.exp(each - min(of.values())) for label, each in of.items()} for of in logs]
    errors = [dict.fromkeys(of, 0.14) for of in ratios]
    assert len(boundaries(sizes, choose_along(sizes, ratios, errors))) <= 3
    assert len(boundaries(sizes, choose_along(sizes, ratios, none(ratios)))) > 10, "without errors it is taken for real"


def test_what_was_not_measured_at_a_size_is_not_chosen_there() -> None:
    ratios = [{"a": 1.0}, {"b": 1.0}, {"a": 1.0, "b": 1.01}]
    assert choose_along([8, 16, 32], ratios, none(ratios)) == ["a", "b", "b"]


def test_rules_end_between_the_sizes_and_the_last_one_nowhere() -> None:
    assert boundaries([8, 32, 128], ["a", "a", "b"]) == [(64, "a"), (None, "b")]
    assert boundaries([8], ["a"]) == [(None, "a")]
    assert boundaries([], []) == []


def test_sizes_ascend_and_have_candidates() -> None:
    two = [{"a": 1.0}, {"a": 1.0}]
    with pytest.raises(ValueError, match="ascend"):
        choose_along([16, 8], two, none(two))
    with pytest.raises(ValueError, match="ascend"):
        choose_along([8, 16], two[:1], none(two[:1]))
    with pytest.raises(ValueError, match="no choice"):
        choose_along([8, 16], [{"a": 1.0}, {}], [{"a": 0.0}, {}])
    assert choose_along([], [], []) == []
