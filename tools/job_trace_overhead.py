"""What `ringtree trace` adds to a step of training: blocks of steps with the tracer and without, in random order.

    torchrun --nproc-per-node 2 tools/job_trace_overhead.py [ddp|fsdp2] [--pairs 100]
    torchrun --nproc-per-node 1 tools/job_trace_overhead.py calls [--pairs 20]
    torchrun --nproc-per-node 2 tools/job_trace_overhead.py ddp|fsdp2 --gpu [--pairs 5]

For: the figure on docs/training.md. Not for: what is recorded (tests/python/torch/test_torch_job_trace.py).

Each pair is two blocks of steps beside each other, one of them traced, which one comes first drawn anew; its ratio is
that of their times on rank 0, all steps together, so that timed steps count with their weight (of 20 steps 3 are timed;
in a long job one of ten). The interval is of the median of the ratios.

`calls`: what a collective costs the process in CPU time, of all its threads, which other people's load changes little:
all-reduces of 256 bytes in a group of one rank, 20 a step.

`--gpu`: a transformer on GPUs with NCCL, which ranks share where there are too few. Blocks are seconds long, as the
tracer records one step of many there, and begin after the first steps, in which the GPU's record is started for the
first time. What one recorded step adds is told as well, from the traces. Five pairs take about half a minute.
"""

from __future__ import annotations

import argparse
import functools
import os
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from ringtree.joblog import tracer
from ringtree.joblog.reading import read_trace
from ringtree.joblog.records import RankRecord
from ringtree.stats import median_interval

WIDTH, LAYERS, BATCH, STEPS = 512, 8, 64, 20
GPU_LAYERS, GPU_BATCH, GPU_BLOCK, FIRST_STEPS = 12, (16, 256, 512), 2.0, 3  # batch, tokens, width; seconds


def model(kind: str) -> Any:
    torch.manual_seed(0)
    net = nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)))
    if kind == "ddp":
        return DistributedDataParallel(net, bucket_cap_mb=0.5)
    for layer in net:
        fully_shard(layer)
    return fully_shard(net)


def block(net: Any, optimizer: torch.optim.Optimizer, folder: str | None) -> float:
    """Seconds of a step, mean over the block."""
    if folder is not None:
        tracer.install(folder)
    times = []
    for _ in range(STEPS):
        begin = time.perf_counter()
        net(torch.ones(BATCH, WIDTH)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        times.append(time.perf_counter() - begin)
    if folder is not None:
        tracer.stop()
    dist.barrier()
    return statistics.fmean(times)


class GpuTraining:
    """A transformer that is trained on this rank's GPU, which may be another's, too."""

    def __init__(self, kind: str) -> None:
        self.device = torch.device("cuda", dist.get_rank() % torch.cuda.device_count())
        torch.cuda.set_device(self.device)
        torch.manual_seed(0)
        make = functools.partial(nn.TransformerEncoderLayer, GPU_BATCH[-1], 16, dropout=0.0, batch_first=True)
        net: Any = nn.Sequential(*(make() for _ in range(GPU_LAYERS))).to(self.device)
        if kind == "fsdp2":
            for layer in net:
                fully_shard(layer)
            net = fully_shard(net)
        self._net = net if kind == "fsdp2" else DistributedDataParallel(net)
        self._optimizer = torch.optim.AdamW(self._net.parameters(), lr=1e-4)
        self._batch = torch.ones(GPU_BATCH, device=self.device)

    def steps(self, num: int) -> float:
        """Seconds that so many steps take on all ranks, until the GPU is done with them."""
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(num):
            with torch.autocast("cuda", torch.bfloat16):
                loss = self._net(self._batch).square().mean()
            loss.backward()
            self._optimizer.step()
            self._optimizer.zero_grad()
        torch.cuda.synchronize()
        return time.perf_counter() - begin


def gpu_blocks(kind: str, pairs: int) -> None:
    """Prints what tracing adds to a block of steps, and what one recorded step adds."""
    training = GpuTraining(kind)
    training.steps(10)
    a_step = torch.tensor([training.steps(10) / 10], device=training.device)
    dist.all_reduce(a_step, dist.ReduceOp.MAX)  # the same number of steps on all ranks
    num = max(10, round(GPU_BLOCK / a_step.item()))
    chooser = random.Random(1)
    ratios, plain, recorded = [], [], []
    for _ in range(pairs):
        traced_first = chooser.random() < 0.5
        times = {}
        for traced in (traced_first, not traced_first):
            with tempfile.TemporaryDirectory() as folder:
                if traced:
                    tracer.install(folder)
                training.steps(FIRST_STEPS)
                times[traced] = training.steps(num) / num
                if traced:
                    tracer.stop()
                    recorded += added_by_records(read_trace(Path(folder)).ranks[0])
        ratios.append(times[True] / times[False])
        plain.append(times[False])
    if dist.get_rank() == 0:
        name = f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}"
        print(f"{kind}: {statistics.median(plain) * 1e3:.2f} ms a step, {pairs} pairs of {num} steps, {name}")
        found = median_interval(ratios)
        print(f"traced / untraced: {found.median:.4f} ({found.low:.4f} to {found.high:.4f}, {found.label})")
        if not recorded:
            print("no step was recorded")
            return
        longer, beside = (statistics.median(of) * 1e3 for of in zip(*recorded, strict=True))
        print(
            f"{len(recorded)} steps recorded: {longer:.2f} ms longer than the others' median, and {beside:.2f} ms after"
        )


