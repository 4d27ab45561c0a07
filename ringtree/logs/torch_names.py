"""PyTorch's words for collectives in ringtree's words.

For: readers of traces and dumps. Not for: NCCL's own words (ringtree.nccl.names).
"""

from __future__ import annotations

import re

_SPELLED = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all",
}
_WORD = re.compile(
    r"(?:allreduce(?=barrier))?"
    r"(allreduce|allgather|reducescatter|alltoall|broadcast|reduce|gather|scatter|send|recv|barrier)"
    r"(?:base|single|into|tensor|coalesced|sparse|oop|v|anysource)*"
)
_BACKEND = re.compile(r"(\w{1,30}):")


def collective(word: str) -> str | None:
    """Returns ringtree's word of "_allgather_base", "nccl:all_reduce" or "nccl:send 0->1"; None if it is none."""
    words = _BACKEND.sub("", word, count=1).split() or [""]
    found = _WORD.fullmatch(words[0].replace("_", "").lower())
    return None if found is None else _SPELLED.get(found.group(1), found.group(1))


def backend(word: str) -> str | None:
    """Returns "nccl" of "nccl:all_reduce"."""
    found = _BACKEND.match(word)
    return None if found is None else found.group(1)
