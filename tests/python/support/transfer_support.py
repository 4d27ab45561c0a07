"""Several transfers of one rank in one call, and what both ranks say of a mistake.

For: tests in which the transfers are data, or the mistakes. Not for: single transfers (comm.send and comm.recv).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ringtree
from ringtree import Communicator

Transfer = tuple[bool, int, Any]  # whether it sends, the other rank, the array


def assert_both_say(said: str, work: Callable[[Communicator], str]) -> None:
    """Two ranks do the work; each returns one line that holds `said`."""
    for text in ringtree.run(work, 2, timeout=30):
        assert said in text
        assert "\n" not in text


def transfer(comm: Communicator, transfers: Sequence[Transfer], started: bool = False) -> None:
    """Runs all at once; returns when this rank's part is done. started: in the background, and waits for the end."""
    if started:
        comm.core.start_transfer(list(transfers), 0).wait(0)
        return
    with ringtree.group() as group:
        on = group.on(comm)
        for sends, peer, array in transfers:
            (on.send if sends else on.recv)(array, peer)
