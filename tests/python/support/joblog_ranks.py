"""Trainings of test_torch_job_trace.py, each run on every rank with the tracer and PyTorch's profiler at once.

For: what the profiler says that a rank called, beside what the tracer recorded. Not for: trainings' losses
(torch_training.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch_training
from torch import nn
from torch.distributed._functional_collectives import all_to_all_single_autograd
from torch.profiler import ProfilerActivity, profile

from ringtree.joblog import tracer

TOKENS, WIDTH = 6, 16  # a rank's tokens, half for each of two experts


def expert(rank: int, size: int) -> list[float]:
    """Tokens go to the rank that has their expert and back; their gradients as well. The router is not divided."""
    torch.manual_seed(rank)
    mine = nn.Linear(WIDTH, WIDTH)
    optimizer = torch.optim.SGD(mine.parameters(), lr=0.1)
    for _ in range(torch_training.STEPS):
        tokens = torch.randn(TOKENS, WIDTH, requires_grad=True)
        there = all_to_all_single_autograd(tokens, None, None, dist.group.WORLD)
        back = all_to_all_single_autograd(mine(there), None, None, dist.group.WORLD)
        back.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return []


TRAININGS = {"ddp": torch_training.ddp, "fsdp2": torch_training.fsdp2, "expert": expert}


def traced_and_profiled(rank: int, size: int, folder: str) -> None:
    """Writes, for each training, `folder`/<name>/rank-….jsonl and `folder`/<name>/profile-<rank>.json."""
    for name, training in TRAININGS.items():
        own = Path(folder) / name
        own.mkdir(exist_ok=True)
        dist.barrier()
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
            tracer.install(own, time_every=1)
            training(rank, size)
            tracer.stop()
        profiler.export_chrome_trace(str(own / f"profile-{rank}.json"))


def nowhere_to_write(rank: int, size: int, folder: str) -> float:
    """A job whose trace can't be written; returns what its all-reduce gives."""
    tracer.install(Path(folder) / "missing")
    x = torch.ones(1)
    dist.all_reduce(x)
    tracer.mark_step()
    dist.all_reduce(x)
    tracer.stop()
    return float(x)


def all_operators(rank: int, size: int, folder: str) -> dict[str, Any]:
    """One call of each kind that Gloo has, some asynchronous or in inference mode; what the tracer must say of them."""
    own = Path(folder) / "operators"
    own.mkdir(exist_ok=True)
    dist.barrier()
    pair = dist.new_group([0, 1])
    tracer.install(own)
    x = torch.ones(10, dtype=torch.float64)
    dist.all_reduce(x, async_op=True).wait()
    with torch.inference_mode():
        dist.all_reduce(torch.ones(3), group=pair)
    dist.broadcast(x, 0)
    dist.reduce(x, 1)
    dist.all_gather([torch.empty(10, dtype=torch.float64) for _ in range(size)], x)
    dist.reduce_scatter_tensor(torch.empty(4), torch.ones(4 * size))
    dist.gather(torch.ones(5), [torch.empty(5) for _ in range(size)] if rank == 0 else None)
    dist.scatter(torch.empty(7), [torch.ones(7) for _ in range(size)] if rank == 0 else None)
    dist.barrier()
    if rank == 0:
        dist.send(torch.ones(9, dtype=torch.int16), 1)
    else:
        dist.recv(torch.empty(9, dtype=torch.int16), 0)
    tracer.mark_step()
    dist.monitored_barrier()
    tracer.stop()
    dist.all_reduce(x)  # not recorded any more
    return {"pair": pair.group_name}
