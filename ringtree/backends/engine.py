"""Arms of the engine: one of its algorithms, or its own choice, with whatever else the name asks for.

For: running ringtree's communicator as an arm. Not for: knowing any algorithm by name: the name is passed on; what else
a name may say is engine_name.py's.

If any arm of the comparison is called through PyTorch, so is the engine: the buffers are then tensors over the same
memory, and all arms pay for the same boundary. Every engine arm makes its calls with as many arguments as the others,
as each takes its share of a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import ringtree
from ringtree.backends.arm import Array, Operands, Setting
from ringtree.backends.engine_name import AS_AUTO, AUTO, FOR_SHARED, SHARED, UNFUSED, parse_engine_name
from ringtree.backends.unfused import unfused

REDUCING = ("all_reduce", "reduce_scatter", "reduce")
ROOTED = ("broadcast", "reduce")
_UNSAID = (AUTO, 0, None)


class EngineArm:
    """The configuration that `name` asks for, in place. "auto" lets the communicator choose."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._comm: Any = None
        self._how: dict[int, dict[str, Any]] = {}  # count -> arguments of a call

    def setup(self, setting: Setting) -> None:
        self._setting = setting
        self._asked = parse_engine_name(self.name, setting.collective)
        self._shared = SHARED in self._asked.words
        self._comm = setting.communicator(
            channels=self._asked.channels, shared_buffers=self._shared or FOR_SHARED in self._asked.words
        )
        self._collective = getattr(self._comm, setting.collective)

    def make_operands(self, count: int, num_buffers: int) -> Operands:
        make = ringtree.empty if self._shared else np.zeros
        arrays: list[Array] = [make((count,), dtype=self._setting.dtype) for _ in range(num_buffers)]
        operands = [as_tensor(array) for array in arrays] if self._setting.use_torch else arrays
        how = self._how_to(count)
        return Operands([partial(self._collective, operand, **how) for operand in operands], arrays)

    def call(self, operands: Operands, index: int) -> None:
        operands.calls[index]()

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        given, taken = (source, result) if not self._setting.use_torch else (as_tensor(source), as_tensor(result))
        # Elements as the engine counts them: of the vector, or of one rank's block.
        count = result.size if self._setting.collective == "reduce_scatter" else source.size
        # Only what is said: here nothing is compared with another arm, so no argument is passed for evenness.
        said = {key: value for key, value in self._how_to(count).items() if key == "algorithm" or value not in _UNSAID}
        how: dict[str, Any] = {"out": taken, **said}
        if self._setting.collective in ROOTED:
            how["root"] = root
        return partial(self._collective, given, **how)

    def executed(self) -> dict[str, Any]:
        return {
            "backend": "engine",
            "through": "torch" if self._setting.use_torch else "numpy",
            "buffers": "shared" if self._shared else "private",
            **self._comm.last_call(),
        }

    def teardown(self) -> None:
        self._comm = None  # the lab closes it: other arms of the engine use it too

    def _how_to(self, count: int) -> dict[str, Any]:
        if count not in self._how:
            self._how[count] = self._arguments(count)
        return self._how[count]

    def _arguments(self, count: int) -> dict[str, Any]:
        """The keyword arguments of a call of `count` elements, which say all that the name says."""
        asked, setting = self._asked, self._setting
        how: dict[str, Any] = {
            "algorithm": asked.algorithm,
            "protocol": asked.protocol or AUTO,
            "slice_bytes": asked.slice_bytes,
            "streaming": asked.streaming,
        }
        is_cut = UNFUSED in asked.words
        if AS_AUTO in asked.words or (is_cut and asked.algorithm == AUTO):
            chosen = self._comm.choice(setting.collective, count, setting.dtype)
            if asked.algorithm == AUTO:
                how["algorithm"] = chosen.algorithm
            how["protocol"] = asked.protocol or chosen.protocol
            how["slice_bytes"] = asked.slice_bytes or chosen.slice_bytes
            how["streaming"] = chosen.streaming if asked.streaming is None else asked.streaming
        if is_cut:
            how["algorithm"] = unfused(ringtree.schedule(setting.collective, how["algorithm"], setting.num_ranks))
        if setting.collective in REDUCING:
            how["op"] = setting.op
        return how


def as_tensor(array: Array) -> Any:
    """Returns a tensor over the same memory."""
    import torch  # only when an arm of the comparison needs it: the engine itself runs without

    return torch.from_numpy(array)
