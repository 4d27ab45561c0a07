"""Schedules from Python: what the builder appends is what the core holds, and faults are named."""

from __future__ import annotations

import pytest

import ringtree
from ringtree import Chunks, ProgramBuilder


def ring(p: ProgramBuilder) -> None:
    """The ring, written by hand: what a user writes must be the very thing that is built in."""
    right, left = (p.rank + 1) % p.ranks, (p.rank - 1) % p.ranks
    chunks = [(p.rank - step) % p.ranks for step in range(2 * p.ranks - 1)]
    p.send(chunks[0], to=right)
    for chunk in chunks[1 : p.ranks - 1]:
        p.recv_reduce_send(chunk, source=left, to=right)
    p.recv_reduce_copy_send(chunks[p.ranks - 1], source=left, to=right)
    for chunk in chunks[p.ranks : -1]:
        p.recv_copy_send(chunk, source=left, to=right)
    p.recv(chunks[-1], source=left)


def test_a_schedule_of_ones_own_is_verified_and_costed_like_a_built_in_one() -> None:
    own = ringtree.build("all_reduce", ring, ranks=5, chunks=5)
    ringtree.verify(own)
    built_in = ringtree.schedule("all_reduce", "ring", ranks=5)
    for field in ("hops", "sent", "written", "total_written"):
        assert getattr(own.cost(), field) == getattr(built_in.cost(), field)
    assert (own.name, own.num_ranks, own.num_chunks) == ("ring", 5, 5)


def test_a_step_reads_back_as_it_was_written() -> None:
    def program(p: ProgramBuilder) -> None:
        place = p.reserve_scratch(2)
        if p.rank == 0:
            p.recv_reduce_copy_send(Chunks(2, 2, -1), source=[(1, 7), 2], to=[2, 1], src_at=1, dst=place[0], tag=9)

    step = ringtree.build("all_reduce", program, ranks=3, chunks=3).program(0)[0]
    assert step == ringtree.Step(
        "recv_reduce_copy_send", 0, (2, 1), ((1, 7), (2, 0)), ("input", 0), 1, ("scratch", 0), (2, 1), 9
    )


def test_a_program_that_is_not_well_formed_is_refused_with_rank_and_step() -> None:
    def program(p: ProgramBuilder) -> None:
        p.send(0, to=p.rank)

    with pytest.raises(ringtree.ScheduleError, match=r"mine: rank 0, step 0 \(send\): a rank has no link to itself"):
        ringtree.build("all_reduce", program, ranks=2, name="mine")


def test_a_wrong_schedule_is_named_by_link_or_step() -> None:
    def forgets_the_last_receive(p: ProgramBuilder) -> None:
        ring(p)
        if p.rank == 1:
            p.steps.pop()

    wrong = ringtree.build("all_reduce", forgets_the_last_receive, ranks=3, chunks=3)
    with pytest.raises(ringtree.VerificationError, match="rank 1"):
        ringtree.verify(wrong)
    report = ringtree.verify_report(wrong)
    assert (report["ok"], report["kind"]) == (False, "ledger")


def test_a_wrong_schedule_is_never_run() -> None:
    def nothing(p: ProgramBuilder) -> None:
        p.copy(0)

    wrong = ringtree.build("all_reduce", nothing, ranks=2)
    with pytest.raises(ringtree.VerificationError, match="contribution"):
        ringtree.run(lambda comm: comm.all_reduce(bytearray(8), algorithm=wrong), ranks=2)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("all_reduce", "star", 4), "star"),
        (("all_deduce", "ring", 4), "all_reduce, reduce_scatter"),
        (("reduce_scatter", "chain", 4), "reduce_scatter"),
        (("all_reduce", "ring", 0), "at least one rank"),
    ],
)
def test_unknown_names_say_what_exists(arguments: tuple[str, str, int], says: str) -> None:
    with pytest.raises(ringtree.UsageError, match=says):
        ringtree.schedule(arguments[0], arguments[1], ranks=arguments[2])


def test_layout_partitions_the_vector() -> None:
    schedule = ringtree.schedule("all_reduce", "ring", ranks=4)
    assert schedule.layout(10) == [(0, 3), (3, 3), (6, 2), (8, 2)]
    assert ringtree.schedule("all_gather", "ring", ranks=3).layout(5) == [(0, 5), (5, 5), (10, 5)]
