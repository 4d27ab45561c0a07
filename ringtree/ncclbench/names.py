"""nccl-tests' names of what is run: collectives, element types, reductions.

For: its spelling, its order (that of `-d all` and `-o all`), and what belongs to which collective. Not for: what an arm
can do (ringtree.backends).
"""

from __future__ import annotations

import numpy as np

COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")
REDUCING = ("all_reduce", "reduce_scatter", "reduce")
ROOTED = ("broadcast", "reduce")
BLOCKED = ("all_gather", "reduce_scatter")
# What has no exact data (ringtree.lab.exact_data) is left out.
DTYPES = {
    "int8": "int8",
    "uint8": "uint8",
    "int32": "int32",
    "int64": "int64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
}
OPS = ("sum", "prod", "max", "min", "avg")
NO_OP, NO_ROOT = "none", -1
ALL = "all"


def item_bytes(dtype: str) -> int:
    """Returns the bytes of one element of a dtype by nccl-tests' name."""
    return np.dtype(DTYPES[dtype]).itemsize
