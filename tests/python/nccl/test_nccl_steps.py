"""How many messages must follow each other.

For: ringtree.nccl.steps. Not for: what they cost.
"""

from __future__ import annotations

import math

import pytest

from ringtree.errors import UsageError
from ringtree.nccl import minimum_steps
from ringtree.schedules.schedule import schedule


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 16, 100, 1000])
def test_a_ring_takes_twice_n_minus_1(n: int) -> None:
    for name in ("Ring", "RING"):
        assert minimum_steps("all_reduce", name, n) == 2 * (n - 1)
        assert minimum_steps("all_gather", name, n) == n - 1


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 16, 64, 1000])
def test_a_tree_takes_twice_its_height(n: int) -> None:
    """A heap of n ranks is ⌊log2 n⌋ high, up and down."""
    assert schedule("all_reduce", "tree", n).cost().hops == 2 * math.floor(math.log2(n))
    assert 2 * math.floor(math.log2(n)) <= minimum_steps("all_reduce", "Tree", n) <= 2 * math.ceil(math.log2(n)) + 2


def test_others() -> None:
    assert schedule("all_reduce", "halving_doubling", 8).cost().hops == 6
    assert minimum_steps("all_gather", "PAT", 8) == 3
    assert minimum_steps("all_reduce", "NVLS", 8) == 2
    assert minimum_steps("all_gather", "NVLS", 8) == 1
    assert minimum_steps("all_to_all", "P2P", 8) == 1
    assert minimum_steps("all_to_all", "P2P", 1) == 0


@pytest.mark.parametrize(("hosts", "each"), [(1, 8), (2, 8), (4, 1)])
def test_inside_a_host_a_tree_is_a_chain(hosts: int, each: int) -> None:
    between = minimum_steps("all_reduce", "Tree", hosts)
    assert minimum_steps("all_reduce", "Tree", hosts * each, each) == between + 2 * (each - 1)
    assert minimum_steps("all_reduce", "Ring", hosts * each, each) == 2 * (hosts * each - 1)


def test_ranks_lie_evenly() -> None:
    with pytest.raises(UsageError, match="9 ranks do not lie evenly on hosts of 8"):
        minimum_steps("all_reduce", "Tree", 9, 8)


@pytest.mark.parametrize(
    ("collective", "algorithm", "n", "said"),
    [
        ("all_gather", "Tree", 8, "NCCL has no Tree kernel for all_gather"),
        ("all_reduce", "CollNetChain", 8, "depend on the network's switches"),
        ("all_gather", "one_shot", 8, "NCCL has no algorithm 'one_shot'"),
        ("all_reduce", "ring", 0, "at least one rank"),
        ("all_reduce", "ring", 5000, "at most 2048"),
        ("scan", "ring", 8, "no bus factor for 'scan'"),
        ("all_reduce", "fancy", 8, "no algorithm 'fancy'"),
    ],
)
def test_what_is_not_known(collective: str, algorithm: str, n: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        minimum_steps(collective, algorithm, n)
