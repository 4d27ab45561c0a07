"""The torch.distributed backend `ringtree`, for CPU tensors.

    torch.distributed.init_process_group("ringtree")              # or "cpu:ringtree,cuda:nccl"

For: programs that use torch.distributed on CPUs, which need nothing of this module: PyTorch finds the backend by its
name (ringtree_autoload). Not for: ringtree's own API (`ringtree.init()`), nor for GPUs.

The backend is a small C++ class (csrc/) over libringtree, which comes with the package. As PyTorch's C++ interface
changes with each of its versions, it is compiled for the PyTorch that is there, and kept (building.py): by
`python -m ringtree.torch` where it is installed, else on first use.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import ringtree_autoload
from ringtree.comm import profile

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store

__all__ = ["create", "register"]


def register() -> None:
    """Makes the name `ringtree` known to torch.distributed; needed only where entry points are not loaded.

    That is the case with TORCH_DEVICE_BACKEND_AUTOLOAD=0, or where ringtree is on the path without being installed.
    """
    ringtree_autoload.register()


def create(store: Store, rank: int, size: int, timeout: timedelta) -> object:
    """Makes this rank's end of a group, as torch.distributed calls it: meets the other ranks through `store`.

    Returns a `torch._C._distributed_c10d.Backend`. Raises BuildError if the backend cannot be compiled (the text says
    what is missing), torch.distributed.DistBackendError if ranks do not come or one of them dies.
    """
    from ringtree.torch.building import load
    from ringtree.torch.monitored_barrier import allow_monitored_barrier

    module = load()
    allow_monitored_barrier()
    with _file_of(profile.load(None).rules if rank == 0 else "") as rules:
        return module.create(store, rank, size, timeout, rules)


@contextmanager
def _file_of(text: str) -> Iterator[str]:
    """Gives the name of a file with that text, which is gone afterwards; "" for no text."""
    if not text:
        yield ""
        return
    with open(os.memfd_create("ringtree-rules"), "w") as file:
        file.write(text)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"
