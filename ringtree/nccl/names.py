"""NCCL's words and numbers, and ringtree's for the same: algorithms, protocols, collectives, element types, operations.

For: from "NVLS_TREE" in a log to NVLSTree or nvls_tree, from a number to what it meant in a release. Not for: which
algorithms may run (grammar.py, support.py, limits.py), what nccl-tests calls them (nccl_tests.py).

An algorithm has three spellings: NVLSTree in NCCL_ALGO and in the table that NCCL prints at its start, NVLS_TREE in the
line of each call, nvls_tree in a tuner's file. What was read from logs has the last, as it looks the same everywhere.

Source: NVIDIA/nccl, tags v2.5.6-1 to v2.30.7-1: src/init.cc, src/device/generate.py, src/graph/tuning.cc.
"""

from __future__ import annotations

import re

# By their numbers.
ALGORITHMS = ("Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
PROTOCOLS = ("LL", "LL128", "Simple")
POINT_TO_POINT = "P2P"
_COLLNET = "CollNet"  # the third up to 2.13, before it was split in two
# First release with that many algorithms.
_NUM_ALGORITHMS = (((2, 23), 7), ((2, 18), 6), ((2, 17), 5), ((2, 14), 4), ((2, 6), 3), ((2, 5), 2))

# Which collectives have a kernel of the algorithm. all_to_all, gather, scatter and send_recv go point to point.
KERNELS: dict[str, tuple[str, ...]] = {
    "Tree": ("all_reduce",),
    "Ring": ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"),
    "CollNetDirect": ("all_reduce", "all_gather", "reduce_scatter"),
    "CollNetChain": ("all_reduce",),
    "NVLS": ("all_reduce", "all_gather", "reduce_scatter"),
    "NVLSTree": ("all_reduce",),
    "PAT": ("all_gather", "reduce_scatter"),
    POINT_TO_POINT: ("all_to_all", "gather", "scatter", "send_recv"),
}

COLLECTIVES = {
    "AllReduce": "all_reduce",
    "AllGather": "all_gather",
    "AllGatherV": "all_gather_v",
    "ReduceScatter": "reduce_scatter",
    "Broadcast": "broadcast",
    "Bcast": "broadcast",
    "Reduce": "reduce",
    "AlltoAll": "all_to_all",
    "AllToAll": "all_to_all",
    "AllToAllv": "all_to_all_v",
    "AllToAllPivot": "all_to_all",
    "Gather": "gather",
    "Scatter": "scatter",
    "SendRecv": "send_recv",
    "Send": "send",
    "Recv": "recv",
    "PutSignal": "put_signal",
    "Signal": "signal",
    "WaitSignal": "wait_signal",
}
TUNED = ("Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce")  # what NCCL_ALGO and tuners know, by number

DTYPES = (
    "int8",
    "uint8",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "float8_e4m3",
    "float8_e5m2",
)
OPS = ("sum", "prod", "max", "min", "avg")  # above: an operation that the program created (premul_sum)

# By the number that NCCL's search gives a pattern (graph.h).
PATTERNS = {
    1: "balanced_tree",
    2: "split_tree",
    3: "tree",
    4: "ring",
    5: "nvls",
    6: "collnet_direct",
}

_BY_LETTERS = {name.lower(): name for name in (*ALGORITHMS, *PROTOCOLS, POINT_TO_POINT, _COLLNET)}


def algorithm_name(text: str) -> str | None:
    """The name in NCCL_ALGO's spelling: "NVLSTree" for "NVLS_TREE" (log), "nvls_tree" (tuner's file); None: none of
    NCCL's."""
    return _among((*ALGORITHMS, POINT_TO_POINT), text)


def protocol_name(text: str) -> str | None:
    """The protocol in NCCL_PROTO's spelling; None: none of NCCL's."""
    return _among(PROTOCOLS, text)


def _among(names: tuple[str, ...], text: str) -> str | None:
    name = _BY_LETTERS.get(text.replace("_", "").lower())
    return name if name in names else None


def spelled(word: str) -> str | None:
    """The algorithm or protocol as in a tuner's file, from any spelling; None for other words."""
    name = _BY_LETTERS.get(word.replace("_", "").lower())
    if name is None or name == POINT_TO_POINT:
        return None
    return re.sub(r"(?<=[a-zS])(?=Tree|Direct|Chain)", "_", name).lower()


def collective(word: str) -> str | None:
    """Returns ringtree's word for NCCL's (AllReduce), None if it is none."""
    return COLLECTIVES.get(word)


def algorithms_of(at: tuple[int, int]) -> tuple[str, ...]:
    """The algorithms of a release, by their numbers."""
    num = next((num for first, num in _NUM_ALGORITHMS if at >= first), 0)
    return (*ALGORITHMS[:2], _COLLNET) if num == 3 else ALGORITHMS[:num]


def algorithm_by_number(number: int, at: tuple[int, int]) -> str | None:
    """Returns what an algorithm's number meant in a release, None if that release had none of this number."""
    names = algorithms_of(at)
    return spelled(names[number]) if 0 <= number < len(names) else None


def protocol_by_number(number: int) -> str | None:
    """Returns what a protocol's number means; it never changed since there are protocols."""
    return PROTOCOLS[number].lower() if 0 <= number < len(PROTOCOLS) else None


def dtype_by_number(number: int) -> str:
    """Returns the name of an ncclDataType_t, or its number where it is none that is known."""
    return DTYPES[number] if 0 <= number < len(DTYPES) else f"ncclDataType_t {number}"


def op_by_number(number: int) -> str:
    """Returns the name of an ncclRedOp_t."""
    return OPS[number] if 0 <= number < len(OPS) else "created by the program"
