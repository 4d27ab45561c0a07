"""A rank whose peer stays away.

For: what the one is told. Not for: peers that die (fault_support.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

import ringtree
from ringtree import Communicator


def told_beside_an_absent_rank(kind: type[ringtree.RingtreeError], call: Callable[[Communicator], object]) -> str:
    """Makes `call` as rank 0 of two while rank 1 calls nothing; returns the error of that kind."""
    made, done = threading.Barrier(2), threading.Event()

    def work(comm: Communicator) -> str:
        made.wait(60)  # an error of rank 0 must not meet rank 1 while it makes its communicator
        if comm.rank == 1:
            done.wait(60)
            return ""
        try:
            with pytest.raises(kind) as caught:
                call(comm)
        finally:
            done.set()
        return str(caught.value)

    return ringtree.run(work, 2)[0]
