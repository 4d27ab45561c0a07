"""What DDP does with buckets in shared memory; each function runs on every rank.

For: test_torch_buckets.py. The gradients are whole multiples of the number of ranks, so that every mean is exact.
Not for: ranks that die (torch_faulty.py).
"""

from __future__ import annotations

import gc
import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch_data import numbers

SWITCH = "DDP_DISABLE_COMM_MEM"  # PyTorch's, read whenever buckets are made; "1" unless set
LARGE, SMALL = 300_000, 1_000  # elements of a parameter: buckets of a megabyte, and such as are too small to share


class Dots(nn.Module):
    """The gradient of each parameter is what it is multiplied by."""

    def __init__(self, lengths: list[int], dtypes: list[torch.dtype]) -> None:
        super().__init__()
        self.parts = nn.ParameterList(
            nn.Parameter(torch.zeros(n, dtype=dtype)) for n, dtype in zip(lengths, dtypes, strict=True)
        )

    def forward(self, factors: list[torch.Tensor | None]) -> torch.Tensor:
        dots = [(p * x).sum().double() for p, x in zip(self.parts, factors, strict=True) if x is not None]
        return torch.stack(dots).sum()


LENGTHS = [LARGE, SMALL, 2 * LARGE + 1, LARGE]
DTYPES = [torch.float32, torch.float32, torch.float64, torch.float32]
STEPS = 5


def factors_of(rank: int, step: int, unused: bool) -> list[torch.Tensor | None]:
    found: list[torch.Tensor | None] = [
        numbers(rank + step + i, n, dtype) * dist.get_world_size()
        for i, (n, dtype) in enumerate(zip(LENGTHS, DTYPES, strict=True))
    ]
    if unused:
        found[step % len(found)] = None
    return found


def gradients(rank: int, size: int, backend: str, options: dict[str, bool], disabled: bool) -> list[list[torch.Tensor]]:
    """Of each step, by DDP in a group of `backend`; None of what no rank used becomes zeros."""
    group = dist.new_group(backend=backend)
    with switched(disabled):
        net = DistributedDataParallel(Dots(LENGTHS, DTYPES), process_group=group, bucket_cap_mb=1.0, **options)
        found = []
        for step in range(STEPS):
            net(factors_of(rank, step, options.get("find_unused_parameters", False))).backward()
            found.append([torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in net.parameters()])
            net.zero_grad(set_to_none=step % 2 == 0)
    del net
    dist.destroy_process_group(group)
    return found


def same_gradients(rank: int, size: int, options: dict[str, bool]) -> int:
    """Checks them against Gloo's and, where all parameters are used, against the mean by hand; returns how many."""
    ours = gradients(rank, size, "ringtree", options, disabled=False)
    apart = gradients(rank, size, "ringtree", options, disabled=True)
    gloo = gradients(rank, size, "gloo", options, disabled=False)
    checked = 0
    for step in range(STEPS):
        for i in range(len(LENGTHS)):
            assert torch.equal(ours[step][i], gloo[step][i]), (step, i)
            assert torch.equal(ours[step][i], apart[step][i]), (step, i)
            if not options.get("find_unused_parameters"):
                held = [factors_of(r, step, False)[i] for r in range(size)]
                mean = sum(x / size for x in held if x is not None)
                assert torch.equal(ours[step][i], mean), (step, i)
            checked += 1
    return checked


def where_buckets_are(rank: int, size: int, disabled: bool) -> list[tuple[int, bool]]:
    """Of each bucket of the last step, its bytes and whether it lies in memory that other ranks can map."""
    seen: list[tuple[int, bool]] = []

    def hook(_: object, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        data = bucket.buffer()
        seen.append((data.nbytes, is_shared(data)))
        work = dist.all_reduce(data, async_op=True)
        assert work is not None
        return work.get_future().then(lambda future: future.value()[0])

    hook.__annotations__.clear()  # DDP refuses those that are text
    with switched(disabled):
        net = DistributedDataParallel(Dots(LENGTHS, DTYPES), bucket_cap_mb=1.0)
        net.register_comm_hook(None, hook)
        for step in range(3):  # the second one has other buckets
            seen.clear()
            net(factors_of(rank, step, False)).backward()
    return seen


def outlive_their_group(rank: int, size: int) -> tuple[bool, bool]:
    """Whether gradients in buckets are right when group and net are gone, and whether all memory is given back."""
    group = dist.new_group()
    with switched(False):
        net = DistributedDataParallel(Dots([LARGE], [torch.float32]), process_group=group, gradient_as_bucket_view=True)
        for _ in range(2):
            net.zero_grad()
            net([numbers(rank, LARGE)]).backward()
    kept = next(iter(net.parameters())).grad
    assert kept is not None
    was_shared = is_shared(kept)
    dist.destroy_process_group(group)
    del net, group
    gc.collect()
    mean = sum(numbers(r, LARGE) / size for r in range(size))
    assert was_shared, "no shared bucket"
    right = torch.equal(kept, mean)
    assert right, (kept[:5], mean[:5])
    kept.fill_(rank)
    dist.barrier()
    right = right and bool((kept == rank).all())
    address = kept.data_ptr()
    del kept
    gc.collect()
    return right, shared_mapping(address) is None


def without_descriptors(rank: int, size: int) -> tuple[int, bool]:
    """How many warnings there are of allocations where none is possible, and whether DDP works all the same."""
    factors: list[torch.Tensor | None] = [numbers(rank, LARGE)] * 3

    def trained() -> DistributedDataParallel:
        net = DistributedDataParallel(Dots([LARGE] * 3, [torch.float32] * 3), bucket_cap_mb=1.0)
        net(factors).backward()
        return net

    with switched(True):
        trained()  # imports what it needs, and the ranks open the links that they then have
    dist.barrier()
    with switched(False), standard_error() as told, no_descriptors():
        net = trained()
    mean = sum(numbers(r, LARGE) / size for r in range(size))
    right = all(p.grad is not None and torch.equal(p.grad, mean) for p in net.parameters())
    dist.barrier()
    return "".join(told).count("lies in ordinary memory"), right


@contextmanager
def standard_error() -> Iterator[list[str]]:
    """What C++ and Python write there, when the block has ended."""
    written: list[str] = []
    kept = os.dup(2)
    with tempfile.TemporaryFile("w+") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield written
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            written.append(file.read())
            os.write(2, written[0].encode())


@contextmanager
def no_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = [os.open(os.devnull, os.O_RDONLY)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (held[0] + 1, hard))
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))  # below the limit there may be gaps
    except OSError:
        pass
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for one in held:
            os.close(one)


@contextmanager
def switched(disabled: bool) -> Iterator[None]:
    os.environ[SWITCH] = str(int(disabled))
    try:
        yield
    finally:
        del os.environ[SWITCH]


def is_shared(tensor: torch.Tensor) -> bool:
    return shared_mapping(tensor.data_ptr()) is not None


def shared_mapping(address: int) -> str | None:
    """The line of /proc/self/maps that holds the address, if it is memory of ringtree's that others can map."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(word, 16) for word in line.split()[0].split("-"))
        if begin <= address < end:
            return line if "memfd:ringtree" in line else None
    return None
