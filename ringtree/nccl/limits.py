"""The highest rates of NCCL's algorithms, and which of them can't run where.

For: holding what NCCL was told to run against the machine. Not for: any algorithm (ringtree.hardware.highest), what
releases do with an algorithm that a collective lacks (support.py).
"""

from __future__ import annotations

from ringtree.errors import UsageError
from ringtree.hardware.limit_records import Limit
from ringtree.hardware.limits import check_collective, limit_of
from ringtree.hardware.topology import Topology
from ringtree.nccl.names import ALGORITHMS, KERNELS, POINT_TO_POINT, algorithm_name
from ringtree.nccl.traffic import FORMS


def limit(collective: str, algorithm: str, topology: Topology) -> Limit:
    """The highest rates of NCCL's `algorithm` on `topology`. Any spelling will do ("Ring", "NVLS_TREE", ...); "P2P" is
    for what goes point to point. Raises UsageError for an unknown name, and where `why_not` has a reason."""
    reason = why_not(collective, algorithm, topology)
    name = kernel(algorithm)
    if reason is not None:
        raise UsageError(f"no {collective} by {name} here: {reason}")
    alone = topology.num_ranks == 1
    moved = [] if alone else FORMS[name](collective, topology.num_hosts, topology.ranks_per_host)
    return limit_of(collective, name, "nccl", topology, moved)


def why_not(collective: str, algorithm: str, topology: Topology) -> str | None:
    """Why NCCL's `algorithm` can't run `collective` there; None: it can. Raises UsageError for unknown names."""
    check_collective(collective)
    name = kernel(algorithm)
    if collective not in KERNELS[name]:
        return f"NCCL has no {name} kernel for {collective}"
    return None if topology.num_ranks == 1 else lacks(name, topology)


def kernel(algorithm: str) -> str:
    """The algorithm's name in NCCL_ALGO's spelling, or P2P. Raises UsageError for an unknown one."""
    name = algorithm_name(algorithm)
    if name is None:
        raise UsageError(f"NCCL has no algorithm {algorithm!r}; there are {', '.join((*ALGORITHMS, POINT_TO_POINT))}")
    return name


def lacks(algorithm: str, topology: Topology) -> str | None:
    """What `topology` lacks for NCCL's `algorithm`; None: nothing that is known."""
    several = topology.num_hosts > 1
    if algorithm == "NVLSTree" and not several:
        return "NVLSTree runs between hosts, and there is only one"
    if algorithm in ("NVLS", "NVLSTree"):
        if topology.nvls is False:
            return f"{algorithm} needs GPUs and an NVSwitch that reduce and multicast (Hopper and NVSwitch 3 or newer)"
        if topology.ranks_per_host < 2:
            return f"{algorithm} needs two GPUs that share a switch, and there is only one per host"
    needs_network = algorithm.startswith("CollNet") or (algorithm == "NVLS" and several)
    if needs_network and topology.network_reduces is False:
        return f"{algorithm} needs a network that adds up (SHARP)"
    if algorithm.startswith("CollNet") and not several:
        return f"{algorithm} runs between hosts, and there is only one"
    return None
