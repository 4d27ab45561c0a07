"""The NCCL arms: libnccl called directly, its own choice or a forced one, with graphs and registered buffers.

For: `nccl`, `nccl:Tree/LL128`, `nccl+graph` and their like, every collective. Not for: how they are written
(nccl_name.py), NCCL through PyTorch (torch_nccl.py), or what NCCL executed (measure/proven_set.py reads its log).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from ringtree.arms.arm import Array, Setting
from ringtree.arms.kind import ArmKind, Wish
from ringtree.arms.nccl_name import FORMS, HEAD, idle, parse, why_not
from ringtree.arms.on_gpu import OnGpu, all_agree, as_array, as_device
from ringtree.errors import UsageError
from ringtree.gpu import Communicator, DeviceArray, StreamClock, device_count, lacks_nccl, nccl_version, unique_id
from ringtree.gpu import nccl as library
from ringtree.gpu.driver import Graph
from ringtree.gpu.memory import Owned, zeros
from ringtree.storage import storage_of

_WORDS = struct.Struct("<16q")  # a unique id as numbers, which ranks can share


class NcclArm:
    """One communicator of NCCL's, and how it is called."""

    def __init__(self, name: str) -> None:
        self.name, self._asked = name, parse(name)
        self._counts: WeakKeyDictionary[object, int] = WeakKeyDictionary()  # elements of what was bound
        self._plain: dict[int, Callable[[], None]] = {}  # a call of so many elements, not captured
        self._estimates: dict[int, float | None] = {}  # by elements

    def setup(self, setting: Setting) -> None:
        if setting.op == "avg" and setting.num_ranks & (setting.num_ranks - 1) and "float" in setting.dtype:
            raise UsageError(
                f"NCCL multiplies by 1/{setting.num_ranks} before it adds, so averages of {setting.num_ranks} ranks "
                "are not exact: use a power of two, or an integer dtype"
            )
        self._setting = setting
        prepared: tuple[OnGpu, bytes] = all_agree(
            setting, lambda: (OnGpu(setting), unique_id() if setting.rank == 0 else bytes(128))
        )
        self._gpu, meeting = prepared
        shared = [setting.share(word) for word in _WORDS.unpack(meeting)]
        self._comm = Communicator(_WORDS.pack(*shared), setting.num_ranks, setting.rank, self._gpu.device.stream)
        self.stream_clock: StreamClock = self._gpu.clock(self._comm.look)

    def make_buffers(self, count: int, num_buffers: int) -> list[Array]:
        return [as_array(self._make(count)) for _ in range(num_buffers)]

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        setting, given, taken = self._setting, as_device(source), as_device(result)
        count = min(len(given), len(taken))
        if setting.collective == "all_to_all":
            count //= setting.num_ranks
        call = self._comm.collective(
            setting.collective, given.address, taken.address, count, setting.dtype, setting.op, setting.factor, root
        )
        self._plain[count] = call
        if "graph" not in self._asked.options:
            self._counts[call] = count
            return call
        call()  # NCCL connects ranks in the first call that needs it, which is nothing for a graph
        self.stream_clock.wait()
        graph = self._gpu.device.capture(call)
        self._counts[graph] = count
        return graph.launch

    def executed(self, call: Callable[[], object]) -> dict[str, Any]:
        count = self._counts.get(getattr(call, "__self__", call))  # a graph's call is a method of it
        if count is not None and count not in self._estimates:
            self._estimates[count] = self._comm.estimate(self._plain[count])
        return {
            "backend": "nccl",
            "through": library.called(self._setting.collective),
            "version": nccl_version(),
            "device": self._gpu.device.name,
            "buffers": "+".join(sorted(self._asked.options - {"graph"})) or "ordinary",
            "graph": "graph" in self._asked.options,
            "estimated_seconds": None if count is None else self._estimates[count],
        }

    def teardown(self) -> None:
        self._gpu.device.synchronize()
        for made in list(self._counts):
            if isinstance(made, Graph):  # NCCL waits for the end of all that hold a call of the communicator
                made.close()
        self._comm.close()

    def _make(self, count: int) -> DeviceArray:
        device, patterns, dtype = self._gpu.device, self._gpu.patterns, storage_of(self._setting.dtype)
        if not self._asked.options & {"registered", "symmetric"}:
            return zeros(device, patterns, count, dtype)
        address, num_bytes = library.allocate(count * dtype.itemsize), count * dtype.itemsize
        device.clear(address, num_bytes)
        take_back = self._comm.register(address, num_bytes, "symmetric" in self._asked.options)
        return DeviceArray(patterns, dtype, address, count, Owned(address, partial(_give_back, take_back)))


def _give_back(take_back: Callable[[], None], address: int) -> None:
    take_back()
    library.free(address)


def _refuses(wish: Wish) -> str | None:
    return lacks_nccl() or why_not(
        wish.collective, wish.environment, nccl_version(), not wish.several_hosts, wish.num_ranks, device_count()
    )


KIND = ArmKind(
    name="nccl",
    heads=frozenset((HEAD,)),
    written=(*FORMS, "nccl+tuner=FILE"),
    accepts=lambda name, collective: bool(parse(name)),
    make=NcclArm,
    collectives=library.COLLECTIVES,
    boundaries=("cuda",),
    dtypes=library.DTYPES,
    ops=(*library.OPS, "premul_sum"),
    lacks=lacks_nccl,
    refuses=_refuses,
    environment=lambda name: parse(name).environment,
    without_effect=lambda environment: {} if lacks_nccl() else idle(environment, nccl_version()),
    device="cuda",
    threads=True,
    registered_buffers=True,
    start_seconds=0.5,
    library=True,
    rivals=True,
)
