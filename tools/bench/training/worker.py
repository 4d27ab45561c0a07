"""One rank of a launch: a transformer of 25 million parameters, trained by several arms in turn.

For: times of steps, slowest rank each, written by rank 0. Not for: whether the losses are right (tests do that).
"""

from __future__ import annotations

import functools
import json
import os
import random
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # PyTorch is imported once the core is chosen
    import torch

BACKENDS = ("ringtree", "gloo")
ALONE = "fake"  # PyTorch's backend that moves nothing: the same step, with all that DDP and FSDP2 do but communicate
CALLS = 50  # of the small all_reduce, in a batch
SMALL_BYTES = (8, 1024, 65536)
BATCH, TOKENS, WIDTH, LAYERS, VOCABULARY = 2, 32, 512, 7, 3000


def run(rank: int, size: int, folder: str, seed: int, rounds: int) -> None:
    """Times every arm `rounds` times; rank 0 leaves the times in `folder`/times.json."""
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpus[rank % len(cpus)]})
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    store = f"file://{folder}/store"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=size, timeout=timedelta(minutes=5))
    import torch.testing._internal.distributed.fake_pg  # makes the name `fake` known

    groups = {backend: dist.new_group(backend=backend) for backend in (*BACKENDS, ALONE)}
    arms = {**_steps(groups), **_calls(groups)}
    times: dict[str, list[float]] = {name: [] for name in arms}
    order = random.Random(seed)  # the same on all ranks
    for arm in arms.values():  # the first step makes buckets, buffers, plans
        arm()
        arm()
    for _ in range(rounds):
        names = list(arms)
        order.shuffle(names)
        for name in names:
            dist.barrier()
            begin = time.perf_counter()
            arms[name]()
            slowest = torch.tensor([time.perf_counter() - begin], dtype=torch.float64)
            dist.all_reduce(slowest, dist.ReduceOp.MAX)
            times[name].append(slowest.item())
    if rank == 0:
        Path(folder, "times.json").write_text(json.dumps(times))
    dist.destroy_process_group()


def _steps(groups: dict[str, object]) -> dict[str, Callable[[], None]]:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.fsdp import fully_shard
    from torch.nn.parallel import DistributedDataParallel

    found: dict[str, Callable[[], None]] = {"local": _step(model())}
    for backend, group in groups.items():
        ddp = DistributedDataParallel(model(), process_group=group)
        if backend == ALONE:
            ddp.register_comm_hook(None, _no_communication)  # what `fake` returns DDP does not take
        found[f"ddp {backend}"] = _step(ddp)
        net = model()
        mesh = DeviceMesh.from_group(group, "cpu")  # type: ignore[arg-type]
        for layer in net.layers:  # type: ignore[union-attr]
            fully_shard(layer, mesh=mesh)
        fully_shard(net, mesh=mesh)
        found[f"fsdp2 {backend}"] = _step(net)
    return found


def _no_communication(_, bucket):  # type: ignore[no-untyped-def] # DDP reads annotations, and wants its own
    import torch

    done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def _calls(groups: dict[str, object]) -> dict[str, Callable[[], None]]:
    import torch
    import torch.distributed as dist

    def batch(data: torch.Tensor, group: object) -> None:
        for _ in range(CALLS):
            dist.all_reduce(data, group=group)

    return {
        f"all_reduce {size} {backend}": functools.partial(batch, torch.zeros(size // 4), group)
        for size in SMALL_BYTES
        for backend, group in groups.items()
        if backend != ALONE
    }


def model() -> torch.nn.Module:
    """Returns the transformer, the same on every rank."""
    import torch
    from torch import nn

    class Transformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.embedding = nn.Embedding(VOCABULARY, WIDTH)
            self.layers = nn.ModuleList(
                nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, dropout=0.0, batch_first=True) for _ in range(LAYERS)
            )
            self.head = nn.Linear(WIDTH, VOCABULARY)

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            x = self.embedding(tokens)
            for layer in self.layers:
                x = layer(x)
            return self.head(x)  # type: ignore[no-any-return]

    return Transformer()


def _step(net: torch.nn.Module) -> Callable[[], None]:
    import torch

    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    tokens = torch.randint(0, VOCABULARY, (BATCH, TOKENS), generator=torch.Generator().manual_seed(1))

    def step() -> None:
        logits = net(tokens)
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()

    return step
