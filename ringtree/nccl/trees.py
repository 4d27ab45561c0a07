"""NCCL's double binary tree over hosts: how many neighbours each host has.

For: the bytes of Tree and NVLSTree between hosts. Not for: schedules (ringtree's double_tree is another tree, over
ranks).

The shape is that of src/graph/trees.cc (ncclGetBtree, ncclGetDtree) of NCCL 2.30.7. In the first tree a host whose
number has its lowest set bit at b hangs below the host with bit b cleared and bit 2b set, or, where there is none,
below the one with bit b cleared; host 0 is the root. The second tree is the first one mirrored (even number of hosts)
or shifted by one (odd), so that who is inside one tree is a leaf of the other.
"""

from __future__ import annotations

from functools import lru_cache


def parent(host: int, num_hosts: int) -> int | None:
    """The parent of `host` in the first tree; None: it is the root."""
    if host == 0:
        return None
    bit = host & -host
    above = (host ^ bit) | (bit << 1)
    return above if above < num_hosts else host ^ bit


def degrees(num_hosts: int) -> list[tuple[int, int]]:
    """Of each host the number of its neighbours (parent and children) in the first and in the second tree."""
    first = [0] * num_hosts
    for host in range(num_hosts):
        above = parent(host, num_hosts)
        if above is not None:
            first[host] += 1
            first[above] += 1
    shifted = [first[(host - 1) % num_hosts] for host in range(num_hosts)]
    second = shifted if num_hosts % 2 else first[::-1]
    return list(zip(first, second, strict=True))


@lru_cache(maxsize=256)
def busiest(num_hosts: int) -> int:
    """The most neighbours that one host has in both trees together: 2 with two hosts, 3 with three, 4 with more."""
    return max((one + other for one, other in degrees(num_hosts)), default=0)
