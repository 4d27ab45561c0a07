"""The send-recv arms: the engine's schedules interpreted in Python over torch.distributed.

For: `send-recv:<algorithm>`, the from-scratch baseline of the field. Not for: how a schedule is interpreted
(interpret.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ringtree._core import Round
from ringtree.arms.arm import Array, Setting
from ringtree.arms.gloo import DTYPES
from ringtree.arms.kind import ALGORITHM, ArmKind, Wish, lacks_torch, names_algorithm
from ringtree.arms.torch_memory import tensors_for
from ringtree.schedules import algorithms as builtin
from ringtree.schedules.schedule import Schedule, schedule
from ringtree.traits import REDUCING

HEAD = "send-recv"


class SendRecvArm:
    """`algorithm` of ringtree, each message one isend and one irecv."""

    def __init__(self, name: str) -> None:
        self.name, self._algorithm = name, name.partition(":")[2]

    def setup(self, setting: Setting) -> None:
        import torch.distributed as dist

        from ringtree.arms.torch_group import shared_group

        self._setting, self._tensors = setting, tensors_for(setting)
        self.stream_clock = self._tensors.stream_clock
        self._group = shared_group(setting)
        # The first collective of a group must include every rank (on NCCL), which a round of messages need not.
        dist.barrier(self._group)
        self._of_root = cache(self._prepare)
        self._num_rounds = 0

    def make_buffers(self, count: int, num_buffers: int) -> list[Array]:
        return self._tensors.make(count, num_buffers)

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        from ringtree.arms.interpret import InterpretedCall

        taken, setting = self._tensors.tensor(result), self._setting
        given = taken if source is result else self._tensors.tensor(source)
        steps, rounds = self._of_root(root)
        self._num_rounds = len(rounds) - 1
        op = setting.op if setting.collective in REDUCING else "sum"  # where nothing is folded
        # Elements as schedules count them: of the vector, or of one rank's block.
        count = min(given.numel(), taken.numel()) // (setting.num_ranks if setting.collective == "all_to_all" else 1)
        return InterpretedCall(steps, rounds, setting.rank, self._group, given, taken, count, op).run

    def executed(self, call: Callable[[], object]) -> dict[str, Any]:
        return {
            "backend": f"torch.distributed send/recv over {'nccl' if self.stream_clock else 'gloo'}",
            "through": "torch",
            "algorithm": self._algorithm,
            "num_rounds": self._num_rounds,
        }

    def teardown(self) -> None:
        from ringtree.arms.torch_group import leave_group

        leave_group()

    def _prepare(self, root: int) -> tuple[Schedule, list[Round]]:
        setting = self._setting
        steps = schedule(setting.collective, self._algorithm, ranks=setting.num_ranks, root=root)
        return steps, steps.rounds(setting.rank)


def _refuses(wish: Wish) -> str | None:
    from ringtree.arms.torch_nccl import lacks_torch_nccl  # what finds GPUs, which no rank without one needs

    return lacks_torch_nccl() if wish.on_gpu else None


KIND = ArmKind(
    name="send_recv",
    heads=frozenset((HEAD,)),
    written=(f"{HEAD}:{ALGORITHM}",),
    accepts=names_algorithm,
    make=SendRecvArm,
    collectives=builtin.COLLECTIVES,
    boundaries=("torch", "cuda"),
    dtypes=DTYPES,
    ops=("sum", "prod", "min", "max"),
    lacks=lacks_torch,
    refuses=_refuses,
)
