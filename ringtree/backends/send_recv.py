"""The send-recv arms: the engine's schedules interpreted in Python over torch.distributed.

For: `send-recv:<algorithm>`, the from-scratch baseline of the field. Not for: how a schedule is interpreted
(interpret.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import ringtree
from ringtree.backends.arm import Array, Operands, Setting
from ringtree.backends.interpret import InterpretedCall
from ringtree.backends.torch_group import leave_group, shared_group


class SendRecvArm:
    """`algorithm` of ringtree, each message one isend and one irecv."""

    def __init__(self, algorithm: str) -> None:
        self.name = f"send-recv:{algorithm}"
        self._algorithm = algorithm

    def setup(self, setting: Setting) -> None:
        if setting.collective != "all_reduce":
            raise ringtree.UsageError(f"the send-recv arms run all_reduce only, not {setting.collective}")
        self._setting = setting
        self._group = shared_group(setting)
        # The first collective of a group must include every rank (on NCCL), which a round of messages need not.
        torch.distributed.barrier(self._group)
        self._schedule = ringtree.schedule(setting.collective, self._algorithm, ranks=setting.num_ranks)
        self._rounds = self._schedule.rounds(setting.rank)

    def make_operands(self, count: int, num_buffers: int) -> Operands:
        dtype = getattr(torch, self._setting.dtype)
        tensors = [torch.zeros(count, dtype=dtype) for _ in range(num_buffers)]
        return Operands([self._interpret(tensor, tensor) for tensor in tensors], [tensor.numpy() for tensor in tensors])

    def call(self, operands: Operands, index: int) -> None:
        operands.calls[index].run()

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        taken = torch.from_numpy(result)
        return self._interpret(taken if source is result else torch.from_numpy(source), taken).run

    def executed(self) -> dict[str, Any]:
        return {
            "backend": "torch.distributed send/recv over gloo",
            "through": "torch",
            "algorithm": self._algorithm,
            "num_rounds": len(self._rounds) - 1,
        }

    def teardown(self) -> None:
        leave_group()

    def _interpret(self, given: torch.Tensor, taken: torch.Tensor) -> InterpretedCall:
        setting = self._setting
        return InterpretedCall(
            self._schedule, self._rounds, setting.rank, self._group, given, taken, taken.numel(), setting.op
        )
