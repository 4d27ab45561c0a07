"""What NCCL_ALGO leaves to a collective.

For: reading the variable as each release reads it. Not for: what the library makes of it (ringtree.hardware).
"""

from __future__ import annotations

_FUNCTIONS = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "broadcast": "broadcast",
    "reduce": "reduce",
}


def forced_algorithms(setting: str, collective: str) -> list[str]:
    """Returns the algorithms that NCCL_ALGO names for a collective; empty if it names none, or only takes some away.

    From 2.24 on "ring;allreduce:tree" is a list for all collectives, then one for a single one; "^" takes away.
    """
    chosen = ""
    for number, item in enumerate(part.strip() for part in setting.split(";")):
        function, colon, names = item.rpartition(":")
        if (not colon and number == 0) or _FUNCTIONS.get(function.strip().lower()) == collective:
            chosen = names.strip()
    if chosen.startswith("^"):
        return []
    return [name.strip() for name in chosen.split(",") if name.strip()]
