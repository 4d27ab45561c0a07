"""Who is no longer there, and how: PeerError.ranks and Communicator.gone. Not for: shrink() (test_parts.py)."""

from __future__ import annotations

from multiprocessing.connection import Connection

import numpy as np
import pytest
from fault_support import Job
from lab_support import wait_until

import ringtree
from ringtree import Communicator

PATIENCE_S = 60.0


def test_one_that_leaves_is_told_to_all() -> None:
    def work(comm: Communicator) -> None:
        comm.barrier()
        if comm.rank != 1:
            with pytest.raises(ringtree.PeerError) as caught:
                comm.all_reduce(np.ones(10))
            assert caught.value.ranks == (1,)
            assert wait_until(lambda: comm.gone.get(1) == "left", PATIENCE_S) is not None
            assert comm.rank not in comm.gone
        comm.close()

    ringtree.run(work, 3)


def says_who_died(comm: Communicator, pipe: Connection) -> None:
    """Waits for two to be killed; stays until it is told, so that nobody notices its own end."""
    pipe.send("met")
    try:
        comm.barrier()
    except ringtree.PeerError as error:
        wait_until(lambda: len(comm.gone) == 2, PATIENCE_S)
        pipe.send((error.ranks, comm.gone))
    pipe.recv()


def sleeps(comm: Communicator, pipe: Connection) -> None:
    if comm.rank < 2:
        pipe.send("met")
        pipe.recv()
    else:
        says_who_died(comm, pipe)


def test_ranks_that_die_together_are_all_told() -> None:
    with Job(4, sleeps) as job:
        assert [job.hear(rank) for rank in range(4)] == ["met"] * 4
        for rank in (0, 1):
            job.kill(rank)
        for rank in (2, 3):
            first, gone = job.hear(rank)
            assert set(first) in ({0}, {1}, {0, 1}), "those that had died when the first one was missed"
            assert gone == {0: "died", 1: "died"}
            job.tell(rank, "go")
