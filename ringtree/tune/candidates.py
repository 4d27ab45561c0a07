"""Which configurations can be the fastest of a cell.

For: the candidates that tuning begins with, and the variants of those that survive. Not for: dropping any (scores.py),
or for what an algorithm is: names come from the engine's own table.
"""

from __future__ import annotations

import ringtree
from ringtree.profile_format import AUTO, Configuration

SLICES = (16 << 10, 32 << 10, 64 << 10)  # beside the plan's own, which adapts to the size
STREAMING_FROM = 4 << 20  # bytes; what is smaller is read again before it has left the caches
LEAVE_TO_ENGINE = Configuration(algorithm=AUTO, protocol=AUTO)


def first_candidates(collective: str) -> list[Configuration]:
    """Returns every algorithm with every protocol that runs it, with the plan's own slices and ordinary copies.

    Raises UsageError if the engine runs nothing for `collective`.
    """
    found = [
        Configuration(algorithm=algorithm, protocol=protocol)
        for of, algorithm, protocol, reason in ringtree.support()
        if of == collective and not reason
    ]
    if not found:
        raise ringtree.UsageError(f"no algorithm runs {collective!r}; `ringtree support` lists what runs")
    return found


def variants(configuration: Configuration, size_bytes: int) -> list[Configuration]:
    """Returns `configuration` and what differs from it in slices and streaming only, where that can matter.

    A slice size matters where an operand is longer than it; bulk copies past the caches only at large sizes.
    """
    slices = [0, *(slice_bytes for slice_bytes in SLICES if slice_bytes < size_bytes)]
    ways = [False, True] if size_bytes >= STREAMING_FROM else [False]
    return [
        configuration.model_copy(update={"slice_bytes": slice_bytes, "streaming": streaming})
        for streaming in ways
        for slice_bytes in slices
    ]
