"""Which collective a command, a heading or the name of a file speaks of.

For: tables that do not say it themselves. Not for: lines or tables, the names alone (ringtree.nccl.nccl_tests).
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePath

from ringtree.nccl.nccl_tests import PROGRAMS

_PROGRAM = re.compile(r"(?<![A-Za-z0-9])([a-z_]+?)_perf(?:_\w+)?\b")
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
    known = [name for name in _PROGRAM.findall(text) if name in PROGRAMS]
    return PROGRAMS[known[-1]] if known else None


@lru_cache(maxsize=64)  # each table of a file asks for the same
def collective_of_title(text: str) -> str | None:
    """Returns the collective that a heading or the name of a file speaks of; None if none or several."""
    found = {_TITLES[match.lastindex - 1][0] for match in _TITLE.finditer(text) if match.lastindex}
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=64)
def collective_of_file(name: str) -> str | None:
    """Returns the collective that the last part of a path speaks of."""
    return collective_of_title(PurePath(name).name) if name not in ("", "-") else None
