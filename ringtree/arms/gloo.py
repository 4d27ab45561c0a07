"""The Gloo arm: torch.distributed's collectives over loopback, as people use it on CPUs.

For: the library that the engine is compared with on one host. Not for: how the other libraries are called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ringtree.arms.arm import Array, Setting
from ringtree.arms.engine import SEND_RECV
from ringtree.arms.kind import ArmKind, lacks_torch
from ringtree.arms.torch_memory import tensors_for
from ringtree.errors import UsageError
from ringtree.traits import COLLECTIVES, REDUCING

if TYPE_CHECKING:
    import torch

# ringtree's names -> those of torch.distributed.ReduceOp
_OPS = {"sum": "SUM", "prod": "PRODUCT", "min": "MIN", "max": "MAX"}

_IN_PLACE_ONLY = ("all_reduce", "reduce", "broadcast")
DTYPES = ("int8", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64")


class GlooArm:
    """The backend's own choice of algorithm; which one it took is not told by torch."""

    backend = "gloo"

    def __init__(self, name: str) -> None:
        self.name = name

    def setup(self, setting: Setting) -> None:
        if setting.collective not in KIND.collectives:
            raise UsageError(f"{self.name} does not run {setting.collective}")
        if setting.collective in REDUCING and setting.op not in _OPS:
            raise UsageError(f"{self.name} reduces with {', '.join(_OPS)} only, not {setting.op}")
        import torch.distributed as dist

        from ringtree.arms.torch_group import shared_group

        self._tensors = tensors_for(setting)
        self._setting, self._group = setting, shared_group(setting)
        reduces = setting.collective in REDUCING
        self._op: dict[str, Any] = {"op": getattr(dist.ReduceOp, _OPS[setting.op])} if reduces else {}

    def make_buffers(self, count: int, num_buffers: int) -> list[Array]:
        return self._tensors.make(count, num_buffers)

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        given, taken = self._tensors.tensor(source), self._tensors.tensor(result)
        if self._setting.collective == SEND_RECV:
            return self._send_to_next(given, taken)
        call, operands = self._call_of(given, taken, root)
        run: Callable[[], object] = partial(call, *operands, **self._op, group=self._group)
        if source is result or self._setting.collective not in _IN_PLACE_ONLY:
            return run

        def copy_and_run() -> None:  # torch.distributed has none but in place
            taken.copy_(given)
            run()

        return copy_and_run

    def executed(self, call: Callable[[], object]) -> dict[str, Any]:
        return {"backend": self.backend, "through": "torch"}

    def teardown(self) -> None:
        from ringtree.arms.torch_group import leave_group

        leave_group()

    def _call_of(self, given: torch.Tensor, taken: torch.Tensor, root: int) -> tuple[Any, tuple[Any, ...]]:
        """torch.distributed's function and its operands."""
        import torch.distributed as dist

        is_root, num_ranks = self._setting.rank == root, self._setting.num_ranks
        table: dict[str, tuple[Any, tuple[Any, ...]]] = {
            "all_reduce": (dist.all_reduce, (taken,)),
            "reduce": (dist.reduce, (taken, root)),
            "broadcast": (dist.broadcast, (taken, root)),
            "reduce_scatter": (dist.reduce_scatter_tensor, (taken, given)),
            "all_gather": (dist.all_gather_into_tensor, (taken, given)),
            "gather": (dist.gather, (given, list(taken.chunk(num_ranks)) if is_root else None, root)),
            "scatter": (dist.scatter, (taken, list(given.chunk(num_ranks)) if is_root else None, root)),
            "all_to_all": (dist.all_to_all_single, (taken, given)),
        }
        return table[self._setting.collective]

    def _send_to_next(self, given: torch.Tensor, taken: torch.Tensor) -> Callable[[], object]:
        import torch.distributed as dist

        after, before = ((self._setting.rank + step) % self._setting.num_ranks for step in (1, -1))

        def exchange() -> None:
            sent = dist.isend(given, after, self._group)
            dist.recv(taken, before, self._group)
            if sent is not None:
                sent.wait()

        def exchange_as_one() -> None:  # on a GPU a receive that was begun after a send would wait for it
            pair = [
                dist.P2POp(dist.isend, given, after, self._group),
                dist.P2POp(dist.irecv, taken, before, self._group),
            ]
            for work in dist.batch_isend_irecv(pair):
                work.wait()

        return exchange if self.backend == "gloo" else exchange_as_one


KIND = ArmKind(
    name="gloo",
    heads=frozenset(("gloo",)),
    written=("gloo",),
    accepts=lambda name, collective: name == "gloo",
    make=GlooArm,
    collectives=(*COLLECTIVES, SEND_RECV),
    boundaries=("torch",),
    dtypes=DTYPES,
    ops=tuple(_OPS),
    lacks=lacks_torch,
    in_place_only=_IN_PLACE_ONLY,
    library=True,
)
