"""Stragglers: a rank made slow on purpose is named, equal ranks are not.

For: shares, excess and the flag. Not for: words.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from ringtree.stats import Straggler, stragglers

FloatArray = NDArray[np.float64]


def launches(seed: int, slow: dict[int, float], num_launches: int = 8, ranks: int = 4) -> list[FloatArray]:
    """Launches of 20 iterations in which ranks scatter by 10 % and `slow` ones take that many times as long."""
    rng = np.random.default_rng(seed)
    factors = np.array([slow.get(rank, 1.0) for rank in range(ranks)])
    return [1e-3 * factors[:, np.newaxis] * np.exp(0.1 * rng.normal(size=(ranks, 20))) for _ in range(num_launches)]


def test_shares_and_excess_by_hand() -> None:
    # Slowest: rank 0; ranks 0 and 2 share; rank 2; rank 1.
    times = np.array([[4.0, 3.0, 1.0, 1.0], [1.0, 1.0, 1.0, 2.0], [1.0, 3.0, 5.0, 1.0]])
    result = stragglers([times])
    assert [rank.share for rank in result] == [0.375, 0.25, 0.375]
    # Medians 2, 1, 2; the others' medians have the medians 1.5, 2, 1.5.
    assert [rank.excess for rank in result] == pytest.approx([math.log(2 / 1.5), math.log(1 / 2), math.log(2 / 1.5)])
    assert not any(rank.flagged for rank in result), "one launch shows nothing"


@pytest.mark.parametrize("seed", range(5))
def test_a_slow_rank_is_named_and_no_other(seed: int) -> None:
    result = stragglers(launches(seed, {2: 1.3}))
    assert [rank.rank for rank in result if rank.flagged] == [2]
    assert result[2].share > 0.8
    assert result[2].excess == pytest.approx(math.log(1.3), abs=0.05)
    assert sum(rank.share for rank in result) == pytest.approx(1.0)


def test_two_slow_ranks_of_eight_are_named() -> None:
    result = stragglers(launches(11, {1: 1.3, 6: 1.5}, ranks=8))
    assert [rank.rank for rank in result if rank.flagged] == [1, 6]


def test_equal_ranks_and_those_slower_by_less_than_the_margin_are_hardly_ever_named() -> None:
    named = sum(any(rank.flagged for rank in stragglers(launches(seed, {0: 1.04}))) for seed in range(100, 300))
    assert named / 200 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)


def test_a_rank_that_was_slow_in_one_launch_only_is_not_named() -> None:
    arrays = launches(21, {})
    arrays[3][1] *= 10
    assert not any(rank.flagged for rank in stragglers(arrays))


def test_a_single_rank_waits_for_nobody() -> None:
    assert stragglers([np.ones((1, 5))]) == []


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([], "at least one"),
        ([np.ones(3)], "shape"),
        ([np.ones((2, 0))], "shape"),
        ([np.ones((2, 3)), np.ones((3, 3))], "different numbers of ranks"),
        ([np.zeros((2, 3))], "positive"),
        ([np.full((2, 3), np.nan)], "positive"),
    ],
)
def test_times_that_are_none_are_refused(arrays: list[FloatArray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stragglers(arrays)


def test_a_straggler_that_contradicts_itself_can_not_be_made() -> None:
    for arguments in ((-1, 0.5, 0.1, 0.5, 8), (0, 1.5, 0.1, 0.5, 8), (0, 0.5, math.nan, 0.5, 8), (0, 0.5, 0.1, 0.0, 8)):
        with pytest.raises(ValueError, match=r"straggler|share"):
            Straggler(*arguments)
