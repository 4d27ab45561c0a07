"""Groups from Python: transfers at once, collectives in order, several communicators at the same time.

For: ringtree.group. Not for: transfers at random (test_transfer_properties.py). Ranks are threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringtree
from ringtree import Communicator

LARGE = 3_000_000  # bytes: more than all slots of a link hold


def test_transfers_of_a_group_are_all_under_way_at_once() -> None:
    def work(comm: Communicator) -> None:
        got = {peer: np.empty(LARGE, "uint8") for peer in range(3)}
        with ringtree.group() as group:
            on = group.on(comm)
            for peer in range(3):  # all receive first, and from themselves too: only together can this end
                assert on.recv(got[peer], peer) is got[peer]
            for peer in range(3):
                on.send(np.full(LARGE, 10 * comm.rank + peer, "uint8"), peer)
        for peer in range(3):
            assert (got[peer] == 10 * peer + comm.rank).all()

    ringtree.run(work, 3)


def test_nothing_runs_before_the_group_ends_and_arrays_that_nobody_else_keeps_live_until_then() -> None:
    def work(comm: Communicator) -> None:
        total = np.ones(1000)
        with ringtree.group() as group:
            on = group.on(comm)
            assert on.all_reduce(total) is total
            out = on.all_gather(np.full(3, comm.rank), np.empty(6, int))
            assert (total == 1).all()
        assert (total == 2).all()
        assert out.tolist() == [0, 0, 0, 1, 1, 1]
        assert comm.last_call()["sequence"] == 2

    ringtree.run(work, 2)


def test_collectives_of_a_communicator_run_in_their_order_after_its_transfers() -> None:
    def work(comm: Communicator) -> None:
        array, message = np.ones(10), np.full(10, comm.rank)
        with ringtree.group() as group:
            on = group.on(comm)
            if comm.rank == 0:  # in another order of the two kinds on each rank: it is the same group
                on.send(message, 1)
            on.all_reduce(array)
            on.all_reduce(array, op="prod")
            if comm.rank == 1:
                on.recv(message, 0)
            on.barrier()
        assert (array == 4).all()
        assert (message == 0).all()

    ringtree.run(work, 2)


def test_calls_of_several_communicators_may_come_in_any_order() -> None:
    def work(comm: Communicator) -> None:
        others = [comm.split(0), comm.split(1)]
        arrays = [np.full(5000, 1.0), np.full(5000, 2.0)]
        order = [0, 1] if comm.rank == 0 else [1, 0]  # one after the other they would wait for each other
        with ringtree.group() as group:
            for i in order:
                part = others[i]
                assert part is not None
                group.on(part).all_reduce(arrays[i])
        assert (arrays[0] == 2).all()
        assert (arrays[1] == 4).all()

    ringtree.run(work, 2)


def test_a_group_is_empty_after_it_ran_and_may_be_used_again() -> None:
    def work(comm: Communicator) -> None:
        group = ringtree.group()
        array = np.ones(10)
        for _ in range(3):
            with group:
                group.on(comm).all_reduce(array)
        with group:
            pass
        assert (array == 8).all()

    ringtree.run(work, 2)


def test_what_raises_inside_is_raised_and_nothing_runs() -> None:
    def work(comm: Communicator) -> None:
        array = np.ones(10)
        with pytest.raises(RuntimeError, match="my bug"), ringtree.group() as group:  # noqa: PT012
            group.on(comm).all_reduce(array)
            raise RuntimeError("my bug")
        assert (array == 1).all()
        with pytest.raises(ringtree.UsageError, match="not list"), ringtree.group() as group:
            group.on(comm).all_reduce([1.0])
        assert comm.all_reduce(array)[0] == 2, "and the communicators are as they were"

    ringtree.run(work, 2, timeout=30)


def test_what_fails_is_told_when_the_group_ends_and_the_rest_runs() -> None:
    def work(comm: Communicator) -> Any:
        other = comm.split(0)
        assert other is not None
        array = np.ones(10)
        with pytest.raises(ringtree.UsageError, match="star"), ringtree.group() as group:  # noqa: PT012
            group.on(comm).all_reduce(np.ones(3), algorithm="star")
            group.on(other).all_reduce(array)
        return array.tolist()

    assert ringtree.run(work, 2, timeout=30) == [[2.0] * 10] * 2
