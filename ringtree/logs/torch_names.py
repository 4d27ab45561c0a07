"""PyTorch's words for collectives in ringtree's words.

For: readers of traces and dumps. Not for: NCCL's own words (nccl_names.py).
"""

from __future__ import annotations

import re

_NAMES = {
    "allreduce": "all_reduce",
    "allreducecoalesced": "all_reduce",
    "allreducesparse": "all_reduce",
    "allgather": "all_gather",
    "allgatherbase": "all_gather",
    "allgathersingle": "all_gather",
    "allgatherinto": "all_gather",
    "allgatherintotensor": "all_gather",
    "allgatherintotensorcoalesced": "all_gather",
    "allgathersinglecoalesced": "all_gather",
    "allgathercoalesced": "all_gather",
    "reducescatter": "reduce_scatter",
    "reducescatterbase": "reduce_scatter",
    "reducescattersingle": "reduce_scatter",
    "reducescattertensor": "reduce_scatter",
    "reducescattertensorcoalesced": "reduce_scatter",
    "reducescattersinglecoalesced": "reduce_scatter",
    "broadcast": "broadcast",
    "broadcastoop": "broadcast",
    "reduce": "reduce",
    "reduceoop": "reduce",
    "alltoall": "all_to_all",
    "alltoallv": "all_to_all",
    "alltoallbase": "all_to_all",
    "alltoallsingle": "all_to_all",
    "gather": "gather",
    "gathersingle": "gather",
    "scatter": "scatter",
    "send": "send",
    "recv": "recv",
    "recvanysource": "recv",
    "barrier": "barrier",
    "allreducebarrier": "barrier",
}
_BACKEND = re.compile(r"(\w{1,30}):")


def collective(word: str) -> str | None:
    """Returns ringtree's word of "_allgather_base", "nccl:all_reduce" or "nccl:send 0->1"; None if it is none."""
    words = _BACKEND.sub("", word, count=1).split() or [""]
    return _NAMES.get(words[0].replace("_", "").lower())


def backend(word: str) -> str | None:
    """Returns "nccl" of "nccl:all_reduce"."""
    found = _BACKEND.match(word)
    return None if found is None else found.group(1)