def added_by_records(rank: RankRecord) -> list[tuple[float, float]]:
    """Of each recorded step: by how much it is longer than others, and what lies between it and the next."""
    others = [line.end - line.begin for line in rank.steps if not line.timed and line.step >= FIRST_STEPS]
    usual = statistics.median(others)
    begins = {line.step: line.begin for line in rank.steps}
    return [
        (line.end - line.begin - usual, begins[line.step + 1] - line.end)
        for line in rank.steps
        if line.step in rank.device_steps and line.step + 1 in begins
    ]


def calls(rounds: int) -> None:
    """Prints CPU time a collective, untraced and by how many steps are timed: the rounds' least and median."""
    values, parameter = torch.ones(64), nn.Parameter(torch.ones(4))
    parameter.grad = torch.ones(4)
    optimizer = torch.optim.SGD([parameter], lr=0.0)

    def microseconds(time_every: int | None) -> float:
        with tempfile.TemporaryDirectory() as folder:
            if time_every is not None:
                tracer.install(folder, time_every=time_every)
            begin = time.process_time()
            for _ in range(10 * STEPS):
                under_way = [dist.all_reduce(values, async_op=True) for _ in range(STEPS)]
                for one in under_way:
                    one.wait()
                optimizer.step()
            used = time.process_time() - begin
            if time_every is not None:
                tracer.stop()
        return used / (10 * STEPS * STEPS) * 1e6

    ways = {"untraced": None, "one step of 10 timed": 10, "every step timed": 1}
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, time_every in ways.items():
            found[name].append(microseconds(time_every))
    for name, seen in found.items():
        print(f"{name}: {min(seen):.1f} µs of CPU a collective at least, {statistics.median(seen):.1f} in the median")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", nargs="?", choices=("ddp", "fsdp2", "calls"), default="ddp")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--gpu", action="store_true")
    asked = parser.parse_args()
    asked.pairs = asked.pairs or (5 if asked.gpu else 100)
    if asked.gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
        dist.init_process_group("nccl")
        gpu_blocks(asked.kind, asked.pairs)
        dist.destroy_process_group()
        return
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    if asked.kind == "calls":
        calls(asked.pairs)
        dist.destroy_process_group()
        return
    net = model(asked.kind)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    block(net, optimizer, None)
    chooser = random.Random(1)  # the same on all ranks
    ratios, plain = [], []
    for _ in range(asked.pairs):
        traced_first = chooser.random() < 0.5
        times = {}
        for traced in (traced_first, not traced_first):
            with tempfile.TemporaryDirectory() as folder:
                times[traced] = block(net, optimizer, folder if traced else None)
        ratios.append(times[True] / times[False])
        plain.append(times[False])
    if dist.get_rank() == 0:
        found = median_interval(ratios)
        load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
        print(f"{asked.kind}: {statistics.median(plain) * 1e3:.2f} ms a step, {asked.pairs} pairs of {STEPS} steps")
        print(f"traced / untraced: {found.median:.4f} ({found.low:.4f} to {found.high:.4f}, {found.label})")
        print(f"load averages {load} on {os.cpu_count()} cores")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
