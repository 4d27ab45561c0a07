"""What the memory of DDP's buckets is worth: steps with shared buckets, ordinary ones, Gloo, and no communication.

    torchrun --nproc-per-node 2 tools/bucket_memory.py [--rounds 30] [--seed 1]

For: whether docs/decisions/0032 pays in a training. Not for: what a backend costs a training (make bench-torch), whose
exposed communication this is, too: what a step takes longer than the same step without any, in the same round.

All arms train in the same processes, each its own copy of the net, one step a round, in an order drawn anew for each
round; a rank stays on one core. A round's time is the mean over ranks. Intervals are over rounds.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import nn
from torch._C._distributed_c10d import GradBucket
from torch.nn.parallel import DistributedDataParallel

from ringtree.stats import median_interval

WIDTH, LAYERS, BATCH = 2048, 6, 32  # 25 M parameters, beside little to compute
NONE, GLOO, ORDINARY, SHARED = ARMS = ("none", "gloo", "ordinary", "shared")


def no_communication(_: object, bucket: GradBucket) -> torch.futures.Future[torch.Tensor]:
    done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


no_communication.__annotations__.clear()  # DDP refuses those that are text


def make(arm: str) -> DistributedDataParallel:
    torch.manual_seed(0)
    net = nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)))
    os.environ["DDP_DISABLE_COMM_MEM"] = str(int(arm != SHARED))
    made = DistributedDataParallel(net, process_group=dist.new_group(backend="gloo" if arm == GLOO else "ringtree"))
    if arm == NONE:
        made.register_comm_hook(None, no_communication)
    for _ in range(3):  # buckets are made anew after the first step, also from this switch
        step(made)
    return made


def step(net: DistributedDataParallel) -> float:
    """Seconds on this rank."""
    dist.barrier()
    begin = time.perf_counter()
    net(torch.ones(BATCH, WIDTH)).square().mean().backward()
    with torch.no_grad():
        for parameter in net.parameters():
            assert parameter.grad is not None
            parameter.sub_(parameter.grad, alpha=1e-3)
    net.zero_grad()
    return time.perf_counter() - begin


def told(values: Sequence[float], scale: float = 1e3) -> str:
    found = median_interval(values)
    return f"{found.median * scale:.2f} ({found.low * scale:.2f} to {found.high * scale:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    dist.init_process_group("ringtree")
    rank, size = dist.get_rank(), dist.get_world_size()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    torch.set_num_threads(1)
    nets = {arm: make(arm) for arm in ARMS}
    chooser = random.Random(asked.seed)  # the same on all ranks
    rounds: list[dict[str, float]] = []
    for _ in range(asked.rounds):
        order = list(ARMS)
        chooser.shuffle(order)
        mine = torch.tensor([step(nets[arm]) for arm in order])
        dist.all_reduce(mine)
        rounds.append({arm: float(seconds) / size for arm, seconds in zip(order, mine, strict=True)})
    if rank == 0:
        print(f"{size} ranks, {asked.rounds} rounds, PyTorch {torch.__version__}; ms, medians with intervals")
        for arm in ARMS:
            exposed = "" if arm == NONE else f", exposed {told([one[arm] - one[NONE] for one in rounds])}"
            print(f"{arm}: step {told([one[arm] for one in rounds])}{exposed}")
        print(f"shared - ordinary: {told([one[SHARED] - one[ORDINARY] for one in rounds])}")
        gloo = statistics.median(one[GLOO] - one[NONE] for one in rounds)
        for arm in (ORDINARY, SHARED):
            exposed_s = statistics.median(one[arm] - one[NONE] for one in rounds)
            print(f"exposed, {arm} over gloo: {exposed_s / gloo:.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
