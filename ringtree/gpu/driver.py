"""The part of CUDA's driver that NCCL's callers need: a device with its memory, one stream, events, graphs, kernels.

For: typed calls that raise. Not for: collectives (nccl.py), test data (patterns.py).

A device has its primary context, which PyTorch uses too, and one stream, on which everything of a rank happens. A
Device belongs to the thread that made it.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_size_t, c_ubyte, c_uint, c_ulonglong, c_void_p
from typing import Any

from ringtree.errors import RingtreeError
from ringtree.gpu.libraries import DRIVER, load

_OUT = POINTER(c_void_p)
_NOT_READY = 600
_NON_BLOCKING, _CAPTURE_THREAD_LOCAL = 1, 1
_LOOK_EVERY = 2048  # polls of a stream between two looks at the clock and at what else may have gone wrong
_PROTOTYPES = {
    "cuInit": (c_uint,),
    "cuGetErrorString": (c_int, POINTER(c_char_p)),
    "cuDriverGetVersion": (POINTER(c_int),),
    "cuDeviceGetCount": (POINTER(c_int),),
    "cuDeviceGet": (POINTER(c_int), c_int),
    "cuDeviceGetName": (c_char_p, c_int, c_int),
    "cuDeviceTotalMem_v2": (POINTER(c_size_t), c_int),
    "cuDevicePrimaryCtxRetain": (_OUT, c_int),
    "cuCtxSetCurrent": (c_void_p,),
    "cuCtxSynchronize": (),
    "cuMemAlloc_v2": (_OUT, c_size_t),
    "cuMemFree_v2": (c_void_p,),
    "cuMemcpyHtoD_v2": (c_void_p, c_void_p, c_size_t),
    "cuMemcpyDtoH_v2": (c_void_p, c_void_p, c_size_t),
    "cuMemsetD8_v2": (c_void_p, c_ubyte, c_size_t),
    "cuMemcpyDtoDAsync_v2": (c_void_p, c_void_p, c_size_t, c_void_p),
    "cuStreamCreate": (_OUT, c_uint),
    "cuStreamQuery": (c_void_p,),
    "cuStreamSynchronize": (c_void_p,),
    "cuStreamBeginCapture_v2": (c_void_p, c_int),
    "cuStreamEndCapture": (c_void_p, _OUT),
    "cuGraphInstantiateWithFlags": (_OUT, c_void_p, c_ulonglong),
    "cuGraphLaunch": (c_void_p, c_void_p),
    "cuGraphDestroy": (c_void_p,),
    "cuGraphExecDestroy": (c_void_p,),
    "cuEventCreate": (_OUT, c_uint),
    "cuEventDestroy_v2": (c_void_p,),
    "cuEventRecord": (c_void_p, c_void_p),
    "cuEventElapsedTime": (POINTER(c_float), c_void_p, c_void_p),
    "cuModuleLoadData": (_OUT, c_char_p),
    "cuModuleGetFunction": (_OUT, c_void_p, c_char_p),
    "cuLaunchKernel": (c_void_p, *(c_uint,) * 7, c_void_p, POINTER(c_void_p), c_void_p),
}


class GpuError(RingtreeError):
    """A call of the driver that failed; the message says which and what the driver says of it."""


def device_count() -> int:
    """Returns the GPUs that are visible. Raises NotHere or GpuError."""
    number = c_int()
    _call("cuInit", 0)
    _call("cuDeviceGetCount", byref(number))
    return number.value


def driver_version() -> str:
    """Returns the newest CUDA that the driver has, "13.0". Raises NotHere or GpuError."""
    number = c_int()
    _call("cuDriverGetVersion", byref(number))
    return f"{number.value // 1000}.{number.value % 1000 // 10}"


def own_gpu(rank: int, local_rank: int | None) -> int:
    """Returns which GPU a rank uses: the one with its number among the ranks of its host, or, where these are more than
    the GPUs, one that it shares. Raises as device_count()."""
    return (rank if local_rank is None else local_rank) % max(1, device_count())


def device_memory(ordinal: int = 0) -> int:
    """Returns the bytes of memory of a GPU, free or not; makes no context."""
    handle, size = c_int(), c_size_t()
    _call("cuInit", 0)
    _call("cuDeviceGet", byref(handle), ordinal)
    _call("cuDeviceTotalMem_v2", byref(size), handle)
    return size.value


def device_name(ordinal: int) -> str:
    """Returns what the driver calls a GPU."""
    handle, name = c_int(), ctypes.create_string_buffer(256)
    _call("cuDeviceGet", byref(handle), ordinal)
    _call("cuDeviceGetName", name, len(name), handle)
    return name.value.decode(errors="replace")


class Device:
    """One GPU in this process. `stream`: where all work goes, as cudaStream_t."""

    def __init__(self, ordinal: int) -> None:
        count = device_count()
        if not 0 <= ordinal < count:
            raise GpuError(f"there is no GPU {ordinal}: {count} visible")
        self.ordinal, self.name, handle = ordinal, device_name(ordinal), c_int()
        _call("cuDeviceGet", byref(handle), ordinal)
        context = _made("cuDevicePrimaryCtxRetain", handle)
        _call("cuCtxSetCurrent", context)
        self.stream = _made("cuStreamCreate", _NON_BLOCKING)

    def allocate(self, num_bytes: int) -> int:
        """Returns the address of memory that `free` gives back, filled with zeros."""
        address = _made("cuMemAlloc_v2", max(1, num_bytes))
        self.clear(address, num_bytes)
        return address

    def free(self, address: int) -> None:
        """Gives memory back."""
        _call("cuMemFree_v2", address)

    def clear(self, address: int, num_bytes: int) -> None:
        """Writes zeros."""
        if num_bytes:
            _call("cuMemsetD8_v2", address, 0, num_bytes)
            _call("cuCtxSynchronize")

    def upload(self, address: int, host: int, num_bytes: int) -> None:
        """Copies from the host's memory and waits for it."""
        if num_bytes:
            _call("cuMemcpyHtoD_v2", address, host, num_bytes)
            _call("cuCtxSynchronize")

    def download(self, host: int, address: int, num_bytes: int) -> None:
        """Waits for the stream and copies to the host's memory."""
        self.synchronize()
        if num_bytes:
            _call("cuMemcpyDtoH_v2", host, address, num_bytes)

    def copy(self, to: int, source: int, num_bytes: int) -> None:
        """Puts a copy within the device on the stream."""
        if num_bytes:
            _call("cuMemcpyDtoDAsync_v2", to, source, num_bytes, self.stream)

    def synchronize(self) -> None:
        """Waits until all that is on the stream is done."""
        _call("cuStreamSynchronize", self.stream)

    def kernels(self, text: bytes, names: list[str]) -> dict[str, int]:
        """Returns kernels of a program in PTX."""
        module = _made("cuModuleLoadData", text + b"\0")
        return {name: _made("cuModuleGetFunction", module, name.encode()) for name in names}

    def launch(self, kernel: int, blocks: int, threads: int, arguments: list[Any]) -> None:
        """Puts a kernel on the stream; `arguments`: ctypes values of its parameters' types."""
        pointers = (c_void_p * len(arguments))(*(ctypes.addressof(argument) for argument in arguments))
        _call("cuLaunchKernel", kernel, blocks, 1, 1, threads, 1, 1, 0, self.stream, pointers, None)

    def capture(self, work: Callable[[], object]) -> Graph:
        """Returns a graph of what `work` puts on the stream; nothing of it runs."""
        _call("cuStreamBeginCapture_v2", self.stream, _CAPTURE_THREAD_LOCAL)
        try:
            work()
        finally:
            captured = c_void_p()
            _call("cuStreamEndCapture", self.stream, byref(captured))
        try:
            return Graph(_made("cuGraphInstantiateWithFlags", captured, 0), self.stream)
        finally:
            _call("cuGraphDestroy", captured)


