"""send and recv from Python: what arrives, in which order, and one clear error for each way to go wrong.

For: pairs of ranks, groups of transfers with a purpose. Not for: random groups (test_transfer_properties.py). Ranks are
threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from absent_rank import told_beside_an_absent_rank
from transfer_support import assert_both_say, transfer

import ringtree
from ringtree import Communicator

LARGE = 3_000_000  # bytes: more than all slots of a link hold


def test_a_message_arrives_as_it_was_sent() -> None:
    def work(comm: Communicator) -> Any:
        if comm.rank == 0:
            sent = np.arange(1000, dtype="float32")
            assert comm.send(sent, 1) is sent
            return sent
        got = np.zeros(1000, "float32")
        assert comm.recv(got, 0) is got
        return got

    sent, got = ringtree.run(work, 2)
    assert (sent == got).all()


def test_messages_of_one_direction_keep_their_order() -> None:
    lengths = [0, 5, 70_000, 1, 300_000, 3]

    def work(comm: Communicator) -> None:
        for number, length in enumerate(lengths):
            if comm.rank == 0:
                comm.send(np.full(length, number, "int32"), 1)
            else:
                assert (comm.recv(np.zeros(length, "int32"), 0) == number).all()

    ringtree.run(work, 2)


def test_transfers_go_between_collectives() -> None:
    def work(comm: Communicator) -> None:
        for number in range(5):
            if comm.rank == 1:
                comm.send(np.full(10, number), 2)
            comm.barrier()  # that receiver and sender are at different calls is not a mismatch
            if comm.rank == 2:
                assert (comm.recv(np.zeros(10, int), 1) == number).all()
            assert comm.all_reduce(np.ones(3))[0] == 3

    ringtree.run(work, 3)


def test_ranks_that_send_to_each_other_at_once_do_so_in_a_group() -> None:
    def work(comm: Communicator) -> None:
        after, before = (comm.rank + 1) % 3, (comm.rank - 1) % 3
        sent, got = np.full(LARGE, comm.rank, "uint8"), np.empty(LARGE, "uint8")
        transfer(comm, [(True, after, sent), (False, before, got)])
        assert (got == before).all()

    ringtree.run(work, 3)


def test_a_rank_may_send_to_itself_in_a_group() -> None:
    def work(comm: Communicator) -> None:
        first, second = np.zeros(2), np.zeros(3)
        sends = [(True, comm.rank, np.full(2, 7.0)), (True, comm.rank, np.full(3, 8.0))]
        transfer(comm, [(False, comm.rank, first), *sends, (False, comm.rank, second)])
        assert (first == 7).all()
        assert (second == 8).all()

    ringtree.run(work, 2)


def test_shared_buffers_may_be_written_again_once_send_has_returned() -> None:
    def work(comm: Communicator) -> None:
        buffer = ringtree.empty(LARGE // 8, "int64")
        for number in range(5):
            if comm.rank == 0:
                buffer[:] = number
                comm.send(buffer, 1)
            else:
                assert (comm.recv(buffer, 0) == number).all()

    ringtree.run(work, 2)


MISTAKES: list[tuple[str, Any, str]] = [
    ("no such rank", lambda comm: comm.send(np.ones(3), 2), "rank 2 is not a rank of a world of 2"),
    ("a negative rank", lambda comm: comm.recv(np.ones(3), -1), "rank -1 is not a rank of a world of 2"),
    (
        "alone to itself",
        lambda comm: comm.send(np.ones(3), comm.rank),
        "must post as many receives from itself in the same group",
    ),
    ("with gaps", lambda comm: comm.send(np.ones((3, 3))[:, 0], 0), "what is sent is not contiguous"),
    ("no array", lambda comm: comm.recv([0.0], 0), "what is received into must be a NumPy array"),
    ("a timeout below 0", lambda comm: comm.send(np.ones(3), 1 - comm.rank, timeout=-1), "timeout must be 0"),
    (
        "to itself of another size",
        lambda comm: transfer(comm, [(True, comm.rank, np.ones(3)), (False, comm.rank, np.ones(4))]),
        "a send of 3 float64 to rank",
    ),
]


@pytest.mark.parametrize(("mistake", "said"), [each[1:] for each in MISTAKES], ids=[each[0] for each in MISTAKES])
def test_a_mistake_is_one_clear_error_and_harms_nobody(mistake: Any, said: str) -> None:
    def work(comm: Communicator) -> str:
        with pytest.raises(ringtree.UsageError) as caught:
            mistake(comm)
        if comm.rank == 0:
            comm.send(np.ones(3), 1)
        else:
            comm.recv(np.zeros(3), 0)
        return str(caught.value)

    assert_both_say(said, work)


def test_what_is_received_into_must_be_writable_and_what_is_sent_need_not() -> None:
    def work(comm: Communicator) -> None:
        constant = np.ones(3)
        constant.flags.writeable = False
        if comm.rank == 0:
            comm.send(constant, 1)
            return
        with pytest.raises(ringtree.UsageError, match="what is received into is read-only"):
            comm.recv(constant, 0)
        assert (comm.recv(np.zeros(3), 0) == 1).all()

    ringtree.run(work, 2)


@pytest.mark.parametrize(("count", "dtype"), [(20, "int64"), (10, "int32"), (10, "float64")])
def test_sizes_that_differ_are_a_mismatch_that_names_both_ranks(count: int, dtype: str) -> None:
    def work(comm: Communicator) -> str:
        def send_or_receive() -> None:
            if comm.rank == 0:
                comm.send(np.zeros(10, "int64"), 1, timeout=20)
                comm.barrier(timeout=20)  # who sent learns of it here
            else:
                comm.recv(np.zeros(count, dtype), 0, timeout=20)

        with pytest.raises(ringtree.MismatchError) as caught:
            send_or_receive()
        return str(caught.value)

    for text in ringtree.run(work, 2):
        assert "rank 0 (pid" in text
        assert f"recv of {count} {dtype} from rank 0" in text
        assert "that rank 1 (pid" in text


def test_a_rank_that_does_not_come_is_named_at_the_deadline() -> None:
    text = told_beside_an_absent_rank(
        ringtree.DeadlineError, lambda comm: comm.recv(np.zeros(4, "float32"), 1, timeout=0.1)
    )
    assert "recv of 4 float32 from rank 1" in text
    assert "not complete after 0.1 s" in text
    assert "rank 1 (pid" in text


def test_a_rank_that_has_left_is_named() -> None:
    def work(comm: Communicator) -> str:
        if comm.rank == 1:
            return ""
        with pytest.raises(ringtree.PeerError) as caught:
            comm.recv(np.zeros(4), 1, timeout=30)
        return str(caught.value)

    text = ringtree.run(work, 2)[0]
    assert "rank 1 (pid" in text
    assert "left the communicator before the recv of 4 float64 from rank 1" in text
