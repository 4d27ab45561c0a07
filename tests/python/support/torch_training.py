"""Small trainings for test_torch_training.py: each runs on every rank and returns the losses of its steps.

The same seed gives the same data and weights, so that two backends may be compared by what they make of them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

STEPS = 4


def model(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 4))


def batch(rank: int, step: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1000 * step + rank)
    return torch.randn(8, 16, generator=generator), torch.randn(8, 4, generator=generator)


def train(net: nn.Module, rank: int, optimizer: torch.optim.Optimizer) -> list[float]:
    """The losses, averaged over ranks."""
    losses = []
    for step in range(STEPS):
        x, y = batch(rank, step)
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total = loss.detach().clone()
        dist.all_reduce(total)
        losses.append(total.item() / dist.get_world_size())
    return losses


def sgd(net: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)


def ddp(rank: int, size: int) -> list[float]:
    net = DistributedDataParallel(model(), bucket_cap_mb=0.001)  # many buckets
    return train(net, rank, sgd(net))


def ddp_unused(rank: int, size: int) -> list[float]:
    class Half(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net, self.unused = model(), nn.Linear(3, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.net(x)  # type: ignore[no-any-return]

    net = DistributedDataParallel(Half(), find_unused_parameters=True)
    return train(net, rank, sgd(net))


def ddp_join(rank: int, size: int) -> list[float]:
    net = DistributedDataParallel(model())
    optimizer = sgd(net)
    losses = []
    with net.join():
        for step in range(2 + rank):  # uneven inputs
            x, y = batch(rank, step)
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    return losses


def ddp_hooks(rank: int, size: int) -> list[float]:
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

    losses = []
    for hook in (default_hooks.allreduce_hook, default_hooks.fp16_compress_hook):
        net = DistributedDataParallel(model())
        net.register_comm_hook(None, hook)
        losses += train(net, rank, sgd(net))
    net = DistributedDataParallel(model())
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=1, start_powerSGD_iter=2)
    net.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    return losses + train(net, rank, sgd(net))


def zero(rank: int, size: int) -> list[float]:
    from torch.distributed.optim import ZeroRedundancyOptimizer

    net = DistributedDataParallel(model())
    optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.Adam, lr=0.01)
    losses = train(net, rank, optimizer)
    optimizer.consolidate_state_dict(0)
    return losses


def fsdp1(rank: int, size: int) -> list[float]:
    from torch.distributed.fsdp import FullyShardedDataParallel

    net = FullyShardedDataParallel(model(), device_id=torch.device("cpu"))
    return train(net, rank, sgd(net))


def fsdp2(rank: int, size: int) -> list[float]:
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    losses = []
    for policy in (MixedPrecisionPolicy(), MixedPrecisionPolicy(param_dtype=torch.bfloat16)):
        net = model()
        mesh = init_device_mesh("cpu", (size,))
        for layer in net:
            if isinstance(layer, nn.Linear):
                fully_shard(layer, mesh=mesh, mp_policy=policy)
        fully_shard(net, mesh=mesh, mp_policy=policy)
        losses += train(net, rank, sgd(net))
    return losses


def hsdp(rank: int, size: int) -> list[float]:
    from torch.distributed.fsdp import fully_shard

    net = model()
    fully_shard(net, mesh=init_device_mesh("cpu", (2, size // 2), mesh_dim_names=("replicate", "shard")))
    return train(net, rank, sgd(net))


def tensor_parallel(rank: int, size: int) -> list[float]:
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    net = parallelize_module(
        model(), init_device_mesh("cpu", (size,)), {"0": ColwiseParallel(), "2": RowwiseParallel()}
    )
    return train(net, 0, sgd(net))  # the same data on all ranks


def dtensor(rank: int, size: int) -> list[float]:
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (size,))
    whole = torch.arange(24.0).view(6, 4)
    rows = distribute_tensor(whole, mesh, [Shard(0)])
    columns = rows.redistribute(mesh, [Shard(1)])
    assert torch.equal(columns.full_tensor(), whole)
    assert torch.equal(rows.redistribute(mesh, [Replicate()]).to_local(), whole)
    return (rows @ columns.t()).full_tensor().flatten().tolist()  # type: ignore[no-any-return]


def checkpoint(rank: int, size: int) -> list[float]:
    import torch.distributed.checkpoint as dcp

    net = DistributedDataParallel(model())
    losses = train(net, rank, sgd(net))
    folder = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(folder)
    for name, save in (("now", dcp.save), ("later", dcp.async_save)):
        path = str(Path(str(folder[0])) / name)
        future = save({"model": net.module.state_dict()}, checkpoint_id=path)
        if name == "later":
            future.result()
        dist.barrier()
        other = {"model": model(seed=7).state_dict()}
        dcp.load(other, checkpoint_id=path)
        for key, value in net.module.state_dict().items():
            assert torch.equal(value, other["model"][key]), key
    return losses


def pipeline(rank: int, size: int) -> list[float]:
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    layers = list(model())
    cut = len(layers) // size
    mine = nn.Sequential(*layers[rank * cut : (rank + 1) * cut if rank < size - 1 else None])
    stage = PipelineStage(mine, rank, size, torch.device("cpu"))
    losses: list[float] = []
    schedule = ScheduleGPipe(stage, 4, loss_fn=nn.functional.mse_loss)
    optimizer = sgd(mine)
    for step in range(STEPS):
        x, y = batch(0, step)
        found: list[torch.Tensor] = []
        if rank == 0:
            schedule.step(x)
        elif rank == size - 1:
            schedule.step(target=y, losses=found)
            losses.append(sum(loss.item() for loss in found))
        else:
            schedule.step()
        optimizer.step()
        optimizer.zero_grad()
    return losses


def functional(rank: int, size: int) -> list[float]:
    """Functional collectives, and the same traced by torch.compile."""
    import torch.distributed._functional_collectives as funcol

    group = dist.group.WORLD

    def body(x: torch.Tensor) -> torch.Tensor:
        total = funcol.all_reduce(x * 2, "sum", group)
        parts = funcol.reduce_scatter_tensor(total.repeat(size), "sum", 0, group)
        return funcol.all_gather_tensor(parts, 0, group) + total.sum()

    x = torch.arange(8.0) + rank
    eager = body(x)
    compiled = torch.compile(body, backend="aot_eager", fullgraph=True)(x)
    assert torch.equal(eager, compiled)
    return eager.tolist()  # type: ignore[no-any-return]


def accelerate(rank: int, size: int) -> list[float]:
    import os

    import accelerate as hf

    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank), ACCELERATE_USE_CPU="true")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")  # asked for, not used: the group is there
    accelerator = hf.Accelerator(cpu=True)
    net = model()
    net, optimizer = accelerator.prepare(net, sgd(net))
    losses = []
    for step in range(STEPS):
        x, y = batch(rank, step)
        loss = nn.functional.mse_loss(net(x), y)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(accelerator.gather(loss.detach()[None]).mean().item())
    return losses


# By name, how many ranks each takes.
CASES = {
    "ddp": 2,
    "ddp_unused": 2,
    "ddp_join": 2,
    "ddp_hooks": 2,
    "zero": 2,
    "fsdp1": 2,
    "fsdp2": 2,
    "hsdp": 4,
    "tensor_parallel": 2,
    "dtensor": 2,
    "checkpoint": 2,
    "pipeline": 2,
    "functional": 2,
    "accelerate": 2,
}
