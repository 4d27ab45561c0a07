"""The torch.distributed group that the arms of one rank process share which are called through PyTorch.

For: one group, made once a process: Gloo's, or NCCL's where buffers lie on GPUs. Not for: what runs over it.

The ranks of one host meet through torch's file rendezvous on a memory file that they inherited, so nothing is left on
disk and no port is opened for it, and speak over loopback. Ranks of several agents meet in a TCP store of rank 0's.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import TCPStore  # which torch.distributed does not say that it exports

from ringtree.arms.arm import Setting


def shared_group(setting: Setting) -> dist.ProcessGroup:
    """Returns the process's default group, made on the first call; every rank must call it."""
    if not dist.is_initialized():
        if setting.torch_store is not None:
            os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
            meeting: dict[str, Any] = {"init_method": f"file://{setting.torch_store}"}
        else:
            meeting = {"store": _tcp_store(setting)}
        on_gpu = setting.boundary == "cuda"
        if on_gpu:  # NCCL connects now, so that a rank that can't is told while arms are set up
            meeting["device_id"] = torch.device("cuda", torch.cuda.current_device())
        dist.init_process_group(
            "nccl" if on_gpu else "gloo",
            rank=setting.rank,
            world_size=setting.num_ranks,
            timeout=timedelta(seconds=setting.timeout),
            **meeting,
        )
    group = dist.group.WORLD
    assert group is not None
    return group


def _tcp_store(setting: Setting) -> TCPStore:
    """Rank 0 takes a free port and tells the others. torch binds it on all interfaces, whatever it is told."""
    host, timeout = setting.torch_host or "127.0.0.1", timedelta(seconds=setting.timeout)
    if setting.rank == 0:
        served = TCPStore(host, 0, is_master=True, wait_for_workers=False, timeout=timeout)
        setting.share(served.port)
        return served
    return TCPStore(host, setting.share(0), is_master=False, wait_for_workers=False, timeout=timeout)


def leave_group() -> None:
    """Leaves the group, if it was made."""
    if dist.is_initialized():
        dist.destroy_process_group()
