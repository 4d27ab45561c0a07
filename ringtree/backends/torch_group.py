"""The torch.distributed group that Gloo and the send/recv arms of one rank process share.

For: one Gloo group over the loopback interface, made once a process. Not for: several hosts.

The ranks meet through torch's file rendezvous on a memory file that they inherited, so nothing is left on disk and no
port is opened for it.
"""

from __future__ import annotations

import os
from datetime import timedelta

import torch.distributed as dist

from ringtree.backends.arm import Setting


def shared_group(setting: Setting) -> dist.ProcessGroup:
    """Returns the process's default group, made on the first call; every rank must call it."""
    if not dist.is_initialized():
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        dist.init_process_group(
            "gloo",
            init_method=f"file://{setting.torch_store}",
            rank=setting.rank,
            world_size=setting.num_ranks,
            timeout=timedelta(seconds=setting.timeout),
        )
    group = dist.group.WORLD
    assert group is not None
    return group


def leave_group() -> None:
    """Leaves the group, if it was made."""
    if dist.is_initialized():
        dist.destroy_process_group()
