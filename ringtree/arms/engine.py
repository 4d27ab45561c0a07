"""Arms of the engine: one of its algorithms, or its own choice, with whatever else the name asks for.

For: running ringtree's communicator as an arm. Not for: knowing any algorithm by name: the name is passed on; what else
a name may say is engine_name.py's.

If the comparison is called through PyTorch, so is the engine: the buffers are then tensors over the same memory, and
all arms pay for the same boundary.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ringtree.arms.arm import Array, Setting
from ringtree.arms.engine_name import AS_AUTO, AUTO, FOR_SHARED, SHARED, UNFUSED, parse_engine_name
from ringtree.arms.kind import ALGORITHM, ArmKind
from ringtree.arms.program import Native
from ringtree.arms.unfused import unfused
from ringtree.comm.group import group as group_calls
from ringtree.comm.shared import empty
from ringtree.schedules import algorithms as builtin
from ringtree.schedules.schedule import schedule
from ringtree.storage import storage_of
from ringtree.traits import REDUCING, ROOTED

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

    def make_buffers(self, count: int, num_buffers: int) -> list[Array]:
        if self._shared:
            return shared_vectors(count, num_buffers, self._setting.dtype)
        return [np.zeros(count, dtype=storage_of(self._setting.dtype)) for _ in range(num_buffers)]

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        given, taken = operand_of(source, self._setting), operand_of(result, self._setting)
        if self._setting.collective == SEND_RECV:
            return self._send_to_next(given, taken)
        # Elements as the engine counts them: of the vector, or of one rank's block.
        count = min(source.size, result.size)
        if self._setting.collective == "all_to_all":
            count //= self._setting.num_ranks
        how = self._how_to(count)
        if not self._setting.all_arguments:
            how = {key: value for key, value in how.items() if key not in _DEFAULTS or value != _DEFAULTS[key]}
        said = how if source is result else {**how, "out": taken}
        if self._setting.collective in ROOTED:
            said = {**said, "root": root}
        return partial(self._collective, given, **said)

    def executed(self, call: Callable[[], object]) -> dict[str, Any]:
        told = {
            "backend": "engine",
            "through": self._setting.boundary,
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
            how["algorithm"] = unfused(schedule(setting.collective, how["algorithm"], setting.num_ranks))
        if setting.collective in REDUCING:
            how["op"] = setting.op
        if setting.op == "premul_sum":
            how["factor"] = setting.factor
        return how

    def _send_to_next(self, given: Any, taken: Any) -> Callable[[], object]:
        after, before = ((self._setting.rank + step) % self._setting.num_ranks for step in (1, -1))

        def exchange() -> None:
            with group_calls() as group:  # one after the other all would wait for each other
                on = group.on(self._comm)
                on.send(given, after)
                on.recv(taken, before)

        return exchange


def shared_vectors(count: int, num_vectors: int, dtype: str) -> list[Array]:
    """Returns vectors of zeros that peers can read in place, each on lines of its own. All in one buffer: a rank has
    few of these at a time."""
    item = storage_of(dtype).itemsize
    stride = -(-count * item // LINE_BYTES) * LINE_BYTES // item
    memory: Array = empty((num_vectors, stride), storage_of(dtype))
    return [memory[i, :count] for i in range(num_vectors)]


def operand_of(array: Array, setting: Setting) -> Any:
    """Returns what a call takes for `array`: itself, or a tensor of the setting's dtype over the same memory."""
    if setting.boundary != "torch":
        return array
    import torch  # only when an arm of the comparison needs it: the engine itself runs without

    return torch.from_numpy(array).view(getattr(torch, setting.dtype))


def _accepts(name: str, collective: str) -> bool:
    algorithm, _, options = name.partition("/")
    if algorithm != AUTO and not builtin.is_known(algorithm, collective):
        return False
    if collective == SEND_RECV:
        return not options
    parse_engine_name(name, collective)
    return True


def _several_hosts(name: str) -> bool:
    return not {"ll", "ll128", SHARED} & set(name.split("/")[1:])


def _native_of(name: str, collective: str | None) -> Native | None:
    from ringtree.arms.native_engine import native_of  # what finds and starts programs, which no rank needs

    return native_of(name, collective)


KIND = ArmKind(
    name="engine",
    heads=frozenset((AUTO, *(row.name for row in builtin.table()))),
    written=(ALGORITHM, AUTO),
    accepts=_accepts,
    make=EngineArm,
    collectives=(*builtin.COLLECTIVES, SEND_RECV),
    boundaries=("numpy", "torch", "native"),
    native=_native_of,
    several_hosts=_several_hosts,
    threads=True,
    emulated=True,
    shared_buffers=True,
    rivals=True,
    whose="ringtree's engine",
)
