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
ROOTED = ("broadcast", "reduce", "gather", "scatter")
SEND_RECV = "send_recv"  # no collective: every rank sends to the next one and receives from the one before
_DEFAULTS: dict[str, Any] = {"protocol": AUTO, "slice_bytes": 0, "streaming": None}
LINE_BYTES = 64


class EngineArm:
    """The configuration that `name` asks for, in place. "auto" lets the communicator choose."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._comm: Any = None
        self._collective: Any = None
        self._how: dict[int, dict[str, Any]] = {}  # count -> arguments of a call

    def setup(self, setting: Setting) -> None:
        self._setting = setting
        self._asked = parse_engine_name(self.name, setting.collective)
        self._shared = SHARED in self._asked.words
        self._comm = setting.communicator(
            channels=self._asked.channels, shared_buffers=self._shared or FOR_SHARED in self._asked.words
        )
        self._collective = getattr(self._comm, setting.collective, None)

    def make_operands(self, count: int, num_buffers: int) -> Operands:
        dtype = self._setting.dtype
        arrays: list[Array]
        if self._shared:
            arrays = shared_vectors(count, num_buffers, dtype)
        else:
            arrays = [np.zeros(count, dtype=dtype) for _ in range(num_buffers)]
        operands = [operand_of(array, self._setting) for array in arrays]
        how = self._how_to(count)
        return Operands([partial(self._collective, operand, **how) for operand in operands], arrays)

    def call(self, operands: Operands, index: int) -> None:
        operands.calls[index]()

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        given, taken = operand_of(source, self._setting), operand_of(result, self._setting)
        if self._setting.collective == SEND_RECV:
            return self._send_to_next(given, taken)
        # Elements as the engine counts them: of the vector, or of one rank's block.
        count = min(source.size, result.size)
        if self._setting.collective == "all_to_all":
            count //= self._setting.num_ranks
        # Only what is said: here nothing is compared with another arm, so no argument is passed for evenness.
        how = self._how_to(count)
        said = {key: value for key, value in how.items() if key not in _DEFAULTS or value != _DEFAULTS[key]}
        said["out"] = taken
        if self._setting.collective in ROOTED:
            said["root"] = root
        return partial(self._collective, given, **said)

    def executed(self) -> dict[str, Any]:
        told = {
            "backend": "engine",
            "through": "torch" if self._setting.use_torch else "numpy",
            "buffers": "shared" if self._shared else "private",
        }
        if self._setting.collective == SEND_RECV:  # there is one way only
            return {**told, "algorithm": SEND_RECV, "protocol": "simple"}
        return {**told, **self._comm.last_call()}

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
        if setting.op == "premul_sum":
            how["factor"] = setting.factor
        return how

    def _send_to_next(self, given: Any, taken: Any) -> Callable[[], object]:
        after, before = ((self._setting.rank + step) % self._setting.num_ranks for step in (1, -1))

        def exchange() -> None:
            with ringtree.group() as group:  # one after the other all would wait for each other
                on = group.on(self._comm)
                on.send(given, after)
                on.recv(taken, before)

        return exchange


def shared_vectors(count: int, num_vectors: int, dtype: str) -> list[Array]:
    """Returns vectors of zeros that peers can read in place, each on lines of its own. All in one buffer: a rank has
    few of these at a time."""
    item = np.dtype(dtype).itemsize
    stride = -(-count * item // LINE_BYTES) * LINE_BYTES // item
    memory: Array = ringtree.empty((num_vectors, stride), dtype)
    return [memory[i, :count] for i in range(num_vectors)]


def operand_of(array: Array, setting: Setting) -> Any:
    """Returns what a call takes for `array`: itself, or a tensor of the setting's dtype over the same memory."""
    if not setting.use_torch:
        return array
    import torch  # only when an arm of the comparison needs it: the engine itself runs without

    return torch.from_numpy(array).view(getattr(torch, setting.dtype))
