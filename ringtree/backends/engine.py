"""Arms of the engine: one of its algorithms, or its own choice.

For: running ringtree's communicator as an arm. Not for: knowing any algorithm by name: the name is passed on.

If any arm of the comparison is called through PyTorch, so is the engine: the buffers are then tensors over the same
memory, and all arms pay for the same boundary.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ringtree.backends.arm import Array, Operands, Setting


class EngineArm:
    """`algorithm` of the engine, in place. "auto" lets the communicator choose."""

    def __init__(self, algorithm: str) -> None:
        self.name = algorithm
        self._comm: Any = None

    def setup(self, setting: Setting) -> None:
        self._setting = setting
        self._comm = setting.communicator()
        self._collective = getattr(self._comm, setting.collective)

    def make_operands(self, count: int, num_buffers: int) -> Operands:
        arrays: list[Array] = [np.zeros(count, dtype=self._setting.dtype) for _ in range(num_buffers)]
        return Operands([_as_tensor(array) for array in arrays] if self._setting.use_torch else arrays, arrays)

    def call(self, operands: Operands, index: int) -> None:
        self._collective(operands.calls[index], op=self._setting.op, algorithm=self.name)

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        given, taken = (source, result) if not self._setting.use_torch else (_as_tensor(source), _as_tensor(result))
        how: dict[str, Any] = {"out": taken, "algorithm": self.name}
        if self._setting.collective in ("all_reduce", "reduce_scatter", "reduce"):
            how["op"] = self._setting.op
        if self._setting.collective in ("broadcast", "reduce"):
            how["root"] = root
        return partial(self._collective, given, **how)

    def executed(self) -> dict[str, Any]:
        return {
            "backend": "engine",
            "through": "torch" if self._setting.use_torch else "numpy",
            **self._comm.last_call(),
        }

    def teardown(self) -> None:
        self._comm = None  # the lab closes it: other arms of the engine use it too


def _as_tensor(array: Array) -> Any:
    import torch  # only when an arm of the comparison needs it: the engine itself runs without

    return torch.from_numpy(array)
