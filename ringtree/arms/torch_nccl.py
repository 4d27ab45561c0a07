"""The `torch:nccl` arm: torch.distributed's collectives over NCCL on GPU tensors, as training programs call them.

For: what PyTorch adds to NCCL, beside `nccl`. Not for: which call a collective is (gloo.py: both backends have one
interface), or NCCL called directly (nccl.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ringtree.arms.arm import Setting
from ringtree.arms.engine import SEND_RECV
from ringtree.arms.gloo import GlooArm
from ringtree.arms.kind import ArmKind, Wish, lacks_torch
from ringtree.arms.nccl_name import idle, why_not
from ringtree.gpu import device_count, lacks_gpu
from ringtree.gpu.mapped import mapped_nccl_version
from ringtree.traits import COLLECTIVES

NAME = "torch:nccl"
_DTYPES = ("int8", "uint8", "int32", "int64", "float16", "float32", "float64", "bfloat16")


class TorchNcclArm(GlooArm):
    """NCCL as PyTorch calls it."""

    backend = "nccl"

    def setup(self, setting: Setting) -> None:
        super().setup(setting)
        self.stream_clock = self._tensors.stream_clock

    def executed(self, call: Callable[[], object]) -> dict[str, Any]:
        return {**super().executed(call), "version": torch_nccl_version()}


def torch_nccl_version() -> str:
    import torch

    compiled = ".".join(map(str, torch.cuda.nccl.version()))  # type: ignore[no-untyped-call]
    return mapped_nccl_version() or compiled


def lacks_torch_nccl() -> str | None:
    """As `ArmKind.lacks`, of what PyTorch runs over NCCL."""
    missing = lacks_torch() or lacks_gpu()
    if missing is None:
        import torch

        if not torch.cuda.is_available() or not torch.distributed.is_nccl_available():
            return "this PyTorch was built without CUDA or NCCL: install a CUDA build, as its install page says"
    return missing


def _refuses(wish: Wish) -> str | None:
    version, one_host = torch_nccl_version(), not wish.several_hosts
    return why_not(wish.collective, wish.environment, version, one_host, wish.num_ranks, device_count())


KIND = ArmKind(
    name="torch_nccl",
    heads=frozenset(("torch",)),
    written=(NAME,),
    accepts=lambda name, collective: name == NAME,
    make=TorchNcclArm,
    collectives=(*COLLECTIVES, SEND_RECV),
    boundaries=("cuda",),
    dtypes=_DTYPES,
    ops=("sum", "prod", "min", "max"),
    lacks=lacks_torch_nccl,
    refuses=_refuses,
    without_effect=lambda environment: {} if lacks_torch_nccl() else idle(environment, torch_nccl_version()),
    device="cuda",
    in_place_only=("all_reduce", "reduce", "broadcast"),
    start_seconds=0.5,
    library=True,
)
