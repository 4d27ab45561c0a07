"""NCCL's algorithms by name: its spellings, what each one needs, and which collectives it has.

For: from "NVLS_TREE" in a log to NVLSTree, and whether it can have run. Not for: what releases do with a forced
algorithm that a collective lacks (support.py), bytes (nccl_traffic.py).

Source: NCCL 2.30.7, src/device/generate.py and src/graph/tuning.cc.
"""

from __future__ import annotations

from ringtree.hardware.topology import Topology

ALGORITHMS = ("Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
PROTOCOLS = ("LL", "LL128", "Simple")
POINT_TO_POINT = "P2P"

# Which collectives have a kernel of the algorithm. all_to_all, gather, scatter and send_recv go point to point.
COLLECTIVES: dict[str, tuple[str, ...]] = {
    "Tree": ("all_reduce",),
    "Ring": ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"),
    "CollNetDirect": ("all_reduce", "all_gather", "reduce_scatter"),
    "CollNetChain": ("all_reduce",),
    "NVLS": ("all_reduce", "all_gather", "reduce_scatter"),
    "NVLSTree": ("all_reduce",),
    "PAT": ("all_gather", "reduce_scatter"),
    POINT_TO_POINT: ("all_to_all", "gather", "scatter", "send_recv"),
}

# Of which protocols there are kernels.
KERNELS: dict[str, tuple[str, ...]] = dict.fromkeys(ALGORITHMS, ("Simple",)) | {
    "Tree": PROTOCOLS,
    "Ring": PROTOCOLS,
}


def algorithm_name(text: str) -> str | None:
    """The name in NCCL_ALGO's spelling: "NVLSTree" for "NVLS_TREE" (log), "nvls_tree" (tuner CSV); None: not NCCL's."""
    return _by_letters(text, (*ALGORITHMS, POINT_TO_POINT))


def protocol_name(text: str) -> str | None:
    """The protocol in NCCL_PROTO's spelling; None: not NCCL's."""
    return _by_letters(text, PROTOCOLS)


def _by_letters(text: str, names: tuple[str, ...]) -> str | None:
    letters = text.replace("_", "").lower()
    return next((name for name in names if name.lower() == letters), None)


def lacks(algorithm: str, topology: Topology) -> str | None:
    """What `topology` lacks for NCCL's `algorithm`; None: nothing that is known."""
    several = topology.num_hosts > 1
    if algorithm == "NVLSTree" and not several:
        return "NVLSTree goes between hosts, and there is one"
    if algorithm in ("NVLS", "NVLSTree"):
        if topology.nvls is False:
            return f"{algorithm} needs GPUs and an NVSwitch that reduce and multicast (Hopper and NVSwitch 3 or newer)"
        if topology.ranks_per_host < 2:
            return f"{algorithm} needs two GPUs that share a switch, and there is one a host"
    needs_network = algorithm.startswith("CollNet") or (algorithm == "NVLS" and several)
    if needs_network and topology.network_reduces is False:
        return f"{algorithm} needs a network that adds up (SHARP)"
    if algorithm.startswith("CollNet") and not several:
        return f"{algorithm} goes between hosts, and there is one"
    return None
