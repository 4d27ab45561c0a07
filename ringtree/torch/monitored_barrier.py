"""torch.distributed.monitored_barrier() up to PyTorch 2.13, which asks for the name `gloo` and for nothing else.

For: calling it on groups of this backend, which has one. From 2.14 on PyTorch asks the backend.
"""

from __future__ import annotations

import functools
from datetime import timedelta
from typing import Any

import torch.distributed
from torch.distributed import distributed_c10d

_UNSET = timedelta(milliseconds=-1)  # the group's own


def allow_monitored_barrier() -> None:
    """Lets torch.distributed.monitored_barrier() take groups of `ringtree`; for all others it does what it did."""
    original = distributed_c10d.monitored_barrier
    if "GLOO" not in original.__code__.co_names or getattr(original, "_knows_ringtree", False):
        return

    @functools.wraps(original)
    def monitored_barrier(
        group: Any = None, timeout: timedelta | float | None = None, wait_all_ranks: bool = False
    ) -> Any:
        if (
            group is torch.distributed.GroupMember.NON_GROUP_MEMBER
            or torch.distributed.get_backend(group) != "ringtree"
        ):
            return original(group, timeout, wait_all_ranks)
        if isinstance(timeout, (int, float)):
            timeout = timedelta(seconds=timeout)
        group = group or distributed_c10d._get_default_group()
        return group.monitored_barrier(_UNSET if timeout is None else timeout, wait_all_ranks=wait_all_ranks)

    monitored_barrier._knows_ringtree = True  # type: ignore[attr-defined]
    distributed_c10d.monitored_barrier = monitored_barrier
    torch.distributed.monitored_barrier = monitored_barrier
