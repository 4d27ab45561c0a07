"""Communicators beside and of communicators from Python: several at once, split, shrink, abort.

For: who is in which, and that one does not disturb the other. Not for: ranks that were killed (test_faults_death.py).
Ranks are threads.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from absent_rank import told_beside_an_absent_rank

import ringtree
from ringtree import Communicator
from ringtree.comm.rank_threads import on_threads


def members(comm: Communicator, number: int) -> list[int]:
    """What each rank of `comm` gives as its number, by rank."""
    gathered = comm.all_gather(np.array([number]), np.zeros(comm.world_size, int))
    return [int(each) for each in gathered]


def call_on_and_on(comm: Communicator) -> None:
    while True:
        comm.all_reduce(np.ones(1000))


def test_split_groups_by_color_in_the_order_of_key_then_rank() -> None:
    def work(comm: Communicator) -> None:
        parity = comm.split(comm.rank % 2)
        assert parity is not None
        assert members(parity, comm.rank) == ([0, 2, 4] if comm.rank % 2 == 0 else [1, 3])
        backwards = comm.split(7, key=-comm.rank)
        assert backwards is not None
        assert members(backwards, comm.rank) == [4, 3, 2, 1, 0]
        assert (backwards.rank, backwards.world_size) == (4 - comm.rank, 5)
        pair = parity.split(parity.rank // 2)  # a part of a part
        assert pair is not None
        for each in (pair, backwards, parity, comm):  # all go on beside each other
            assert each.all_reduce(np.ones(100))[0] == each.world_size
        parity.close()
        assert comm.all_reduce(np.ones(1))[0] == 5

    ringtree.run(work, 5)


def test_who_gives_a_negative_color_is_in_none() -> None:
    def work(comm: Communicator) -> list[int] | None:
        part = comm.split(-1 if comm.rank == 1 else 0)
        return None if part is None else members(part, comm.rank)

    assert ringtree.run(work, 3) == [[0, 2], None, [0, 2]]


def test_a_failure_of_a_part_is_not_one_of_the_whole() -> None:
    def work(comm: Communicator) -> None:
        part = comm.split(comm.rank // 2)
        assert part is not None
        comm.barrier()  # an abort while a peer still makes its part would be told there
        if comm.rank == 0:
            part.abort("only this part")
        if comm.rank < 2:
            with pytest.raises(ringtree.RingtreeError, match="only this part"):
                part.barrier()
        else:
            part.barrier()
        comm.barrier()

    ringtree.run(work, 4)


def test_a_part_knows_what_the_whole_was_made_with() -> None:
    def work(comm: Communicator) -> None:
        part = comm.split(0)
        assert part is not None
        with pytest.raises(ringtree.UsageError, match="deterministic"):
            part.all_reduce(np.ones(10, "float32"), algorithm="ring")
        part.all_reduce(np.ones(10, "float32"))
        assert part.last_call()["num_channels"] == 2

    ringtree.run(work, 3, deterministic=True, channels=2, profile="")


def test_an_emulated_cluster_has_no_parts() -> None:
    def work(comm: Communicator) -> None:
        for make in (lambda: comm.split(0), comm.shrink):
            with pytest.raises(ringtree.UsageError, match="emulates a cluster cannot be split or shrunk"):
                make()

    ringtree.run(work, 2, emulate=ringtree.Emulation(2, 1, 1e-4, 1e9))


@pytest.mark.parametrize("leavers", [[3], [0], [1, 0], [0, 1, 2]])
def test_shrink_goes_on_with_those_that_are_left(leavers: list[int]) -> None:
    def work(comm: Communicator) -> None:
        me, left, current = comm.rank, list(range(4)), comm
        for leaver in leavers:
            assert current.all_reduce(np.ones(10))[0] == len(left)
            if me == leaver:
                current.close()
                return
            left.remove(leaver)
            with pytest.raises(ringtree.PeerError, match=r"rank \d \(pid \d+\) left the communicator"):
                call_on_and_on(current)
            smaller = current.shrink()
            current.close()
            current = smaller
            assert members(current, me) == left
            assert current.rank == left.index(me)
        current.close()

    ringtree.run(work, 4)


def told_without_rank_2(timeout: float) -> list[str]:
    """What ranks 0 and 1 of three are told when only they shrink; empty of one that has not met the others in time."""
    store, ended = ringtree.ThreadStore(), threading.Barrier(3)  # who left earlier would not be missed

    def one(rank: int) -> str:
        told = ""
        try:
            with ringtree.init(rank, 3, store, timeout=timeout) as comm:
                if rank != 2:
                    told = outcome_of_shrink(comm)
                ended.wait(60)
        except (ringtree.DeadlineError, threading.BrokenBarrierError):
            ended.abort()
        return told

    return on_threads(one, 3)[:2]


def outcome_of_shrink(comm: Communicator) -> str:
    try:
        comm.shrink()
    except ringtree.RingtreeError as error:
        return f"{type(error).__name__}: {error}"
    return "a communicator without rank 2"


def test_shrinking_without_all_survivors_says_so_at_the_deadline() -> None:
    told = told_without_rank_2(0.5)
    if "" in told:  # the deadline is that of meeting, too, and the machine is busy
        told = told_without_rank_2(30.0)
    for text in told:
        assert text.startswith("DeadlineError: ")
        assert "did not all call shrink() in time" in text


def test_abort_ends_what_is_under_way_on_all_ranks_and_says_who_and_why() -> None:
    started = threading.Barrier(3)  # an abort while a rank still joins would end that

    def work(comm: Communicator) -> list[str]:
        texts = []
        if comm.rank == 1:  # calls nothing, so the others wait; another thread of it ends that
            started.wait(60)
            other = threading.Thread(target=comm.abort, args=("the loss is NaN",))
            other.start()
            other.join()
        else:
            waiting = comm.start("all_reduce", np.ones(1000), timeout=60)
            started.wait(60)
            with pytest.raises(ringtree.RingtreeError) as caught:
                waiting.wait()
            texts.append(str(caught.value))
        for _ in range(2):
            with pytest.raises(ringtree.RingtreeError) as later:
                comm.barrier()
            texts.append(str(later.value))
        return texts

    texts = [text for of_rank in ringtree.run(work, 3) for text in of_rank]
    assert len(set(texts)) == 1, "the first failure is what each later call reports"
    assert texts[0].startswith("rank 1 (pid ")
    assert texts[0].endswith(") aborted the communicator: the loss is NaN")


def test_abort_from_another_thread_ends_a_call_of_this_rank() -> None:
    def call(comm: Communicator) -> None:
        other = threading.Thread(target=comm.abort, args=("enough",))
        other.start()  # before or after the call has begun: it ends alike
        try:
            comm.all_reduce(np.ones(10), timeout=60)
        finally:
            other.join()

    text = told_beside_an_absent_rank(ringtree.RingtreeError, call)
    assert text.endswith("aborted the communicator: enough")


def test_after_an_abort_all_may_shrink_to_a_new_one() -> None:
    def work(comm: Communicator) -> None:
        with pytest.raises(ringtree.RingtreeError, match="begin again"):  # noqa: PT012
            comm.barrier()  # nobody is still making its communicator
            if comm.rank == 0:
                comm.abort("begin again")
            call_on_and_on(comm)
        fresh = comm.shrink()
        assert members(fresh, comm.rank) == [0, 1, 2]

    ringtree.run(work, 3)


def test_several_communicators_are_used_by_several_threads_at_once() -> None:
    store, num_groups, ranks, rounds = ringtree.ThreadStore(), 3, 2, 50

    def one(rank: int, group: int, sums: dict[tuple[int, int], Any]) -> None:
        with ringtree.init(rank, ranks, store, name=f"group {group}", timeout=60) as comm:
            total = np.full(1000, float(group))
            for _ in range(rounds):
                comm.all_reduce(total, op="avg")
            sums[rank, group] = total

    sums: dict[tuple[int, int], Any] = {}
    threads = [
        threading.Thread(target=one, args=(rank, group, sums)) for rank in range(ranks) for group in range(num_groups)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sums) == ranks * num_groups
    assert all((total == group).all() for (_, group), total in sums.items())
