"""comm.start() from Python: calls in the background, their handle, their order and their end.

For: Work and start(). Not for: right results (test_engine_properties.py starts a third of its calls). Ranks are
threads.
"""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringtree
from ringtree import Communicator
from ringtree.comm.work import Work

RANKS = 2


def ones(count: int = 1000) -> np.ndarray[Any, Any]:
    return np.ones(count)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("all_reduce", lambda out: (ones(), "sum", out)),
        ("broadcast", lambda out: (out,)),
        ("all_gather", lambda out: (ones(500), out)),
        ("scatter", lambda out: (ones(2000), out)),
        ("gather", lambda out: (ones(500), out)),
        ("all_to_all", lambda out: (ones(), out)),
    ],
)
def test_wait_returns_what_the_method_of_that_name_does(name: str, make: Callable[[Any], Any]) -> None:
    def work(comm: Communicator) -> None:
        out = ones()
        started = comm.start(name, *make(out))
        assert isinstance(started, Work)
        assert started.wait() is out
        assert started.test()
        assert started.wait() is out, "waiting again is waiting for nothing"

    ringtree.run(work, RANKS)


def test_a_barrier_may_be_started_and_so_may_transfers() -> None:
    def work(comm: Communicator) -> None:
        assert comm.start("barrier").wait() is None
        array = np.full(10, comm.rank)
        started = comm.start("send", array, 1) if comm.rank == 0 else comm.start("recv", array, 0)
        assert started.wait() is array
        assert (array == 0).all()

    ringtree.run(work, RANKS)


def test_calls_run_in_the_order_in_which_they_were_started() -> None:
    def work(comm: Communicator) -> None:
        array = ones()
        works = [comm.start("all_reduce", array, "prod" if i % 2 else "sum") for i in range(8)]  # not commutative
        value = 1.0
        for i in range(8):
            value = value**RANKS if i % 2 else RANKS * value
        assert (works[-1].wait() == value).all()
        assert all(each.test() for each in works)

    ringtree.run(work, RANKS)


def test_a_call_that_is_not_started_waits_for_those_that_were() -> None:
    def work(comm: Communicator) -> None:
        for _ in range(20):
            array = ones(50_000)
            started = comm.start("all_reduce", array)
            comm.all_reduce(array)
            assert started.test()
            assert (array == RANKS**2).all()

    ringtree.run(work, RANKS)


def test_wait_gives_up_after_its_timeout_and_the_call_goes_on() -> None:
    gave_up = threading.Event()

    def work(comm: Communicator) -> None:
        if comm.rank == 1:
            assert gave_up.wait(60)
        started = comm.start("all_reduce", ones())
        if comm.rank == 0:
            with pytest.raises(ringtree.DeadlineError, match=r"not complete after 0\.01 s; it is still under way"):
                started.wait(0.01)
            assert not started.test()
            gave_up.set()
        assert (started.wait(60) == RANKS).all()

    ringtree.run(work, RANKS)


def test_a_call_has_its_own_deadline_and_wait_raises_what_it_raised() -> None:
    ended = threading.Event()

    def work(comm: Communicator) -> None:
        if comm.rank == 1:
            ended.wait(60)
            return
        try:
            started = comm.start("all_reduce", ones(), timeout=0.1)
            for _ in range(2):
                with pytest.raises(ringtree.DeadlineError, match=r"all_reduce #1 was not complete .* after 0\.1 s"):
                    started.wait()
        finally:
            ended.set()

    ringtree.run(work, RANKS)


def test_arrays_live_as_long_as_their_call_whoever_forgets_them() -> None:
    seen: dict[int, Any] = {}
    forgotten = threading.Barrier(RANKS)

    def work(comm: Communicator) -> None:
        array = ringtree.empty(200_000, "float64")
        array[:] = 1
        seen[comm.rank] = weakref.ref(array)
        comm.start("all_reduce", array)  # neither the handle nor the array is kept
        del array
        forgotten.wait(60)
        gc.collect()
        assert seen[comm.rank]() is not None
        comm.barrier()
        comm.start("barrier").wait()  # lets go of those that have ended
        gc.collect()
        assert seen[comm.rank]() is None

    ringtree.run(work, RANKS)


