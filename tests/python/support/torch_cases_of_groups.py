"""What the ranks of test_torch_backend.py do with groups, messages, and work: futures, callbacks, threads, refusals.

For: all that is more than a collective's result. Not for: those (torch_cases.py).

The reference of each is the obvious thing, computed by every rank by itself (torch_data.py).
"""

from __future__ import annotations

import importlib
import operator
import os
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch_data import ALL, equal, fold, numbers


def moving(rank: int, size: int) -> None:
    """broadcast, reduce, gather, scatter of every dtype and from every root."""
    for dtype in ALL:
        for root in range(size):
            data = numbers(rank, 9, dtype)
            dist.broadcast(data, root)
            equal(data, numbers(root, 9, dtype))
            gathered = [torch.zeros(9, dtype=dtype) for _ in range(size)] if rank == root else None
            dist.gather(numbers(rank, 9, dtype), gathered, dst=root)
            for r, got in enumerate(gathered or []):
                equal(got, numbers(r, 9, dtype))
            parts = [numbers(r + 10, 9, dtype) for r in range(size)] if rank == root else None
            mine = torch.zeros(9, dtype=dtype)
            dist.scatter(mine, parts, src=root)
            equal(mine, numbers(rank + 10, 9, dtype))
    for root in range(size):
        data = numbers(rank, 100)
        dist.reduce(data, root, dist.ReduceOp.SUM)
        equal(data, fold(operator.add, size, 100, torch.float32) if rank == root else numbers(rank, 100))


def shared_memory(rank: int, size: int) -> None:
    """Inputs and outputs that share memory, on some ranks as in place and on others not."""
    buffer = numbers(rank, 4 * size)
    first = buffer[:4].clone()
    dist.all_gather(list(buffer.view(size, 4).unbind()), buffer[:4])
    equal(buffer, torch.cat([numbers(r, 4 * size)[:4] for r in range(size)]))
    buffer = numbers(rank, 4 * size)
    dist.all_gather_into_tensor(buffer, buffer[:4])
    equal(buffer, torch.cat([numbers(r, 4 * size)[:4] for r in range(size)]))
    assert torch.equal(first, numbers(rank, 4 * size)[:4])
    blocks = list(numbers(rank, 4 * size).view(size, 4).unbind())
    dist.reduce_scatter(blocks[0], blocks)
    equal(blocks[0], sum(numbers(r, 4 * size).view(size, 4)[rank] for r in range(size)))  # type: ignore[arg-type]
    whole = numbers(rank, 4 * size)
    dist.reduce_scatter_tensor(whole[:4], whole)
    equal(whole[:4], sum(numbers(r, 4 * size).view(size, 4)[rank] for r in range(size)))  # type: ignore[arg-type]
    mixed = numbers(rank, 2 * size)
    dist.all_to_all_single(mixed, mixed)
    equal(mixed, torch.cat([numbers(r, 2 * size)[2 * rank : 2 * rank + 2] for r in range(size)]))


def again(rank: int, size: int) -> None:
    """Groups that are made again on one store find nothing of the ones before."""
    store = dist.PrefixStore("again", dist.distributed_c10d._get_default_store())
    default = dist.distributed_c10d._get_default_group()
    for _ in range(2):
        backend = importlib.import_module("ringtree.torch").create(store, rank, size, timedelta(seconds=30))
        if rank == 0:
            with pytest.raises(RuntimeError, match="failed to pass"):
                backend.monitored_barrier(timedelta(milliseconds=200), False)
        if hasattr(backend, "shutdown"):  # in PyTorch 2.6 groups end with their last reference
            backend.shutdown()
        del backend
    default.barrier().wait()


def callbacks_of_messages(rank: int, size: int) -> None:
    """What a callback of a message calls may wait for another message."""
    right, left = (rank + 1) % size, (rank - 1) % size
    first, second = torch.zeros(3), torch.zeros(3)
    work = dist.irecv(first, left, tag=1)
    assert work is not None

    def then(_: object) -> torch.Tensor:
        dist.recv(second, left, tag=2)
        return second

    future = work.get_future().then(then)
    sends = [dist.isend(numbers(rank + tag, 3), right, tag=tag) for tag in (1, 2)]
    equal(future.wait(), numbers(left + 2, 3))
    equal(first, numbers(left + 1, 3))
    for send in sends:
        assert send is not None
        send.wait()


def inference(rank: int, size: int) -> None:
    """Calls that run in another thread see the caller's mode."""
    with torch.inference_mode():
        outputs = [torch.zeros(5) for _ in range(size)]
        work = dist.all_gather(outputs, numbers(rank, 5), async_op=True)
        assert work is not None
        work.wait()
        got = torch.zeros(5, 2).t()
        receive = dist.irecv(got, (rank - 1) % size)
        dist.send(numbers(rank, 10).view(2, 5), (rank + 1) % size)
        assert receive is not None
        receive.wait()
        equal(got, numbers((rank - 1) % size, 10).view(2, 5))
    for r, tensor in enumerate(outputs):
        equal(tensor, numbers(r, 5))


