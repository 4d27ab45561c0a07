"""Small calls keep Python's lock until they wait (core/engine/caller_lock.h): ranks that are threads of one process
need it to come to their own calls.

The interpreter is told not to switch threads by itself: a call that waited with the lock would keep it until its
deadline, and fail. When exactly the lock is let go: tests/core/engine/test_caller_lock.cpp.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ringtree
from ringtree import Communicator

TIMEOUT = 60.0
ROUNDS = 200


@pytest.fixture(autouse=True)
def _no_switching() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    yield
    sys.setswitchinterval(before)


CALLS: dict[str, Callable[[Communicator, Any, Any], Any]] = {
    "all_reduce": lambda comm, own, all_: comm.all_reduce(own),
    "broadcast": lambda comm, own, all_: comm.broadcast(own, root=1),
    "reduce": lambda comm, own, all_: comm.reduce(own, root=1),
    "all_gather": lambda comm, own, all_: comm.all_gather(own, all_),
    "all_to_all": lambda comm, own, all_: comm.all_to_all(all_, np.empty_like(all_)),
    "barrier": lambda comm, own, all_: comm.barrier(),
}


@pytest.mark.parametrize("protocol", ringtree.protocols())
def test_ranks_that_are_threads_meet(protocol: str) -> None:
    def work(comm: Communicator) -> None:
        own = np.zeros(2)
        for i in range(ROUNDS):
            own[:] = comm.rank + i
            comm.all_reduce(own, protocol=protocol)
            assert own.tolist() == [3 * i + 3] * 2

    ringtree.run(work, 3, timeout=TIMEOUT)


@pytest.mark.parametrize("name", CALLS)
def test_every_small_call_waits_without_the_lock(name: str) -> None:
    def work(comm: Communicator) -> None:
        own, all_ = np.zeros(2), np.zeros(2 * comm.world_size)
        for _ in range(ROUNDS):
            CALLS[name](comm, own, all_)

    ringtree.run(work, 2, timeout=TIMEOUT)


def test_small_calls_and_large_ones_by_turns() -> None:
    """Those above 4 KB let go at once."""

    def work(comm: Communicator) -> None:
        for count in [1, 512, 513, 100_000] * 10:
            assert comm.all_reduce(np.ones(count)).max() == 2

    ringtree.run(work, 2, timeout=TIMEOUT)


def test_a_small_call_waits_for_what_was_started_without_the_lock() -> None:
    def work(comm: Communicator) -> None:
        started, then = np.ones(2), np.ones(2)
        for _ in range(20):
            begun = comm.start("all_reduce", started, "max")
            comm.all_reduce(then, "max")
            assert begun.test()

    ringtree.run(work, 2, timeout=TIMEOUT)


def test_ranks_that_disagree_are_told_without_the_lock() -> None:
    counts = {0: 2, 1: 3}
    with pytest.raises(ringtree.MismatchError, match=r"count=2.*count=3"):
        ringtree.run(lambda comm: comm.all_reduce(np.ones(counts[comm.rank])), 2, timeout=TIMEOUT)


def test_a_thread_that_is_no_rank_is_waited_for_without_the_lock() -> None:
    """Rank 1 comes once a third thread has run Python, which it does while rank 0 waits."""
    ran = threading.Event()

    def work(comm: Communicator) -> Any:
        array = np.ones(2)
        comm.all_reduce(array)
        if comm.rank == 1:
            assert ran.wait(TIMEOUT)
        else:
            threading.Thread(target=ran.set).start()
        return comm.all_reduce(array).tolist()

    assert ringtree.run(work, 2, timeout=TIMEOUT) == [[4, 4], [4, 4]]
