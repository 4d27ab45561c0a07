"""Ranks that end badly: `python torch_faulty.py CASE RANK SIZE STORE`, or forked. Each prints what it was told.

For: test_torch_faults.py.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any

import torch
import torch.distributed as dist


def say(kind: str, text: object = "") -> None:
    print(f"{kind} {time.monotonic():.6f} {text}".replace("\n", " "), flush=True)


def killed_in_backward(rank: int, width: int = 64, bucket_mb: float = 0.02) -> None:
    """Rank 1 dies while gradients are on their way; the others are told by what they wait for."""
    torch.manual_seed(0)
    net = torch.nn.parallel.DistributedDataParallel(
        torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(6))), bucket_cap_mb=bucket_mb
    )
    for step in range(100):
        loss = net(torch.randn(4, width)).square().mean()
        if rank == 1 and step == 3:
            counted = iter(range(100))

            def die(_: torch.Tensor, counted: object = counted) -> None:
                if next(counted) == 5:  # type: ignore[call-overload]
                    say("dies")
                    os.kill(os.getpid(), signal.SIGKILL)

            for parameter in net.parameters():
                parameter.register_hook(die)
        loss.backward()


def killed_beside_shared_buckets(rank: int) -> None:
    """The same with a bucket of a megabyte for each layer, which all ranks map."""
    os.environ["DDP_DISABLE_COMM_MEM"] = "0"
    killed_in_backward(rank, width=512, bucket_mb=1.0)


def different_sizes(rank: int) -> None:
    dist.all_reduce(torch.zeros(4 + rank))


def different_types(rank: int) -> None:
    dist.all_reduce(torch.zeros(4, dtype=torch.float32 if rank == 0 else torch.int32))


def different_ops(rank: int) -> None:
    dist.all_reduce(torch.zeros(4), dist.ReduceOp.SUM if rank == 0 else dist.ReduceOp.MAX)


def different_collectives(rank: int) -> None:
    if rank == 0:
        dist.all_reduce(torch.zeros(4))
    else:
        dist.broadcast(torch.zeros(4), 0)


def absent(rank: int) -> None:
    """Rank 0 waits for rank 1, which does something else for longer than the deadline."""
    if rank == 0:
        dist.all_reduce(torch.zeros(4))
    else:
        sys.stdin.read()


def absent_message(rank: int) -> None:
    if rank == 0:
        dist.recv(torch.zeros(4), 1)
    else:
        sys.stdin.read()


def aborted(rank: int) -> None:
    if rank == 0:
        work = dist.all_reduce(torch.zeros(4), async_op=True)
        assert work is not None
        dist.distributed_c10d._get_default_group()._get_backend(torch.device("cpu")).abort()
        work.wait()
    else:
        sys.stdin.read()


def ctrl_c(rank: int) -> None:
    """Rank 0 gets the signal once its call has begun."""
    if rank == 1:
        sys.stdin.read()
        return
    backend = dist.distributed_c10d._get_default_group()._get_backend(torch.device("cpu"))
    before = backend._get_sequence_number_for_group()

    def press() -> None:
        while backend._get_sequence_number_for_group() == before:
            os.sched_yield()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    dist.all_reduce(torch.zeros(4))


def raises_beside_a_call(rank: int) -> None:
    """Rank 0 ends by an exception while a call of its own waits for rank 1, which never makes it."""
    if rank == 0:
        dist.all_reduce(torch.zeros(4), async_op=True)
        raise ValueError("something else")
    sys.stdin.read()


def forked(rank: int) -> None:
    """A child of rank 0, which has a call and a receive under way, is told that the group is its parent's, and ends;
    then both go on."""
    store = dist.distributed_c10d._get_default_store()
    summed, received = torch.ones(4), torch.zeros(4)
    if rank == 1:
        store.wait(["the child has ended"])
        dist.all_reduce(summed)
        dist.send(torch.ones(4), 0)
        return
    call, receive = dist.all_reduce(summed, async_op=True), dist.irecv(received, 1)
    assert call is not None
    assert receive is not None
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # or it would hang
        refused: list[Callable[[], object]] = [
            lambda: dist.all_reduce(torch.ones(4)),
            lambda: dist.all_reduce(torch.ones(4), async_op=True),
            lambda: dist.send(torch.ones(4), 1),
            lambda: dist.irecv(torch.ones(4), 1),
            dist.monitored_barrier,
            call.wait,
            receive.wait,
        ]
        for function in refused:
            try:
                function()
            except ValueError as error:
                say("refused", error)
        dist.destroy_process_group()
        return
    _, status = os.waitpid(child, 0)
    say("child", os.waitstatus_to_exitcode(status))
    store.set("the child has ended", "1")
    call.wait()
    receive.wait()
    say("right", torch.equal(summed, torch.ones(4) * 2) and torch.equal(received, torch.ones(4)))


def be_faulty(case: str, rank: int, size: int, store: str, timeout_s: float) -> None:
    timeout = timedelta(seconds=timeout_s)
    dist.init_process_group("ringtree", init_method=f"file://{store}", rank=rank, world_size=size, timeout=timeout)
    dist.all_reduce(torch.zeros(1))
    say("ready")
    try:
        globals()[case](rank)
    except RuntimeError as error:
        say("told", f"{type(error).__name__}: {error}")
    except KeyboardInterrupt:
        say("interrupted")


def be_faulty_with(output: Connection, given: Connection, *arguments: Any) -> None:
    """In a process that was forked: `output` and `given` are its standard output and input."""
    os.dup2(given.fileno(), 0)
    for standard in (1, 2):
        os.dup2(output.fileno(), standard)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115 # as long as it lives
    torch.set_num_threads(1)
    be_faulty(*arguments)


def main() -> None:
    case, rank, size, store = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    be_faulty(case, rank, size, store, float(os.environ["TIMEOUT_S"]))


if __name__ == "__main__":
    main()