class Graph:
    """A captured graph, ready to be launched on the device's stream again and again."""

    def __init__(self, handle: int, stream: int) -> None:
        self._handle, self._launch = c_void_p(handle), _library().cuGraphLaunch
        self._arguments = self._handle, c_void_p(stream)

    def launch(self) -> None:
        """Puts the graph on the stream."""
        code = self._launch(*self._arguments)
        if code:
            raise _error("cuGraphLaunch", code)

    def close(self) -> None:
        """Gives it back; it can't be launched any more."""
        if self._handle:
            _library().cuGraphExecDestroy(self._handle)
            self._handle.value = None

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.close()


class StreamClock:
    """The time between two events on the device's stream, and the wait until all before the second is done.

    `timeout`: seconds after which a wait is given up. `watch` is called now and then while waiting and raises what it
    finds, so that what the library noticed itself is said and not waited for.
    """

    def __init__(self, device: Device, timeout: float, watch: Callable[[], None] = lambda: None) -> None:
        library = _library()
        self._begin, self._end = (c_void_p(_made("cuEventCreate", 0)) for _ in range(2))
        self._stream, self._timeout, self._watch = c_void_p(device.stream), timeout, watch
        self._record, self._query = library.cuEventRecord, library.cuStreamQuery

    def start(self) -> None:
        """Puts the first event on the stream."""
        _check("cuEventRecord", self._record(self._begin, self._stream))

    def wait(self) -> None:
        """Puts the second event on the stream and waits for it, polling, so that nothing of the wait is a sleep."""
        _check("cuEventRecord", self._record(self._end, self._stream))
        query, stream, polls, deadline = self._query, self._stream, 0, 0.0
        while (code := query(stream)) == _NOT_READY:
            polls += 1
            if polls % _LOOK_EVERY == 0:
                self._watch()
                deadline = deadline or time.monotonic() + self._timeout
                if time.monotonic() > deadline:
                    raise GpuError(f"no result on the GPU after {self._timeout:.0f} s")
        _check("cuStreamQuery", code)

    def seconds(self) -> float:
        """Returns the time between the two events of the last wait."""
        milliseconds = c_float()
        _call("cuEventElapsedTime", byref(milliseconds), self._begin, self._end)
        return milliseconds.value / 1000


def _library() -> ctypes.CDLL:
    return load(DRIVER, _PROTOTYPES)


def _made(function: str, *arguments: Any) -> int:
    """What a function hands back through its first argument."""
    made = c_void_p()
    _call(function, byref(made), *arguments)
    return made.value or 0


def _call(function: str, *arguments: Any) -> None:
    _check(function, getattr(_library(), function)(*arguments))


def _check(function: str, code: int) -> None:
    if code:
        raise _error(function, code)


def _error(function: str, code: int) -> GpuError:
    text = c_char_p()
    _library().cuGetErrorString(code, byref(text))
    return GpuError(f"{function} failed: {(text.value or b'unknown error').decode(errors='replace')} ({code})")