MISTAKES: list[tuple[str, Callable[[Communicator], Any], str]] = [
    ("no such collective", lambda comm: comm.start("all_redduce", ones()), "no collective 'all_redduce'"),
    ("what is not a collective", lambda comm: comm.start("rank"), "no collective 'rank'"),
    ("what is nobody's", lambda comm: comm.start("_call"), "no collective '_call'"),
    ("a wrong array", lambda comm: comm.start("all_reduce", [1.0]), "must be a NumPy array or a CPU tensor, not list"),
    ("a wrong size", lambda comm: comm.start("all_gather", ones(3), ones(5)), "output has 5 elements, not 6"),
    ("a wrong op", lambda comm: comm.start("all_reduce", ones(), op="median"), "unknown op median"),
    ("a wrong protocol", lambda comm: comm.start("all_reduce", ones(), protocol="fast"), "fast"),
]


@pytest.mark.parametrize(("mistake", "said"), [each[1:] for each in MISTAKES], ids=[each[0] for each in MISTAKES])
def test_what_is_wrong_with_a_call_itself_is_said_at_once(mistake: Callable[[Communicator], Any], said: str) -> None:
    def work(comm: Communicator) -> str:
        with pytest.raises(ringtree.UsageError) as caught:
            mistake(comm)
        assert (comm.start("all_reduce", ones()).wait() == RANKS).all()
        return str(caught.value)

    for text in ringtree.run(work, RANKS, timeout=30):
        assert said in text


def test_what_only_the_engine_knows_to_be_wrong_is_said_by_wait() -> None:
    def work(comm: Communicator) -> None:
        started = comm.start("all_reduce", ones(), algorithm="star")
        with pytest.raises(ringtree.UsageError, match="star"):
            started.wait()
        assert (comm.start("all_reduce", ones()).wait() == RANKS).all()

    ringtree.run(work, RANKS, timeout=30)


def test_a_schedule_of_ones_own_may_be_started_and_forgotten() -> None:
    def star(p: ringtree.ProgramBuilder) -> None:
        if p.rank == 0:
            p.recv_reduce_copy_send(0, source=1, to=1)
        else:
            p.send(0, to=0)
            p.recv(0, source=0)

    def work(comm: Communicator) -> None:
        array = ones()
        comm.start("all_reduce", array, algorithm=ringtree.build("all_reduce", star, ranks=RANKS))
        gc.collect()
        comm.barrier()
        assert (array == RANKS).all()

    ringtree.run(work, RANKS)


def test_closing_first_ends_what_was_started() -> None:
    def work(comm: Communicator) -> None:
        array = ones(100_000)
        started = comm.start("all_reduce", array)
        comm.close()
        assert started.test()
        assert (array == RANKS).all()
        with pytest.raises(ringtree.UsageError, match="closed"):
            comm.start("all_reduce", array).wait()

    ringtree.run(work, RANKS)


def test_one_failure_ends_all_that_wait_in_line() -> None:
    def work(comm: Communicator) -> list[str]:
        if comm.rank == 1:
            comm.barrier()
            return []
        comm.barrier()
        works = [comm.start("all_reduce", ones(), timeout=30) for _ in range(3)]
        texts = []
        for each in works:
            with pytest.raises(ringtree.PeerError) as caught:
                each.wait()
            texts.append(str(caught.value))
        return texts

    texts = ringtree.run(work, RANKS)[0]
    assert len(set(texts)) == 1, "the first failure counts"
    assert "rank 1 (pid" in texts[0]
    assert "left the communicator before it completed all_reduce #2" in texts[0]
