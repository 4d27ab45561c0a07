"""Which algorithm and protocol the environment asked NCCL for.

For: NCCL_ALGO and NCCL_PROTO in the spellings of all releases, as far as they leave one choice. Not for: what NCCL made
of it: a collective that has no such algorithm falls back or fails, by release (ringtree.audit).
"""

from __future__ import annotations

from collections.abc import Mapping

# NCCL's words for the collectives that its tuning knows.
_FUNCTIONS = {
    "all_reduce": "allreduce",
    "all_gather": "allgather",
    "reduce_scatter": "reducescatter",
    "broadcast": "broadcast",
    "reduce": "reduce",
}


def forced(environment: Mapping[str, str], name: str, collective: str | None) -> str | None:
    """Returns the one algorithm or protocol that variable `name` leaves, in small letters; None if none or several.

    "Ring", "ring;allreduce:tree": a list for all collectives, then lists for single ones (2.24 and later).
    """
    chosen = ""
    for item in environment.get(name, "").split(";"):
        function, colon, values = item.rpartition(":")
        if not colon or function.strip().lower() == _FUNCTIONS.get(collective or "", "?"):
            chosen = values
    words = [word.strip().lower() for word in chosen.split(",") if word.strip()]
    return words[0] if len(words) == 1 and not words[0].startswith("^") else None
