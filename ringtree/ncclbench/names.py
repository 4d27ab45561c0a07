"""nccl-tests' names of what is run: collectives, element types, reductions.

For: its spelling, its order (that of `-d all` and `-o all`), what each is called in ringtree, and what belongs to which
collective. Not for: what an arm can do (ringtree.backends).
"""

from __future__ import annotations

from ringtree.lab.exact_data import storage_of

# nccl-tests' name -> ringtree's.
COLLECTIVES = {
    "all_reduce": "all_reduce",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "alltoall": "all_to_all",
    "gather": "gather",
    "scatter": "scatter",
    "sendrecv": "send_recv",
}
REDUCING = ("all_reduce", "reduce_scatter", "reduce")
ROOTED = ("broadcast", "reduce", "gather", "scatter")
BLOCKED = ("all_gather", "reduce_scatter", "alltoall", "gather", "scatter")
NAMES_OP = (*REDUCING, "sendrecv")  # nccl-tests prints -o there as well, although nothing is reduced
NEVER_IN_PLACE = ("alltoall", "sendrecv")  # nor in nccl-tests, which prints a time there and N/A for the wrong elements

DTYPES = {
    "int8": "int8",
    "uint8": "uint8",
    "int32": "int32",
    "uint32": "uint32",
    "int64": "int64",
    "uint64": "uint64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "bfloat16": "bfloat16",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
}
NOT_IN_NUMPY = ("bfloat16", "f8e4m3", "f8e5m2")  # called through PyTorch, and not part of `-d all`
OF_ENGINE = ("uint32", "uint64", *NOT_IN_NUMPY)  # Gloo has no sums of them
OPS = {"sum": "sum", "prod": "prod", "max": "max", "min": "min", "avg": "avg", "mulsum": "premul_sum"}
NO_OP, NO_ROOT = "none", -1
ALL = "all"


def item_bytes(dtype: str) -> int:
    """Returns the bytes of one element of a dtype by nccl-tests' name."""
    return storage_of(DTYPES[dtype]).itemsize
