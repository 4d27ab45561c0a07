"""Ctrl-C while a rank waits: KeyboardInterrupt here, a peer that left there; and what was started goes on.

For: the main thread, which alone gets signals. Rank 0 runs on it; rank 1 is a thread that sends the signal once rank 0
is about to wait: that it arrives in the wait is what happens, that it arrives just before would do no harm.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ringtree
from ringtree import Communicator


@pytest.fixture(autouse=True)
def ctrl_c_is_pythons() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def beside(second: Callable[[Communicator], Any], first: Callable[[Communicator], Any]) -> Any:
    """Runs `first` as rank 0 on this thread and `second` as rank 1 on another; returns what `second` returned."""
    store = ringtree.ThreadStore()
    results: list[Any] = []

    def other() -> None:
        with ringtree.init(1, 2, store, timeout=60) as comm:
            results.append(second(comm))

    thread = threading.Thread(target=other)
    thread.start()
    try:
        with ringtree.init(0, 2, store, timeout=60) as comm:
            first(comm)
    finally:
        thread.join()
    assert results, "rank 1 failed; its error is above"
    return results[0]


def interrupt(waits: threading.Event, interrupted: threading.Event) -> None:
    """Sends the signal once rank 0 is about to wait, and returns when it has been interrupted."""
    assert waits.wait(60)
    os.kill(os.getpid(), signal.SIGINT)
    assert interrupted.wait(60)


def is_interrupted(waits: threading.Event, call: Callable[[], object]) -> None:
    """Says that the call comes now; the signal may come before it."""
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        waits.set()
        call()


@pytest.mark.parametrize("name", ["all_reduce", "broadcast", "recv"])
def test_a_call_is_interrupted_and_the_others_hear_who_was(name: str) -> None:
    waits, interrupted = threading.Event(), threading.Event()

    def first(comm: Communicator) -> None:
        more = {} if name == "all_reduce" else {"peer" if name == "recv" else "root": 1}
        is_interrupted(waits, lambda: getattr(comm, name)(np.ones(10), **more))
        interrupted.set()

    def second(comm: Communicator) -> str:
        interrupt(waits, interrupted)
        with pytest.raises(ringtree.PeerError) as caught:
            comm.barrier()
        return str(caught.value)

    text = beside(second, first)
    assert text.startswith(f"rank 0 (pid {os.getpid()}) ")
    assert "was interrupted during" in text or "left the communicator" in text


def test_waiting_is_interrupted_and_the_call_goes_on() -> None:
    waits, interrupted = threading.Event(), threading.Event()

    def first(comm: Communicator) -> None:
        started = comm.start("all_reduce", np.ones(10))
        is_interrupted(waits, started.wait)
        assert not started.test()
        interrupted.set()
        assert (started.wait() == 2).all()

    def second(comm: Communicator) -> bool:
        interrupt(waits, interrupted)
        return bool((comm.all_reduce(np.ones(10)) == 2).all())

    assert beside(second, first)


def test_what_waits_for_a_started_call_is_interrupted_before_it_has_begun() -> None:
    waits, interrupted = threading.Event(), threading.Event()

    def first(comm: Communicator) -> None:
        started = comm.start("all_reduce", np.ones(10))
        is_interrupted(waits, lambda: comm.all_reduce(np.ones(10)))
        interrupted.set()
        started.wait()
        comm.barrier()  # call 2: the one that was interrupted was none

    def second(comm: Communicator) -> int:
        interrupt(waits, interrupted)
        comm.all_reduce(np.ones(10))
        comm.barrier()
        return int(comm.last_call()["sequence"])

    assert beside(second, first) == 2