def futures(rank: int, size: int) -> None:
    data = numbers(rank, 10)
    work = dist.all_reduce(data, async_op=True)
    assert work is not None
    doubled = work.get_future().then(lambda future: future.value()[0] * 2)
    equal(doubled.wait(), fold(operator.add, size, 10, torch.float32) * 2)
    work.wait()
    many = [numbers(rank, 1000 * i) for i in range(20)]
    works = [dist.all_reduce(each, async_op=True) for each in many]
    for i, (each, one) in reversed(list(enumerate(zip(many, works, strict=True)))):
        assert one is not None
        one.wait()
        equal(each, fold(operator.add, size, 1000 * i, torch.float32))

    def nested(future: torch.futures.Future[list[torch.Tensor]]) -> torch.Tensor:
        again = dist.all_reduce(future.value()[0], async_op=True)  # as PowerSGD's hook does
        assert again is not None
        return again.get_future().wait()[0]

    first = dist.all_reduce(numbers(rank, 4), async_op=True)
    assert first is not None
    equal(first.get_future().then(nested).wait(), fold(operator.add, size, 4, torch.float32) * size)


def threads(rank: int, size: int) -> None:
    """Two groups, each used by a thread of its own."""
    groups = [dist.new_group(list(range(size))) for _ in range(2)]
    errors: list[BaseException] = []

    def use(group: dist.ProcessGroup, offset: int) -> None:
        try:
            for i in range(50):
                data = numbers(rank + offset, i)
                dist.all_reduce(data, group=group)
                equal(data, sum(numbers(r + offset, i) for r in range(size)))  # type: ignore[arg-type]
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=use, args=(group, i)) for i, group in enumerate(groups)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors, errors
    for group in groups:
        dist.destroy_process_group(group)


def send_recv(rank: int, size: int) -> None:
    right, left = (rank + 1) % size, (rank - 1) % size
    for dtype in ALL:
        got = torch.zeros(7, dtype=dtype)
        works = [dist.isend(numbers(rank, 7, dtype), right), dist.irecv(got, left)]
        for work in works:
            assert work is not None
            work.wait()
        equal(got, numbers(left, 7, dtype))
    # Tags in another order than they are sent.
    sends = [dist.isend(numbers(rank + tag, 100 * tag + 1), right, tag=tag) for tag in range(4)]
    for tag in (2, 0, 3, 1):
        got = torch.zeros(100 * tag + 1)
        dist.recv(got, left, tag=tag)
        equal(got, numbers(left + tag, 100 * tag + 1))
    for work in sends:
        assert work is not None
        work.wait()
    big = 1_000_003
    received, transposed = torch.zeros(big), torch.zeros(6, 4).t()
    ops = [
        dist.P2POp(dist.isend, numbers(rank, big), right),
        dist.P2POp(dist.irecv, received, left),
        dist.P2POp(dist.isend, numbers(rank, 24).view(4, 6), left, tag=1),
        dist.P2POp(dist.irecv, transposed, right, tag=1),
    ]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    equal(received, numbers(left, big))
    equal(transposed, numbers(right, 24).view(4, 6))


def groups(rank: int, size: int) -> None:
    """Parts of the ranks; ranks are numbered anew in them."""
    part = dist.new_group([0, size - 1])
    if rank in (0, size - 1):
        data = numbers(rank, 5)
        dist.all_reduce(data, group=part)
        equal(data, numbers(0, 5) + numbers(size - 1, 5))
        data = numbers(rank, 5)
        dist.broadcast(data, size - 1, group=part)
        equal(data, numbers(size - 1, 5))
    alone = dist.new_group([1])
    if rank == 1:
        data = numbers(rank, 5)
        dist.all_reduce(data, group=alone)
        equal(data, numbers(1, 5))
        dist.barrier(alone)
    dist.barrier()
    mixed = dist.new_group(list(range(size)), backend="cpu:ringtree")
    data = numbers(rank, 5)
    dist.all_reduce(data, group=mixed)
    equal(data, fold(operator.add, size, 5, torch.float32))
    assert mixed._get_backend(torch.device("cpu")).name() == "ringtree"


def monitored_barrier(rank: int, size: int) -> None:
    dist.monitored_barrier(timeout=timedelta(seconds=20))
    if rank != 1:
        expected = "Rank 1 failed to pass monitoredBarrier" if rank == 0 else "successfully reached monitoredBarrier"
        with pytest.raises(RuntimeError, match=expected):
            dist.monitored_barrier(timeout=timedelta(milliseconds=300))
    dist.barrier()


