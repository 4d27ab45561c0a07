"""What the ranks of test_torch_*.py do: each function runs on every rank of a group and asserts what it gets.

The reference of each is the obvious thing, computed by every rank by itself: data are a function of the rank, with
whole numbers so small that every sum is exact.
"""

from __future__ import annotations

import functools
import importlib
import operator
import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64]
FLOAT8 = [torch.float8_e4m3fn, torch.float8_e5m2]
COMPLEX = [torch.complex64, torch.complex128]
ALL = [*FLOATS, *INTEGERS, *FLOAT8, *COMPLEX, torch.bool]


def numbers(rank: int, count: int, dtype: torch.dtype = torch.float32, most: int = 5) -> torch.Tensor:
    """`count` whole numbers from 0 to `most` - 1 that differ from rank to rank."""
    found = (torch.arange(count, dtype=torch.int64) * (rank + 3) + rank) % most
    return found.to(dtype)


def equal(got: torch.Tensor, expected: torch.Tensor) -> None:
    assert got.dtype == expected.dtype, (got.dtype, expected.dtype)
    assert got.shape == expected.shape, (got.shape, expected.shape)
    same = got.contiguous().view(torch.uint8) if got.dtype in FLOAT8 else got
    other = expected.contiguous().view(torch.uint8) if expected.dtype in FLOAT8 else expected
    assert torch.equal(same.cpu(), other), (got.flatten()[:8], expected.flatten()[:8])


def fold(function: Callable[[object, object], object], size: int, count: int, dtype: torch.dtype) -> torch.Tensor:
    """The inputs of all ranks, folded as whole numbers (complex: as they are)."""
    wide = torch.complex128 if dtype.is_complex else torch.int64
    return functools.reduce(function, [numbers(r, count, wide) for r in range(size)]).to(dtype)  # type: ignore[arg-type]


def all_reduce(rank: int, size: int) -> None:
    """Every dtype with SUM; every op with the dtypes for which it means something."""
    for dtype in [*FLOATS, *INTEGERS, *FLOAT8, *COMPLEX]:
        for count in (0, 1, 7, 1000):
            data = numbers(rank, count, dtype)
            dist.all_reduce(data)
            equal(data, fold(operator.add, size, count, dtype))
    ops: list[tuple[dist.ReduceOp.RedOpType, Callable[..., object], list[torch.dtype]]] = [
        (dist.ReduceOp.PRODUCT, operator.mul, [*FLOATS, *INTEGERS]),
        (dist.ReduceOp.MIN, torch.minimum, [*FLOATS, *INTEGERS]),
        (dist.ReduceOp.MAX, torch.maximum, [*FLOATS, *INTEGERS]),
        (dist.ReduceOp.BAND, operator.and_, INTEGERS),
        (dist.ReduceOp.BOR, operator.or_, INTEGERS),
        (dist.ReduceOp.BXOR, operator.xor, INTEGERS),
    ]
    for op, function, dtypes in ops:
        for dtype in dtypes:
            data = numbers(rank, 33, dtype)
            dist.all_reduce(data, op)
            equal(data, fold(function, size, 33, dtype))


def averages(rank: int, size: int) -> None:
    for dtype in FLOATS:
        data = numbers(rank, 64, dtype) * size
        dist.all_reduce(data, dist.ReduceOp.AVG)
        equal(data, fold(operator.add, size, 64, dtype))
        op = dist._make_nccl_premul_sum(0.5)
        data = numbers(rank, 64, dtype) * 2
        dist.all_reduce(data, op)
        equal(data, fold(operator.add, size, 64, dtype))
    data = numbers(rank, 8)
    dist.all_reduce(data, dist._make_nccl_premul_sum(torch.tensor([2.0])))
    equal(data, fold(operator.add, size, 8, torch.float32) * 2)


