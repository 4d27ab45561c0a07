"""What the collectives are: the sets of names against what each means, said once more by hand."""

from __future__ import annotations

import pytest

from ringtree import traits
from ringtree.schedules import algorithms

RANKS = 3
# Blocks that the root and the others give, then those that they get; None: an array that is not used.
BLOCK, ALL = 1, RANKS
MEANS = {
    "all_reduce": ((ALL, ALL), (ALL, ALL)),
    "reduce_scatter": ((ALL, ALL), (BLOCK, BLOCK)),
    "all_gather": ((BLOCK, BLOCK), (ALL, ALL)),
    "broadcast": ((ALL, None), (ALL, ALL)),
    "reduce": ((ALL, ALL), (ALL, None)),
    "gather": ((BLOCK, BLOCK), (ALL, None)),
    "scatter": ((ALL, None), (BLOCK, BLOCK)),
    "all_to_all": ((ALL, ALL), (ALL, ALL)),
}


@pytest.mark.parametrize("name", MEANS)
def test_each_collective_is_what_it_means(name: str) -> None:
    given, got = MEANS[name]
    assert (name in traits.ROOTED) == (None in (*given, *got))
    assert (name in traits.TAKES_BLOCK) == (given == (BLOCK, BLOCK))
    assert (name in traits.GIVES_BLOCK) == (got == (BLOCK, BLOCK))
    # All that ranks exchange is cut into blocks too, and it alone has no place that is both source and result.
    exchanged = name == "all_to_all"
    assert (name in traits.BLOCKED) == (BLOCK in (*given, *got) or exchanged)
    assert (name in traits.WHOLE) == (name not in traits.BLOCKED)
    assert (name in traits.IN_PLACE) == (not exchanged)
    assert (name in traits.REDUCING) == ("reduce" in name)


def test_they_are_those_of_the_core_and_all_have_an_algorithm() -> None:
    assert set(traits.COLLECTIVES) == set(MEANS) == {name for row in algorithms.table() for name in row.collectives}
    assert "send_recv" not in (*traits.REDUCING, *traits.ROOTED, *traits.BLOCKED, *traits.WHOLE, *traits.IN_PLACE)
