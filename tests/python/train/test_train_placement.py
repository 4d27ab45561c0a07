"""Which groups follow from the hosts of a training's ranks.

For: ringtree.train.placement. Not for: what a plan refuses (test_train_request.py), ranks that meet
(test_train_hosts.py).
"""

from __future__ import annotations

import pytest

from ringtree.train.placement import fullest, lacks_rows, shard_rows, world_of


@pytest.mark.parametrize(
    ("hosts", "world"),
    [
        ([0], (1, 1)),
        ([0, 0, 0], (3, 1)),
        ([4, 4], (2, 1)),
        ([0, 1], (2, 2)),
        ([0, 0, 1, 1, 2, 2], (6, 3)),
        ([0, 0, 1], None),
        ([0, 1, 0, 1], None),
        ([0, 0, 1, 1, 0, 0], None),
        ([0, 1, 1, 1], None),
    ],
)
def test_hosts_as_rules_name_them(hosts: list[int], world: tuple[int, int] | None) -> None:
    assert world_of(hosts) == world


@pytest.mark.parametrize(
    ("hosts", "rows"),
    [
        ([0, 0, 0, 0], [[0, 1], [2, 3]]),
        ([0, 0, 1, 1], [[0, 1], [2, 3]]),
        ([0, 1, 0, 1], [[0, 2], [1, 3]]),
        ([0, 0, 1, 1, 2, 2], [[0, 1], [2, 3], [4, 5]]),
    ],
)
def test_a_shard_group_is_a_host_or_half_of_the_only_one(hosts: list[int], rows: list[list[int]]) -> None:
    assert lacks_rows(hosts) is None
    assert shard_rows(hosts) == rows


@pytest.mark.parametrize(
    ("hosts", "said"),
    [
        ([0, 0], "two halves of at least two ranks each"),
        ([0] * 5, "two halves of at least two ranks each"),
        ([0, 1], "within each host"),
        ([0, 0, 0, 1], "as many ranks on each"),
    ],
)
def test_ranks_that_have_no_shard_groups(hosts: list[int], said: str) -> None:
    assert said in str(lacks_rows(hosts))


def test_the_fullest_host() -> None:
    assert fullest([0, 0, 1, 1, 1]) == 3
