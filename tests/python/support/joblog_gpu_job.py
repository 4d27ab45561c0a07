"""A job on GPUs for test_joblog_on_gpu.py, started by torchrun: `joblog_gpu_job.py ddp|fsdp2|mixed FOLDER`.

For: steps of a training, of which PROFILED are under a profiler of the job's own, whose file lands in FOLDER. Ranks
share a GPU where there are fewer than ranks. Not for: times that say anything of a real job.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile

NUM_STEPS, PROFILED = 12, (8, 9)
WIDTH, LAYERS, BATCH = 1024, 6, 256


def training(kind: str, device: torch.device) -> Callable[[], None]:
    torch.manual_seed(0)
    net: nn.Module = nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))).to(device)
    if kind == "ddp":
        net = DistributedDataParallel(net, bucket_cap_mb=8)
    else:
        for layer in net.children():
            fully_shard(layer)
        net = fully_shard(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    batch = torch.ones(BATCH, WIDTH, device=device)

    def step() -> None:
        net(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def mixed(device: torch.device) -> Callable[[], None]:
    """Calls of all kinds in two groups, and sends that share a kernel."""
    from ringtree.joblog import tracer

    rank, size = dist.get_rank(), dist.get_world_size()
    other = dist.new_group(list(range(size)))
    blocks = [torch.ones(1 << 16, device=device) for _ in range(size)]
    whole = torch.ones(size << 16, device=device)

    def step() -> None:
        dist.all_reduce(whole, async_op=True).wait()
        dist.all_reduce(whole, group=other)
        dist.broadcast(blocks[0], 0)
        dist.reduce(blocks[0], 0)
        dist.all_gather(blocks, blocks[rank].clone())
        dist.all_to_all_single(whole, whole.clone())
        dist.gather(blocks[0], blocks if rank == 0 else None, 0)
        dist.scatter(blocks[0], blocks if rank == 0 else None, 0)
        after, before = (rank + 1) % size, (rank - 1) % size
        given, got = blocks[0], torch.empty_like(blocks[0])
        pair = [dist.P2POp(dist.isend, given, after), dist.P2POp(dist.irecv, got, before)]
        for work in dist.batch_isend_irecv(pair):
            work.wait()
        dist.barrier()
        tracer.mark_step()

    return step


def main(kind: str, folder: str) -> None:
    rank = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    step = mixed(device) if kind == "mixed" else training(kind, device)
    own = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True)
    for number in range(NUM_STEPS):
        if number == PROFILED[0]:
            own.start()
        step()
        if number == PROFILED[-1]:
            own.stop()
            own.export_chrome_trace(str(Path(folder) / f"profile-{rank}.json"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
