"""nccl-tests' names of what is run: collectives, element types, reductions.

For: its spelling, its order (that of `-d all` and `-o all`), what each is called in ringtree. Not for: what it prints
(ringtree.logs.nccltests), what `ringtree bench` can do (ringtree.bench.names), NCCL's own names (names.py).
"""

from __future__ import annotations

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
# All programs, without their "_perf"; the first one is rccl-tests'.
PROGRAMS = COLLECTIVES | {"all_reduce_bias": "all_reduce", "alltoallv": "all_to_all_v", "hypercube": "hypercube"}

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
# Bytes of an element. The last line: spellings of rccl-tests and of the oldest versions.
DTYPE_BYTES = {
    **{"int8": 1, "uint8": 1, "f8e4m3": 1, "f8e5m2": 1, "half": 2, "bfloat16": 2},
    **{"int32": 4, "uint32": 4, "float": 4, "int64": 8, "uint64": 8, "double": 8},
    **{"fp8_e4m3": 1, "fp8_e5m2": 1, "char": 1, "int": 4},
}
OPS = {"sum": "sum", "prod": "prod", "max": "max", "min": "min", "avg": "avg", "mulsum": "premul_sum"}
NO_OP, NO_ROOT = "none", -1
PRINTED_OPS = frozenset((*OPS, NO_OP))
