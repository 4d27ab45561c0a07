"""Several transfers of one rank in one call.

For: tests of send and recv among ranks that send to each other at the same time. Not for: single ones, which are
comm.send and comm.recv.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ringtree import Communicator

Transfer = tuple[bool, int, Any]  # whether it sends, the other rank, the array


def transfer(comm: Communicator, transfers: Sequence[Transfer], started: bool = False, timeout: float = 0) -> None:
    """Runs all at once; returns when this rank's part is done. started: in the background, and waits for the end."""
    if started:
        comm._core.start_transfer(list(transfers), timeout).wait(0)
    else:
        comm._core.transfer(list(transfers), timeout)
