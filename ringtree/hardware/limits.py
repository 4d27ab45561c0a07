"""The highest rates that hardware permits: bytes over each class of links, and how long the slowest class takes.

For: holding a measurement against what cannot be exceeded. Not for: predicting what is reached (ringtree.model): no
latency, no protocol overhead, no contention is counted, and where the placement of rings or trees is not known the most
favourable one is assumed. A limit that is too high is harmless; one that is too low calls honest results false.

NCCL's seven algorithms are closed forms (nccl_traffic.py), ringtree's are counted in their schedules
(schedule_traffic.py).
"""

from __future__ import annotations

from typing import Literal

from ringtree.hardware.limit_records import Limit
from ringtree.hardware.topology import Topology

Library = Literal["nccl", "ringtree"]


def limit(collective: str, algorithm: str, topology: Topology, library: Library | None = None) -> Limit:
    """The highest rates of `algorithm` on `topology`.

    `algorithm`: one of NCCL's seven in any of its spellings ("Ring", "NVLS_TREE", ...) or a name of ringtree's table.
    "ring" and "tree" in lower case are ringtree's unless `library` says "nccl". Raises UsageError for an unknown name,
    and where `why_not` has a reason.
    """
    raise NotImplementedError


def highest(collective: str, topology: Topology) -> Limit:
    """The highest rates of any algorithm that can exist on `topology`, NCCL's, ringtree's or one nobody has written:
    what exceeds them was not measured. `algorithm` names one that they belong to."""
    raise NotImplementedError


def why_not(collective: str, algorithm: str, topology: Topology, library: Library | None = None) -> str | None:
    """Why `algorithm` can't run `collective` on `topology`; None: it can."""
    raise NotImplementedError


def minimum_steps(collective: str, algorithm: str, num_ranks: int, library: Library | None = None) -> int:
    """Messages on the longest chain in which each waits for the one before: 2(n-1) for a ring's all_reduce, twice the
    height for a tree's. Counted in the schedule; NCCL's algorithms are those of the schedule with the same shape."""
    raise NotImplementedError
