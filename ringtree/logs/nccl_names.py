"""NCCL's words and numbers in ringtree's words.

For: readers of whatever NCCL prints. Not for: choosing anything by these names.

Algorithms and protocols are spelled as in NCCL's tuner files (ring, nvls_tree, ll128), of which there is one spelling
and not three. Numbers in logs are positions in tables that have grown: the release says which table.
"""

from __future__ import annotations

import re

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

# Where NCCL's count, and what it makes of it in a log, is of one rank's part, and nccl-tests' size is of all parts.
OF_ONE_RANK = frozenset(("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter"))
REDUCING = frozenset(("all_reduce", "reduce_scatter", "reduce"))
ROOTED = frozenset(("broadcast", "reduce", "gather", "scatter"))

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

_PROTOCOLS = ("ll", "ll128", "simple")
_ALGORITHMS = ("tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat")
# First release with that many algorithms. Up to 2.13 the third one was "CollNet", before it was split in two.
_NUM_ALGORITHMS = (((2, 23), 7), ((2, 18), 6), ((2, 17), 5), ((2, 14), 4), ((2, 8), 3), ((2, 5), 2))

_SPELLINGS = {name.replace("_", ""): name for name in (*_ALGORITHMS, *_PROTOCOLS, "collnet")}
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")

# By the number that NCCL's search gives a pattern (graph.h).
PATTERNS = {
    1: "balanced_tree",
    2: "split_tree",
    3: "tree",
    4: "ring",
    5: "nvls",
    6: "collnet_direct",
}


def collective(word: str) -> str | None:
    """Returns ringtree's word for NCCL's (AllReduce), None if it is none."""
    return COLLECTIVES.get(word)


def spelled(word: str) -> str | None:
    """Returns an algorithm's or protocol's name for any of NCCL's spellings (NVLSTree, NVLS_TREE), None for others."""
    return _SPELLINGS.get(word.replace("_", "").lower())


def release(version: str | None) -> tuple[int, int] | None:
    """Returns (2, 27) of "2.27.3"."""
    found = _VERSION.match(version or "")
    return (int(found.group(1)), int(found.group(2))) if found else None


def algorithm_by_number(number: int, version: tuple[int, int]) -> str | None:
    """Returns what an algorithm's number meant in a release, None if that release had none of this number."""
    num = next((num for first, num in _NUM_ALGORITHMS if version >= first), 0)
    if not 0 <= number < num:
        return None
    return "collnet" if num == 3 and number == 2 else _ALGORITHMS[number]


def protocol_by_number(number: int) -> str | None:
    """Returns what a protocol's number means; it never changed since there are protocols."""
    return _PROTOCOLS[number] if 0 <= number < len(_PROTOCOLS) else None


def dtype_by_number(number: int) -> str:
    """Returns the name of an ncclDataType_t, or its number where it is none that is known."""
    return DTYPES[number] if 0 <= number < len(DTYPES) else f"ncclDataType_t {number}"


def op_by_number(number: int) -> str:
    """Returns the name of an ncclRedOp_t."""
    return OPS[number] if 0 <= number < len(OPS) else "created by the program"
