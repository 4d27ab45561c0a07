"""Who says that the lab is lost, once all have met: the lowest of the agents that are left.

Agents that die together are noticed one after the other, on each agent in another order. So an agent speaks once it has
seen that all before it have died. One that lives says it itself, or has said it and left.

For: agents that serve a lab. Not for: processes that have not met (who_speaks.py), or what the lab itself says.
"""

from __future__ import annotations

import time
from typing import Literal, Protocol

from ringtree.errors import PeerError
from ringtree.measure.join_limits import FIRST_WORD

_LOOK_SECONDS = 0.02


class Seen(Protocol):
    """What a communicator knows of its ranks."""

    rank: int

    @property
    def gone(self) -> dict[int, Literal["died", "left"]]:
        """Those that are no longer there."""


def word_of_the_lowest(comm: Seen, error: PeerError, patience: float = FIRST_WORD) -> PeerError | None:
    """Returns what this agent says of the `error` that ended its service; None if another one says it: an agent before
    this one that has left, or lives on for `patience` seconds."""
    until = time.monotonic() + patience
    while True:
        gone = comm.gone
        before = [gone.get(rank) for rank in range(comm.rank)]
        if "left" in before:
            return None
        if all(before):
            return _of_all(error, {rank for rank, how in gone.items() if how == "died"})
        if time.monotonic() >= until:
            return None
        time.sleep(_LOOK_SECONDS)


def _of_all(error: PeerError, died: set[int]) -> PeerError:
    """The error with all that have ended: its text is about the one that was noticed first."""
    ended = sorted(died.union(error.ranks))
    if len(ended) == 1 and error.ranks:
        return error
    have_ended = f"ranks {', '.join(map(str, ended))} have ended" if len(ended) > 1 else f"rank {ended[0]} has ended"
    return PeerError(f"{have_ended}: {error}", ended)
