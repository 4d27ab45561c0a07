"""The torch.distributed backend in Python alone, for machines without a C++ compiler; from PyTorch 2.14 on.

    RINGTREE_TORCH_BACKEND=python torchrun train.py               # or there is no compiler

For: what csrc/ does, with the same calls of libringtree in the same order, so that ranks of both kinds may meet in one
group. Not for: speed; every call goes through a thread and Python's lock. What PyTorch's own class for Python backends
cannot say is not there: who sent a message that was received from any source, and Work.is_completed().

One file a concept: library.py (the C API by ctypes), communicator.py, calls.py and work.py (threads and what is waited
for), tensors.py (memory), group.py (life of a group), and the collectives by kind, which backend.py puts together.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store

    from ringtree.torch.python_backend.backend import PythonBackend

__all__ = ["create", "is_possible"]


def is_possible() -> bool:
    """Whether this PyTorch lets Python make a backend: 2.14 and newer."""
    major, minor = torch.__version__.split(".")[:2]
    return (int(major), int(minor)) >= (2, 14)


def create(store: Store, rank: int, size: int, timeout: timedelta, rules: str) -> PythonBackend:
    """Makes this rank's end of a group, as the compiled module's function of that name.

    `rules`: a file by which algorithms are chosen, "" for none. Raises torch.distributed.DistBackendError if ranks do
    not come or one of them dies.
    """
    from ringtree.torch.python_backend.backend import PythonBackend

    return PythonBackend(store, rank, size, timeout, rules)
