"""Which ranks of a training share a host, and the groups that follow from it.

    hosts = [0, 0, 1, 1]          of each rank: what a crew says, or zeros where there is no launcher
    shard_rows(hosts)             [[0, 1], [2, 3]]: what --sharding hybrid divides the model among

For: arithmetic on hosts, without processes. Not for: making groups (groups.py), asking where ranks are
(measure/crew.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def fullest(hosts: Sequence[int]) -> int:
    """Returns how many ranks the host with most of them has."""
    return max(Counter(hosts).values())


def world_of(hosts: Sequence[int]) -> tuple[int, int] | None:
    """Returns (ranks, hosts) as rules of a profile name them; None where hosts have not equal, consecutive ranks, for
    which there are no rules."""
    num_ranks, num_hosts = len(hosts), len(set(hosts))
    blocks = [
        list(hosts[first : first + num_ranks // num_hosts]) for first in range(0, num_ranks, num_ranks // num_hosts)
    ]
    return (
        (num_ranks, num_hosts) if all(len(set(block)) == 1 for block in blocks) and len(blocks) == num_hosts else None
    )


def shard_rows(hosts: Sequence[int]) -> list[list[int]]:
    """Returns the ranks of each shard group of --sharding hybrid: those of a host, as PyTorch's HYBRID_SHARD has them;
    on a single host two halves. Ranks in the same place of each have the same part of the model. Check lacks_rows()."""
    if len(set(hosts)) == 1:
        half = len(hosts) // 2
        return [list(range(half)), list(range(half, len(hosts)))]
    return [[rank for rank, host in enumerate(hosts) if host == one] for one in dict.fromkeys(hosts)]


def lacks_rows(hosts: Sequence[int]) -> str | None:
    """Why these ranks can't be sharded in a hybrid way; None: they can."""
    counts = set(Counter(hosts).values())
    if len(set(hosts)) == 1:
        fits, needs = (
            len(hosts) % 2 == 0 and len(hosts) >= 4,
            "on one host shards over two halves of at least two ranks each",
        )
    else:
        fits, needs = (
            len(counts) == 1 and min(counts) > 1,
            "shards within each host: as many ranks on each, two at least",
        )
    return None if fits else needs
