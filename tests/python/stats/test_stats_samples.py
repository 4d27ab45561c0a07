"""Samples and launch medians, by hand.

For: the two reductions before any statistics. Not for: anything over several launches.
"""

from __future__ import annotations

import math

import pytest

from ringtree.stats import samples


def test_sample_is_the_slowest_ranks_time_of_one_call() -> None:
    assert samples([[2.0, 8.0, 4.0], [6.0, 2.0, 4.0]], batch=2).tolist() == [3.0, 4.0, 2.0]


@pytest.mark.parametrize(
    ("times", "batch"), [([], 1), ([[]], 1), ([[1.0], [1.0, 2.0]], 1), ([[math.nan]], 1), ([[-1.0]], 1), ([[1.0]], 0)]
)
def test_samples_refuse_what_is_no_measurement(times: list[list[float]], batch: int) -> None:
    with pytest.raises(ValueError, match=r"batch|iteration|times"):
        samples(times, batch)
