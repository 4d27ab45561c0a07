"""NCCL's double binary tree over hosts against the drawings in its source.

For: ringtree.nccl.trees. Not for: limits.
"""

from __future__ import annotations

import pytest

from ringtree.nccl.trees import busiest, degrees, parent


def test_the_first_tree_is_the_drawn_one() -> None:
    """14 hosts: 0 above 8, 8 above 4 and 12, 4 above 2 and 6, 12 above 10 and 13, and so on."""
    drawn = {8: 0, 4: 8, 12: 8, 2: 4, 6: 4, 10: 12, 13: 12, 1: 2, 3: 2, 5: 6, 7: 6, 9: 10, 11: 10}
    assert {host: parent(host, 14) for host in range(1, 14)} == drawn
    assert parent(0, 14) is None


@pytest.mark.parametrize("num_hosts", range(1, 200))
def test_both_are_trees(num_hosts: int) -> None:
    """n-1 edges each; nobody has more than four neighbours in both together."""
    both = degrees(num_hosts)
    assert sum(one for one, _ in both) == sum(other for _, other in both) == 2 * (num_hosts - 1)
    assert max(one + other for one, other in both) <= 4
    assert busiest(num_hosts) == min(4, [0, 0, 2, 3][num_hosts] if num_hosts < 4 else 4)
    for host in range(1, num_hosts):
        seen, at = {host}, host
        while (above := parent(at, num_hosts)) is not None:
            assert above not in seen
            seen.add(above)
            at = above
        assert at == 0
