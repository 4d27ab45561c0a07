"""Which arms are on a GPU, and how the end of their calls is awaited.

For: what every rank asks of every arm; so nothing of a GPU is imported here. Not for: clocks (ringtree.gpu), or what
arms on GPUs have in common (on_gpu.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ringtree.gpu import StreamClock


def clock_of(arm: object) -> StreamClock | None:
    """Returns the stream clock of an arm on a GPU, whose calls return before their result is there; else None."""
    return cast("StreamClock | None", getattr(arm, "stream_clock", None))
