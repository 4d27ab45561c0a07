"""The lab's side of the workers' line protocol, against a worker of no library: answers, and all that can go wrong.

A worker that hangs, dies, lies or never comes must cost a bounded time, say why, and leave no process behind.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench_support import FakeArm

from ringtree.measure.process_set import SetFailed
from ringtree.measure.worker_processes import descendants
from ringtree.measure.worker_ranks import Refused, Work, WorkerRanks

WORK = Work("all_reduce", "float32", "sum", size_bytes=4096, calls=10, batches=3, warm_up=1, first=7)


@contextlib.contextmanager
def running(behaviour: str = "good", num_ranks: int = 2) -> Iterator[WorkerRanks]:
    arm = WorkerRanks(FakeArm("fake", 1.0, behaviour), num_ranks, [0, 1])
    try:
        yield arm
    finally:
        arm.close(1.0)


def is_alive(pid: int) -> bool:
    """False also for a process that has ended and is waited for by nobody."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def test_a_run_is_answered_with_the_times_of_every_rank_and_batch() -> None:
    with running(num_ranks=3) as arm:
        arm.ready(20.0)
        answer = arm.run(WORK, 20.0)
        assert arm.version == "Fake 1.0"
        assert len(set(arm.pids)) == 3
        assert answer.wrong == (0, 0, 0)
        assert [len(of_rank) for of_rank in answer.times] == [3, 3, 3]
        assert answer.slowest() == [max(batch) for batch in zip(*answer.times, strict=True)]
        # Other calls, other times: what is told belongs to this very run.
        assert arm.run(Work("all_reduce", "float32", "sum", 4096, 10, 3, 1, first=8), 20.0).times != answer.times
        pids = arm.pids
    assert not any(map(is_alive, pids))


def test_the_line_holds_collective_offset_and_sharing() -> None:
    work = Work("broadcast", "int8", "none", 8, 1, 2, 0, 9, offset=4, shared=True, root=1)
    assert work.line() == b"run broadcast int8 none 8 1 2 0 4 9 1 0 1\n"
    assert Work("reduce", "int8", "sum", 8, 1, 2, 0, 9, in_place=True).line().endswith(b" 0 1 turn\n")


def test_a_worker_that_hangs_is_given_up_and_its_processes_are_gone() -> None:
    with running("hang:4096") as arm:
        arm.ready(20.0)
        pids = arm.pids
        with pytest.raises(SetFailed, match="rank 1 did not answer in time"):
            arm.run(WORK, 0.3)
    assert not any(map(is_alive, pids))


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("die", "rank 1 left"),
        ("break", "rank 0: peer is gone"),
        ("garbage", "answered 'ok 0 nan' to a run of 3 batches"),
    ],
)
def test_what_ends_workers_is_said(case: str, said: str) -> None:
    with running(f"{case}:4096") as arm:
        arm.ready(20.0)
        with pytest.raises(SetFailed, match=said):
            arm.run(WORK, 20.0)


def test_wrong_elements_are_counted_by_rank() -> None:
    with running("wrong:4096") as arm:
        arm.ready(20.0)
        assert arm.run(WORK, 20.0).wrong == (0, 3)


def test_a_refusal_leaves_the_worker_usable() -> None:
    with running("refuse:4096") as arm:
        arm.ready(20.0)
        with pytest.raises(Refused, match="rank 0: unsupported"):
            arm.run(WORK, 20.0)
        assert arm.run(Work("all_reduce", "float32", "sum", 8, 1, 2, 0, 1), 20.0).wrong == (0, 0)


def test_a_launcher_that_ends_at_once_is_quoted() -> None:
    with running("stillborn") as arm, pytest.raises(SetFailed, match="error: no such device"):
        arm.ready(20.0)


def test_ranks_that_never_connect_are_not_waited_for() -> None:
    with running("absent") as arm, pytest.raises(SetFailed, match="0 of 2 ranks connected"):
        arm.ready(0.3)


def test_a_program_that_is_not_there_is_a_failed_arm() -> None:
    class Missing(FakeArm):
        def command(self, *_: object) -> list[str]:
            return ["/nowhere/worker"]

    with pytest.raises(SetFailed, match="could not be started"):
        WorkerRanks(Missing("fake"), 2, [0, 1])


def test_a_process_in_a_session_of_its_own_does_not_outlive_the_arm() -> None:
    others = descendants(os.getpid())  # what earlier tests of this process have left running
    with running("stray") as arm:
        arm.ready(20.0)
        family = [pid for pid in descendants(os.getpid()) if pid not in (*arm.pids, *others)]
        strays = [pid for pid in family if os.getsid(pid) == pid]
        assert len(strays) == 1
    assert not any(map(is_alive, [*strays, *family]))
