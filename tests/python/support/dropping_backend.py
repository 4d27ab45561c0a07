"""A torch.distributed backend that loses a gradient: Gloo, but rank 1 gives zeros in one of its all-reduces.

For: tests of what disqualifies an arm of a training, as `torch:dropping_backend.dropping`; importing it makes the name
known. Not for: assertions.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

DROPPED = 4  # which call, from 0: a small model's gradients are one bucket, so it is also the step


class DroppingGroup(dist.ProcessGroup):
    def __init__(self, store: Any, rank: int, size: int, timeout: timedelta) -> None:
        super().__init__(rank, size)
        self._inner = dist.ProcessGroupGloo(store, rank, size, timeout)
        self._rank, self._calls = rank, 0

    def getBackendName(self) -> str:  # noqa: N802 # PyTorch's name
        return "dropping"

    def allreduce(self, tensors: list[torch.Tensor], opts: Any = None) -> Any:
        if self._rank == 1 and self._calls == DROPPED:
            tensors[0].zero_()
        self._calls += 1
        return self._inner.allreduce(tensors, opts)

    def broadcast(self, *given: Any) -> Any:
        return self._inner.broadcast(*given)

    def allgather(self, *given: Any) -> Any:
        return self._inner.allgather(*given)

    def barrier(self, *given: Any) -> Any:
        return self._inner.barrier(*given)


dist.Backend.register_backend("dropping", DroppingGroup, devices=["cpu"])