def odd_layouts(rank: int, size: int) -> None:
    """Tensors whose elements do not lie side by side, in every role."""
    base = numbers(rank, 24).view(4, 6)
    expected = fold(operator.add, size, 24, torch.float32).view(4, 6)
    for view in (lambda t: t.t(), lambda t: t[:, ::2], lambda t: t[1:3, 1:4], lambda t: t[2:2]):
        whole = base.clone()
        dist.all_reduce(view(whole))
        equal(view(whole), view(expected))
    whole = base.clone()
    dist.all_reduce(whole[:, 1])
    equal(whole[:, 0], base[:, 0])  # and nothing beside it
    image = numbers(rank, 48).view(1, 3, 4, 4).to(memory_format=torch.channels_last)
    dist.all_reduce(image)
    equal(image, fold(operator.add, size, 48, torch.float32).view(1, 3, 4, 4))
    whole = numbers(1, 24).view(4, 6).t().contiguous().t() if rank == 1 else torch.zeros(4, 6)
    dist.broadcast(whole, 1)
    equal(whole, numbers(1, 24).view(4, 6))
    output = torch.zeros(6, size * 4).t()
    dist.all_gather_into_tensor(output, base.t().contiguous().t())
    equal(output, torch.cat([numbers(r, 24).view(4, 6) for r in range(size)]))
    with torch.inference_mode():
        data = numbers(rank, 4)
        dist.all_reduce(data)
        equal(data, fold(operator.add, size, 4, torch.float32))
    weight = torch.nn.Parameter(numbers(rank, 6).view(2, 3))
    dist.all_reduce(weight)
    equal(weight.detach(), fold(operator.add, size, 6, torch.float32).view(2, 3))
    column = torch.nn.Parameter(numbers(rank, 6).view(2, 3))
    with torch.no_grad():
        dist.all_reduce(column.t())
    equal(column.detach(), fold(operator.add, size, 6, torch.float32).view(2, 3))


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


def all_gather(rank: int, size: int) -> None:
    for dtype in ALL:
        outputs = [torch.zeros(5, dtype=dtype) for _ in range(size)]
        dist.all_gather(outputs, numbers(rank, 5, dtype))
        for r, got in enumerate(outputs):
            equal(got, numbers(r, 5, dtype))
        whole = torch.zeros(5 * size, dtype=dtype)
        dist.all_gather_into_tensor(whole, numbers(rank, 5, dtype))
        equal(whole, torch.cat([numbers(r, 5, dtype) for r in range(size)]))
    whole = torch.zeros(size, 5)
    dist.all_gather(list(whole.unbind()), numbers(rank, 5))  # side by side already
    equal(whole, torch.stack([numbers(r, 5) for r in range(size)]))
    whole = torch.zeros(size * 4)
    own = whole.narrow(0, rank * 4, 4).copy_(numbers(rank, 4))
    dist.all_gather_into_tensor(whole, own)  # in place
    equal(whole, torch.cat([numbers(r, 4) for r in range(size)]))
    uneven = [torch.zeros(2 * r) for r in range(size)]
    dist.all_gather(uneven, numbers(rank, 2 * rank))
    for r, got in enumerate(uneven):
        equal(got, numbers(r, 2 * r))
    objects: list[object] = [None] * size
    dist.all_gather_object(objects, {"rank": rank, "text": "x" * (100 * rank)})
    assert objects == [{"rank": r, "text": "x" * (100 * r)} for r in range(size)]
    lists = [[torch.zeros(3), torch.zeros(2, dtype=torch.int64)] for _ in range(size)]
    group = dist.distributed_c10d._get_default_group()
    group.allgather_coalesced(lists, [numbers(rank, 3), numbers(rank, 2, torch.int64)]).wait()
    for r, (first, second) in enumerate(lists):
        equal(first, numbers(r, 3))
        equal(second, numbers(r, 2, torch.int64))
    with dist._coalescing_manager() as _:
        a, b = torch.zeros(3 * size), torch.zeros(2 * size)
        dist.all_gather_into_tensor(a, numbers(rank, 3))
        dist.all_gather_into_tensor(b, numbers(rank, 2))
    equal(a, torch.cat([numbers(r, 3) for r in range(size)]))
    equal(b, torch.cat([numbers(r, 2) for r in range(size)]))


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


def default_backends(rank: int, size: int) -> None:
    """That ringtree is installed changes nothing for groups of others."""
    plugins = dist.Backend._plugins
    assert "RINGTREE" in plugins
    group = dist.new_group(list(range(size)), backend="cpu:gloo")
    assert group._get_sequence_number_for_group() >= 0


def objects(rank: int, size: int) -> None:
    mine = [f"from {rank}", rank] if rank == 1 else [None, None]
    dist.broadcast_object_list(mine, src=1)
    assert mine == ["from 1", 1]
    gathered: list[object] | None = [None] * size if rank == 0 else None
    dist.gather_object(("x", rank), gathered, dst=0)
    assert gathered == ([("x", r) for r in range(size)] if rank == 0 else None)
    output: list[object] = [None]
    dist.scatter_object_list(output, [f"for {r}" for r in range(size)] if rank == 0 else None, src=0)
    assert output == [f"for {rank}"]
    if rank == 0:
        dist.send_object_list([1, "two"], dst=1)
    elif rank == 1:
        received: list[object] = [None, None]
        dist.recv_object_list(received, src=0)
        assert received == [1, "two"]