def waited_by_tensor(rank: int, size: int) -> None:
    """What compiled programs do: the tensor knows its Work, also that of a call that was waited for."""
    import torch.distributed._functional_collectives as functional

    with functional.allow_inflight_collective_as_graph_input_ctx():
        given = torch.full((3,), float(rank + 1))
        dist.all_reduce(given)
        assert torch.ops._c10d_functional.wait_tensor(given).tolist() == [size * (size + 1) / 2] * 3
    summed = functional.all_reduce(torch.ones(3), "sum", dist.group.WORLD)
    assert summed.tolist() == [size] * 3


def refused(rank: int, size: int) -> None:
    """What cannot be asked says so at once, and harms nothing."""

    with pytest.raises(ValueError, match="elements for"):
        dist.all_gather_into_tensor(torch.zeros(3), torch.zeros(3))
    with pytest.raises(ValueError, match="elements, its place"):
        dist.all_gather([torch.zeros(2)] * size, torch.zeros(3))
    with pytest.raises(ValueError, match="not defined"):
        dist.all_reduce(torch.zeros(3), dist.ReduceOp.BAND)
    data = numbers(rank, 5)
    dist.all_reduce(data)
    equal(data, fold(operator.add, size, 5, torch.float32))


def sequence_numbers(rank: int, size: int) -> None:
    group = dist.new_group(list(range(size)))
    backend = group._get_backend(torch.device("cpu"))  # ProcessGroup itself answers for names that it knows only
    before = backend._get_sequence_number_for_group()
    dist.all_reduce(numbers(rank, 3), group=group)
    dist.barrier(group)
    assert backend._get_sequence_number_for_group() == before + 2


def from_any_source(rank: int, size: int) -> None:
    if rank == 0:
        seen = set()
        for _ in range(size - 1):
            got = torch.zeros(3)
            source = dist.recv(got)
            equal(got, numbers(source, 3))
            seen.add(source)
        assert seen == set(range(1, size))
    else:
        dist.send(numbers(rank, 3), 0)


def asked(rank: int, size: int) -> None:
    """What a Work says of itself."""
    data = numbers(rank, 10)
    work = dist.all_reduce(data, async_op=True)
    assert work is not None
    work.wait()
    assert work.is_completed()
    assert work.is_success()
    equal(work.result()[0], fold(operator.add, size, 10, torch.float32))


def _async_options() -> dist.AllreduceOptions:
    options = dist.AllreduceOptions()
    if hasattr(options, "asyncOp"):  # else nobody knows who will wait at once
        options.asyncOp = True
    return options


def _call_threads() -> int:
    """Threads in which groups of this process run their calls."""
    named = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    return named.count("ringtree-calls") + sum(thread.name == "ringtree-calls" for thread in threading.enumerate())


def dropped_in_a_callback(rank: int, size: int) -> None:
    """The last reference to a group goes in a callback of its own calls: what is queued is done, then it is left."""
    store = dist.PrefixStore("dropped", dist.distributed_c10d._get_default_store())
    dist.barrier()  # the default group's thread is there now, if it needs one
    before = _call_threads()
    held = [importlib.import_module("ringtree.torch").create(store, rank, size, timedelta(seconds=30))]
    first, second = numbers(rank, 4), numbers(rank, 5)
    if rank == 0:
        dropped_by: list[int] = []

        def drop(_: object) -> None:
            dropped_by.append(threading.get_ident())
            held.clear()

        works = [held[0].allreduce([data], _async_options()) for data in (first, second)]
        ended = works[0].get_future().then(drop)
        store.set("attached", "1")
        ended.wait()
        assert dropped_by != [threading.get_ident()], "the callback ran here, which shows nothing"
    else:
        store.wait(["attached"])
        works = [held[0].allreduce([data], _async_options()) for data in (first, second)]
    for work, data in zip(works, (first, second), strict=True):
        work.wait()
        equal(data, fold(operator.add, size, data.numel(), torch.float32))
    if rank != 0:
        with pytest.raises(dist.DistBackendError, match="rank 0"):
            held[0].allreduce([first], _async_options()).wait()
    dist.barrier()
    held.clear()
    end = time.monotonic() + 20
    while _call_threads() > before and time.monotonic() < end:
        os.sched_yield()
    assert _call_threads() <= before


def destroyed_in_a_callback(rank: int, size: int) -> None:
    """That is refused where the callback runs in the group's own thread, and the group is as before."""
    group = dist.new_group(list(range(size)))
    store = dist.PrefixStore("destroyed", dist.distributed_c10d._get_default_store())
    data = numbers(rank, 4)
    if rank == 0:
        work = dist.all_reduce(data, group=group, async_op=True)
        assert work is not None
        ended = work.get_future().then(lambda _: dist.destroy_process_group(group))
        store.set("attached", "1")
        with pytest.raises(RuntimeError, match="by a callback of its own calls"):
            ended.wait()
    else:
        store.wait(["attached"])
        dist.all_reduce(data, group=group)
    equal(data, fold(operator.add, size, 4, torch.float32))
    data = numbers(rank, 5)
    dist.all_reduce(data, group=group)
    equal(data, fold(operator.add, size, 5, torch.float32))
    dist.destroy_process_group(group)
