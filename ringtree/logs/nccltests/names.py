"""The names that nccl-tests and rccl-tests print: programs, element types, reductions, versions.

For: what they are called in ringtree. Not for: lines or tables.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePath

# The program's name without "_perf" -> ringtree's word for the collective.
COLLECTIVES = {
    "all_reduce": "all_reduce",
    "all_reduce_bias": "all_reduce",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "alltoall": "all_to_all",
    "alltoallv": "all_to_all_v",
    "gather": "gather",
    "scatter": "scatter",
    "sendrecv": "send_recv",
    "hypercube": "hypercube",
}
# Bytes of an element. The last line: spellings of rccl-tests and of the oldest versions.
DTYPE_BYTES = {
    **{"int8": 1, "uint8": 1, "f8e4m3": 1, "f8e5m2": 1, "half": 2, "bfloat16": 2},
    **{"int32": 4, "uint32": 4, "float": 4, "int64": 8, "uint64": 8, "double": 8},
    **{"fp8_e4m3": 1, "fp8_e5m2": 1, "char": 1, "int": 4},
}
OPS = frozenset(("sum", "prod", "max", "min", "avg", "mulsum", "none"))
NO_OP = "none"

_PROGRAM = re.compile(r"(?<![A-Za-z0-9])([a-z_]+?)_perf(?:_\w+)?\b")
_MAJOR_FROM_2_9 = 10000  # NCCL_VERSION_CODE: X*10000 + Y*100 + Z since 2.9, before X*1000 + Y*100 + Z
# What people call collectives in the names of files and in headings; longer ones first.
_TITLES = (
    ("all_to_all_v", r"all[-_ ]?to[-_ ]?all[-_ ]?v"),
    ("all_to_all", r"all[-_ ]?(?:to|2)[-_ ]?all"),
    ("all_reduce", r"all[-_ ]?reduce"),
    ("all_gather", r"all[-_ ]?gather"),
    ("reduce_scatter", r"reduce[-_ ]?scatter"),
    ("send_recv", r"send[-_ ]?recv"),
    ("broadcast", r"broadcast|bcast"),
    ("hypercube", r"hypercube"),
    ("reduce", r"reduce"),
    ("gather", r"gather"),
    ("scatter", r"scatter"),
)
_TITLE = re.compile("|".join(f"({pattern})" for _, pattern in _TITLES), re.IGNORECASE)


def collective_of_program(text: str) -> str | None:
    """Returns the collective of the last nccl-tests program that `text` names ("all_reduce_perf_mpi", a command)."""
    known = [name for name in _PROGRAM.findall(text) if name in COLLECTIVES]
    return COLLECTIVES[known[-1]] if known else None


@lru_cache(maxsize=64)  # each table of a file asks for the same
def collective_of_title(text: str) -> str | None:
    """Returns the collective that a heading or the name of a file speaks of; None if none or several."""
    found = {_TITLES[match.lastindex - 1][0] for match in _TITLE.finditer(text) if match.lastindex}
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=64)
def collective_of_file(name: str) -> str | None:
    """Returns the collective that the last part of a path speaks of."""
    return collective_of_title(PurePath(name).name) if name not in ("", "-") else None


def version_of_code(code: int) -> str | None:
    """Returns "2.24.3" for NCCL's version number 22403, "2.7.8" for 2708; None for what is none (ringtree writes 0)."""
    if code >= _MAJOR_FROM_2_9:
        return f"{code // 10000}.{code % 10000 // 100}.{code % 100}"
    return f"{code // 1000}.{code % 1000 // 100}.{code % 100}" if code >= 1000 else None
