"""Ranks of test_torch_tracer.py: jobs that are hard on the tracer, each recorded into a folder of its own.

For: calls of every kind, threads, forks, steps without end. Not for: trainings (joblog_ranks.py).
"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from ringtree.joblog import tracer
from ringtree.joblog.counting import described_calls
from ringtree.joblog.operators import Described

NUM_THREADS, CALLS_A_THREAD = 4, 50


def own(folder: str, name: str) -> Path:
    made = Path(folder) / name
    made.mkdir(exist_ok=True)
    dist.barrier()
    return made


def issue_every_kind(rank: int, size: int, pair: Any) -> None:
    x, blocks = torch.ones(10, dtype=torch.float64), [torch.ones(7) for _ in range(size)]
    dist.all_reduce(x)
    dist.all_reduce(torch.ones(3, dtype=torch.bfloat16), group=pair)
    dist.all_reduce(torch.ones(4)[:0])
    dist.broadcast(torch.ones(2, 3, dtype=torch.int64), 0)
    dist.reduce(x, 1)
    dist.all_gather([torch.empty(10, dtype=torch.float64) for _ in range(size)], x)
    dist.all_gather_into_tensor(torch.empty(5 * size), torch.ones(5))
    dist.reduce_scatter_tensor(torch.empty(4), torch.ones(4 * size))
    dist.gather(torch.ones(5, dtype=torch.uint8), [torch.empty(5, dtype=torch.uint8)] * size if rank == 0 else None)
    dist.scatter(torch.empty(7), blocks if rank == 1 else None, src=1)
    dist.all_to_all_single(torch.empty(2 * size), torch.ones(2 * size))
    dist.barrier(group=pair)
    if rank == 0:
        dist.send(torch.ones(9, dtype=torch.int16), 1)
        dist.send(torch.ones(9, dtype=torch.int16), 1)
    else:
        dist.recv(torch.empty(9, dtype=torch.int16), 0)
        dist.recv(torch.empty(9, dtype=torch.int16))  # from any rank
    dist.monitored_barrier()


def read_twice(rank: int, size: int, folder: str) -> list[Described]:
    """Returns what Python reads of the calls that the tracer then records."""
    recorded = own(folder, "twice")
    pair = dist.new_group(list(range(size)))
    found: list[Described] = []
    with described_calls(found.append):
        issue_every_kind(rank, size, pair)
    tracer.install(recorded)
    issue_every_kind(rank, size, pair)
    tracer.stop()
    return found


def many_calls(rank: int, size: int, folder: str, capacity: int, num_calls: int) -> None:
    """More calls in one step than are kept."""
    recorded = own(folder, "many")
    usual, tracer._CAPACITY = tracer._CAPACITY, capacity
    tracer.install(recorded)
    tracer._CAPACITY = usual
    for _ in range(num_calls // 4):
        for one in [dist.all_reduce(torch.ones(1), async_op=True) for _ in range(4)]:
            one.wait()
    tracer.stop()


def untimed_calls(rank: int, size: int, folder: str, capacity: int) -> None:
    """Calls that the host does not time, more than are kept, in a step after two others (time_every is large)."""
    recorded = own(folder, "untimed")
    usual, tracer._CAPACITY = tracer._CAPACITY, capacity
    tracer.install(recorded, time_every=1000)
    tracer._CAPACITY = usual
    dist.all_reduce(torch.ones(1))
    tracer.mark_step()
    for _ in range(3 * capacity):
        dist.all_reduce(torch.ones(1))
    tracer.stop()


def told_to_end(rank: int, size: int, folder: str) -> object:
    """A signal whose handler raises SystemExit arrives while the recorder asks Python for room, before the second of
    three calls. Returns what the code around that call gets."""
    recorded = own(folder, "ends")

    def ends(*_: object) -> None:
        raise SystemExit(7)

    usual, tracer._CAPACITY = tracer._CAPACITY, 1
    tracer.install(recorded)
    tracer._CAPACITY = usual
    assert tracer._active is not None
    file: Any = tracer._active._file
    before = signal.signal(signal.SIGUSR1, ends)
    dist.all_reduce(torch.ones(1))
    file.make_room = lambda *_: signal.raise_signal(signal.SIGUSR1)
    got: object = None
    try:
        dist.all_reduce(torch.ones(1))
    except SystemExit as error:
        got = error.code
    del file.make_room
    signal.signal(signal.SIGUSR1, before)
    dist.all_reduce(torch.ones(1))
    tracer.stop()
    return got


def in_threads(rank: int, size: int, folder: str) -> None:
    """Threads issue calls, each in a group of its own, while another ends steps."""
    recorded = own(folder, "threads")
    groups = [dist.new_group(list(range(size))) for _ in range(NUM_THREADS)]
    tracer.install(recorded, time_every=1)

    def issue(number: int) -> None:
        for _ in range(CALLS_A_THREAD):
            dist.all_reduce(torch.ones(number + 1), group=groups[number])

    threads = [threading.Thread(target=issue, args=(number,)) for number in range(NUM_THREADS)]
    for one in threads:
        one.start()
    while any(one.is_alive() for one in threads):
        tracer.mark_step()
        threads[0].join(0.001)
    tracer.stop()


def in_a_thread_that_ends(rank: int, size: int, folder: str, computes: float) -> None:
    """A thread issues a call, computes for so many seconds of its CPU time and ends; then comes another call."""
    recorded = own(folder, "ended")
    tracer.install(recorded)

    def issue() -> None:
        dist.all_reduce(torch.ones(1))
        until = time.thread_time() + computes
        while time.thread_time() < until:
            pass

    thread = threading.Thread(target=issue)
    thread.start()
    thread.join()
    dist.all_reduce(torch.ones(1))
    tracer.stop()


def one_after_the_other(rank: int, size: int, folder: str) -> None:
    for name, num_calls in (("first", 3), ("second", 2)):
        recorded = own(folder, name)
        tracer.install(recorded)
        for _ in range(num_calls):
            dist.all_reduce(torch.ones(1))
        tracer.stop()
        dist.all_reduce(torch.ones(1))


def that_raises(rank: int, size: int, folder: str) -> list[str]:
    """A call that its backend refuses, and one more."""
    recorded = own(folder, "raises")
    tracer.install(recorded)
    said = []
    try:
        dist.all_gather_into_tensor(torch.empty(3 * size), torch.ones(2))
    except (RuntimeError, ValueError) as error:
        said.append(type(error).__name__)
    dist.all_reduce(torch.ones(1))
    tracer.stop()
    return said


def without_futures(rank: int, size: int, folder: str) -> bool:
    """Three calls without a Future: one is waited for, one is waited for after its step, one is not. Returns whether
    PyTorch's function is what it was."""
    recorded = own(folder, "waits")
    wait = dist.Work.wait
    tracer.install(recorded, time_every=1)
    issue = [dist.reduce_scatter_tensor(torch.empty(4), torch.ones(4 * size), async_op=True) for _ in range(3)]
    issue[0].wait()
    tracer.mark_step()
    issue[1].wait()
    issue[2].wait()
    tracer.stop()
    return dist.Work.wait is wait


def that_forks(rank: int, size: int, folder: str) -> int:
    """A child ends steps, issues a call that no other thread is needed for, and stops; returns its exit code."""
    recorded = own(folder, "forks")
    alone = [dist.new_group([one]) for one in range(size)][rank]
    tracer.install(recorded)
    dist.all_reduce(torch.ones(1))
    child = os.fork()
    if child == 0:
        try:
            dist.monitored_barrier(alone)
            tracer.mark_step()
            tracer.stop()
        finally:
            os._exit(0 if recorded.exists() else 1)
    _, status = os.waitpid(child, 0)
    dist.all_reduce(torch.ones(2))
    tracer.stop()
    return status
