"""The size of a call, from the bytes that a rank gives and gets.

For: one number, as nccl-tests counts it. Not for: what goes over links.
"""

from __future__ import annotations


def size_of_call(collective: str, in_bytes: int, out_bytes: int, group_size: int) -> int:
    """Returns bytes as nccl-tests counts them: all blocks together, where there are blocks."""
    if collective in ("gather", "scatter"):  # only the root has the whole
        return (in_bytes if collective == "gather" else out_bytes) * group_size
    return max(in_bytes, out_bytes)