def reduce_scatter(rank: int, size: int) -> None:
    def block(of: int, r: int, count: int) -> torch.Tensor:
        return numbers(of * 7 + r, count)

    def expected(r: int, count: int) -> torch.Tensor:
        return sum(block(of, r, count) for of in range(size))  # type: ignore[return-value]

    output = torch.zeros(6)
    dist.reduce_scatter(output, [block(rank, r, 6) for r in range(size)])
    equal(output, expected(rank, 6))
    output = torch.zeros(rank + 1)
    dist.reduce_scatter(output, [block(rank, r, r + 1) for r in range(size)])
    equal(output, expected(rank, rank + 1))
    output = torch.zeros(6)
    dist.reduce_scatter_tensor(output, torch.cat([block(rank, r, 6) for r in range(size)]))
    equal(output, expected(rank, 6))
    for dtype in FLOATS:
        output = torch.zeros(4, dtype=dtype)
        whole = torch.cat([block(rank, r, 4) * size for r in range(size)]).to(dtype)
        dist.reduce_scatter_tensor(output, whole, op=dist.ReduceOp.AVG)
        equal(output, expected(rank, 4).to(dtype))
    with dist._coalescing_manager() as _:
        a, b = torch.zeros(6), torch.zeros(3)
        dist.reduce_scatter_tensor(a, torch.cat([block(rank, r, 6) for r in range(size)]))
        dist.reduce_scatter_tensor(b, torch.cat([block(rank, r, 3) for r in range(size)]))
    equal(a, expected(rank, 6))
    equal(b, expected(rank, 3))


def coalesced(rank: int, size: int) -> None:
    for count in (10, 100_000):  # packed, and one after the other
        tensors = [numbers(rank, count), numbers(rank + 1, 2 * count).view(2, count).t(), numbers(rank, 0)]
        dist.all_reduce_coalesced(tensors)
        equal(tensors[0], fold(operator.add, size, count, torch.float32))
        total = sum(numbers(r + 1, 2 * count) for r in range(size))
        equal(tensors[1], total.view(2, count).t())  # type: ignore[union-attr]
    with dist._coalescing_manager() as _:
        a, b = numbers(rank, 5), numbers(rank, 6)
        dist.all_reduce(a)
        dist.all_reduce(b)
    equal(a, fold(operator.add, size, 5, torch.float32))
    equal(b, fold(operator.add, size, 6, torch.float32))


def all_to_all(rank: int, size: int) -> None:
    def block(source: int, to: int, count: int) -> torch.Tensor:
        return numbers(source * 11 + to, count)

    output = torch.zeros(size * 3)
    dist.all_to_all_single(output, torch.cat([block(rank, to, 3) for to in range(size)]))
    equal(output, torch.cat([block(source, rank, 3) for source in range(size)]))
    explicit = [3] * size if rank == 0 else None  # what the others leave to the default
    output = torch.zeros(size * 3)
    dist.all_to_all_single(output, torch.cat([block(rank, to, 3) for to in range(size)]), explicit, explicit)
    equal(output, torch.cat([block(source, rank, 3) for source in range(size)]))
    sent = [rank + to for to in range(size)]  # and as many come back
    output = torch.zeros(sum(sent), 2)
    rows = torch.cat([block(rank, to, 2 * sent[to]) for to in range(size)]).view(-1, 2)
    dist.all_to_all_single(output, rows, sent, sent)
    equal(output, torch.cat([block(source, rank, 2 * (rank + source)) for source in range(size)]).view(-1, 2))
    outputs = [torch.zeros(rank + source + 1) for source in range(size)]
    dist.all_to_all(outputs, [block(rank, to, rank + to + 1) for to in range(size)])
    for source, got in enumerate(outputs):
        equal(got, block(source, rank, rank + source + 1))


def sparse(rank: int, size: int) -> None:
    def part(r: int) -> torch.Tensor:
        indices = torch.tensor([[r, r + 1, r], [0, 2, 0]])  # one place twice
        return torch.sparse_coo_tensor(indices, torch.ones(3, 2) * (r + 1), (size + 1, 3, 2))

    mine = part(rank)
    dist.all_reduce(mine)
    equal(mine.to_dense(), sum(part(r).to_dense() for r in range(size)))  # type: ignore[arg-type]
    empty = torch.sparse_coo_tensor(torch.zeros(1, 0, dtype=torch.int64), torch.zeros(0), (4,))
    dist.all_reduce(empty)
    equal(empty.to_dense(), torch.zeros(4))


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


def gather_single(rank: int, size: int) -> None:
    """Of PyTorch 2.14 and newer."""
    for root in range(size):
        gathered = torch.zeros(2, size * 3).t() if rank == root else None  # does not lie side by side
        dist.gather_single(numbers(rank, 6).view(3, 2), gathered, dst=root)
        if gathered is not None:
            equal(gathered, torch.cat([numbers(r, 6).view(3, 2) for r in range(size)]))


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
