"""The GPU's own record of what it ran, from its driver (CUPTI) by PyTorch's profiler (Kineto).

For: start, stop, and the events between. Not for: which steps (steps.py), nor what is made of them (times.py).

Kernels, copies and the host's launches alone are asked for, no operators: a profiler of operators makes a step's host
several times slower, this one adds a microsecond or two to a launch. PyTorch's functions are those below
torch.profiler, which reads every event into Python objects of its own before it gives any.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Any

from ringtree.joblog.on_gpu.events import DeviceEvent, is_collective, is_copy_on_device

OWN_PROFILER = "the job runs a profiler of its own, and there can be one only"
_NANOSECOND = 1e-9
# Kineto's names of events on the GPU and on the host; what else there is (ranges, waits) is none of the GPU's work.
_WORK = frozenset(("kernel", "gpu_memcpy", "gpu_memset"))
_LAUNCHES = frozenset(("cuda_runtime", "cuda_driver"))
_NO_WORK = ("Context Sync", "Stream Sync", "Event Sync", "Stream Wait Event", "nccl:")


class NoRecordError(Exception):
    """The record can't be had; the message says why."""


class BusyError(NoRecordError):
    """Not now, maybe later."""


class DeviceRecord:
    """One record at a time, started and stopped by one thread. `activity`: ProfilerActivity's name."""

    def __init__(self, activity: str = "CUDA") -> None:
        self._activity = activity
        self._thread: int | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    def start(self) -> None:
        """Raises NoRecordError."""
        from torch._C import _autograd, _profiler

        activity = getattr(_profiler.ProfilerActivity, self._activity)
        if activity not in _autograd._supported_activities():
            raise NoRecordError("this PyTorch was built without CUPTI")
        if _autograd._profiler_enabled():
            raise BusyError(OWN_PROFILER)
        config = _profiler.ProfilerConfig(
            _profiler.ProfilerState.KINETO, False, False, False, False, False, _profiler._ExperimentalConfig()
        )
        try:
            _autograd._prepare_profiler(config, {activity})
            _autograd._enable_profiler(config, {activity})
        except RuntimeError as error:
            raise NoRecordError(f"PyTorch's profiler did not start: {_first_line(error)}") from error
        self._thread = threading.get_ident()

    def stop(self) -> list[DeviceEvent]:
        """Returns what ran since; the caller has waited for the GPU. Raises NoRecordError."""
        from torch._C import _autograd

        thread, self._thread = self._thread, None
        if thread != threading.get_ident():
            raise NoRecordError("the step ended in another thread than it began in")
        try:
            result = _autograd._disable_profiler()
        except RuntimeError as error:
            raise NoRecordError(f"PyTorch's profiler did not stop: {_first_line(error)}") from error
        return read_events(result.events(), _ahead_ns())


def read_events(events: Iterable[Any], ahead_ns: int) -> list[DeviceEvent]:
    """Returns the GPU's work among Kineto's events, with the launch of each collective's kernel and of each copy.
    `ahead_ns`: what Kineto's clock, the wall's, is ahead of the monotonic one."""
    launches: dict[int, int] = {}
    work = []
    for event in events:
        kind = _kind(event)
        if kind in _WORK:
            work.append(event)
        elif kind in _LAUNCHES:
            launches[event.correlation_id()] = event.start_ns()
    found = []
    for event in work:
        name, device, stream = event.name(), event.device_index(), event.device_resource_id()
        begin = event.start_ns() - ahead_ns  # before it is a float, which has no nanoseconds of this century
        end = begin + event.duration_ns()
        launched = None
        if is_collective(name) or is_copy_on_device(name):
            at = launches.get(event.correlation_id())
            launched = None if at is None else (at - ahead_ns) * _NANOSECOND
        found.append(DeviceEvent(name, device, stream, begin * _NANOSECOND, end * _NANOSECOND, launched))
    return found


def _kind(event: Any) -> str:
    """Returns Kineto's name of the kind of event. Older PyTorch does not say it, or by a number; then all that is the
    host's is taken for a launch, whose correlation tells, and all that is the GPU's for work."""
    said = getattr(event, "activity_type", int)()
    if isinstance(said, str):
        return said
    if event.device_type().name == "CPU":
        return "cuda_runtime"
    return "" if event.name().startswith(_NO_WORK) else "kernel"


def _ahead_ns() -> int:
    """Of several readings of the wall clock's lead, the one that took least: others may have been interrupted."""
    tried = []
    for _ in range(5):
        before, wall, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        tried.append((after - before, wall - (before + after) // 2))
    return min(tried)[1]


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
