"""A model made distributed: DDP, FSDP1 or FSDP2, as people call them.

For: the wrapping, precision and checkpointing included. Not for: the groups (groups.py), experts that are spread
(experts.py), or steps (trainer.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import nn

from ringtree.results import TrainingPlan
from ringtree.train.groups import Groups


def distributed(
    net: nn.Module, plan: TrainingPlan, groups: Groups, device: torch.device, alone: bool, own: Sequence[nn.Parameter]
) -> nn.Module:
    """Returns `net` as `plan.strategy` has it. `alone`: nothing is to be moved; `own`: parameters of this rank only."""
    if plan.checkpointing:
        net.gradient_checkpointing_enable({"use_reentrant": False})  # type: ignore[operator]
    if plan.strategy == "ddp":
        return _ddp(net, groups, alone, own)
    return _fsdp1(net, plan, groups, device, own) if plan.strategy == "fsdp1" else _fsdp2(net, plan, groups, own)


def computing_in(precision: str, strategy: str, device: torch.device) -> AbstractContextManager[Any]:
    """What a forward pass runs in: DDP has no precision of its own."""
    if precision == "bf16" and strategy == "ddp":
        return torch.autocast(device.type, dtype=torch.bfloat16)
    return nullcontext()


def without_exchange(net: nn.Module, strategy: str, last: bool) -> AbstractContextManager[Any]:
    """What a batch runs in that is not the `last` of its step: gradients stay on the rank."""
    if strategy == "fsdp2":
        net.set_requires_gradient_sync(last)  # type: ignore[operator]
        return nullcontext()
    return nullcontext() if last else net.no_sync()  # type: ignore[operator]


def layers_of(net: nn.Module) -> list[nn.Module]:
    """Returns the decoder's layers, which are sharded one by one."""
    return list(net.model.layers)  # type: ignore[arg-type, union-attr]


def _ddp(net: nn.Module, groups: Groups, alone: bool, own: Sequence[nn.Parameter]) -> nn.Module:
    from torch.nn.parallel import DistributedDataParallel

    names = [name for name, parameter in net.named_parameters() if any(parameter is one for one in own)]
    DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(net, names)  # type: ignore[no-untyped-call]
    made = DistributedDataParallel(net, process_group=groups.world)
    if alone:
        made.register_comm_hook(None, _no_communication)  # what `fake` returns DDP does not take
    return made


def _no_communication(_, bucket):  # type: ignore[no-untyped-def] # DDP reads annotations, and wants its own
    done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def _fsdp1(
    net: nn.Module, plan: TrainingPlan, groups: Groups, device: torch.device, own: Sequence[nn.Parameter]
) -> nn.Module:
    from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, ShardingStrategy
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    sharding = {"full": "FULL_SHARD", "grad_op": "SHARD_GRAD_OP", "hybrid": "HYBRID_SHARD"}[plan.sharding]
    mixed = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    return FullyShardedDataParallel(
        net,
        process_group=groups.world
        if groups.shard is None or groups.replica is None
        else (groups.shard, groups.replica),
        sharding_strategy=ShardingStrategy[sharding],
        auto_wrap_policy=ModuleWrapPolicy({type(layer) for layer in layers_of(net)}),
        mixed_precision=mixed if plan.precision == "bf16" else None,
        device_id=device,
        use_orig_params=True,
        ignored_states=list(own) or None,
    )


def _fsdp2(net: nn.Module, plan: TrainingPlan, groups: Groups, own: Sequence[nn.Parameter]) -> nn.Module:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    kind = next(net.parameters()).device.type
    if groups.shard is None or groups.replica is None:
        mesh = DeviceMesh.from_group(groups.world, kind)
    else:
        both = [groups.replica, groups.shard]
        mesh = DeviceMesh.from_group(both, kind, mesh=torch.tensor(groups.rows), mesh_dim_names=("replica", "shard"))
    mixed = plan.precision == "bf16"
    policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32) if mixed else MixedPrecisionPolicy()
    options: dict[str, Any] = {"mesh": mesh, "mp_policy": policy, "reshard_after_forward": plan.sharding != "grad_op"}
    if own:
        options["ignored_params"] = set(own)
    for layer in layers_of(net):
        fully_shard(layer, **options)
    fully_shard(net, **options)
    return net
