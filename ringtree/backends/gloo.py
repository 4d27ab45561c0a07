"""The Gloo arm: torch.distributed's all_reduce over loopback, as people use it on CPUs.

For: the library that the engine is compared with on one host. Not for: how the other libraries are called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.distributed as dist

from ringtree.backends.arm import Array, Operands, Setting
from ringtree.backends.torch_group import leave_group, shared_group
from ringtree.errors import UsageError

_OPS = {"sum": dist.ReduceOp.SUM, "prod": dist.ReduceOp.PRODUCT, "min": dist.ReduceOp.MIN, "max": dist.ReduceOp.MAX}


class GlooArm:
    """Gloo's own choice of algorithm; which one it took is not told by torch."""

    name = "gloo"

    def setup(self, setting: Setting) -> None:
        if setting.collective != "all_reduce" or setting.op not in _OPS:
            raise UsageError(f"the gloo arm runs all_reduce with {', '.join(_OPS)} only, not {setting.collective}")
        self._group = shared_group(setting)
        self._dtype = getattr(torch, setting.dtype)
        self._op = _OPS[setting.op]

    def make_operands(self, count: int, num_buffers: int) -> Operands:
        tensors = [torch.zeros(count, dtype=self._dtype) for _ in range(num_buffers)]
        return Operands(tensors, [tensor.numpy() for tensor in tensors])

    def call(self, operands: Operands, index: int) -> None:
        dist.all_reduce(operands.calls[index], op=self._op, group=self._group)

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        taken = torch.from_numpy(result)
        reduce = partial(dist.all_reduce, taken, op=self._op, group=self._group)
        if source is result:
            return reduce
        given = torch.from_numpy(source)

        def copy_and_reduce() -> None:  # torch.distributed has no all_reduce but in place
            taken.copy_(given)
            reduce()

        return copy_and_reduce

    def executed(self) -> dict[str, Any]:
        return {"backend": "gloo", "through": "torch"}

    def teardown(self) -> None:
        leave_group()
