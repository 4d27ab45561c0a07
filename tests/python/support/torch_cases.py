"""What the ranks of test_torch_backend.py do, collectives: each function runs on every rank and asserts what it gets.

For: each collective's results, for every element type and layout. Not for: messages, groups, work and its callbacks
(torch_cases_of_groups.py).

The reference of each is the obvious thing, computed by every rank by itself (torch_data.py).
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch_data import ALL, COMPLEX, FLOAT8, FLOATS, INTEGERS, equal, fold, numbers


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


def odd_results(rank: int, size: int) -> None:
    """What each collective writes into elements that do not lie side by side, and nothing between them."""

    def strided(rows: int = 4, filled_with: torch.Tensor | None = None) -> torch.Tensor:
        view = torch.full((rows, 12), -1.0)[:, ::2]
        return view if filled_with is None else view.copy_(filled_with)

    def holds(got: torch.Tensor, expected: torch.Tensor) -> None:
        equal(got, expected)
        assert got._base is not None
        equal(got._base[:, 1::2], torch.full(got.shape, -1.0))

    def block(of: int, to: int = 0) -> torch.Tensor:
        return numbers(of * 7 + to, 24).view(4, 6)

    every = [block(r) for r in range(size)]
    to_me = [block(of, rank) for of in range(size)]
    from_me = [block(rank, to) for to in range(size)]
    total = fold_of(to_me)
    for root in range(size):
        got = strided(filled_with=block(root) if rank == root else None)
        dist.broadcast(got, root)
        holds(got, block(root))
        got = strided(filled_with=block(rank))
        dist.reduce(got, root)
        holds(got, fold_of(every) if rank == root else block(rank))
        many = [strided() for _ in range(size)] if rank == root else None
        dist.gather(block(rank), many, dst=root)
        for one, expected in zip(many or [], every, strict=rank == root):
            holds(one, expected)
        got = strided()
        dist.scatter(got, from_me if rank == root else None, src=root)
        holds(got, block(root, rank))
    many = [strided() for _ in range(size)]
    dist.all_gather(many, block(rank))
    for one, expected in zip(many, every, strict=True):
        holds(one, expected)
    got = strided(4 * size)
    dist.all_gather_into_tensor(got, block(rank))
    holds(got, torch.cat(every))
    got = strided()
    dist.reduce_scatter(got, from_me)
    holds(got, total)
    got = strided()
    dist.reduce_scatter_tensor(got, torch.cat(from_me))
    holds(got, total)
    got = strided(4 * size)
    dist.all_to_all_single(got, torch.cat(from_me))
    holds(got, torch.cat(to_me))
    many = [strided() for _ in range(size)]
    dist.all_to_all(many, from_me)
    for one, expected in zip(many, to_me, strict=True):
        holds(one, expected)
    many = [strided(filled_with=block(rank)) for _ in range(2)]
    dist.all_reduce_coalesced(many)
    for one in many:
        holds(one, fold_of(every))


def fold_of(parts: list[torch.Tensor]) -> torch.Tensor:
    return torch.stack(parts).sum(0)


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


def gather_single(rank: int, size: int) -> None:
    """Of PyTorch 2.14 and newer."""
    for root in range(size):
        gathered = torch.zeros(2, size * 3).t() if rank == root else None  # does not lie side by side
        dist.gather_single(numbers(rank, 6).view(3, 2), gathered, dst=root)
        if gathered is not None:
            equal(gathered, torch.cat([numbers(r, 6).view(3, 2) for r in range(size)]))
