"""What all arms on GPUs have in common: which GPU, where their buffers lie, and how the end of a call is awaited.

For: NCCL called directly and through PyTorch (nccl.py, torch_nccl.py). Not for: making calls.

Their boundary is "cuda": Python puts the call on a stream and the result lies on the GPU. A call returns when it is on
the stream; after a batch the stream clock waits for all of it. So the host's clock has what a program waits that needs
the result, and two events on the stream have what the GPU took.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ringtree.arms.arm import Array, Setting
from ringtree.gpu import Device, DeviceArray, GpuError, StreamClock, own_gpu
from ringtree.gpu.patterns import Patterns, on_device


class OnGpu:
    """A rank's GPU."""

    def __init__(self, setting: Setting) -> None:
        self.patterns: Patterns = on_device(own_gpu(setting.rank, setting.local_rank))
        self.device: Device = self.patterns.device
        self.timeout = setting.timeout

    def clock(self, watch: Callable[[], None] = lambda: None) -> StreamClock:
        """Returns a clock of the device's stream."""
        return StreamClock(self.device, self.timeout, watch)


def as_array(made: DeviceArray) -> Array:
    """The lab hands buffers on and slices them, and exact data knows both kinds, so both go by one type."""
    return cast(Array, made)


def as_device(array: Array) -> DeviceArray:
    """A buffer that came of `make_buffers`."""
    assert isinstance(array, DeviceArray), "buffers of an arm on a GPU are made by it"
    return array


def all_agree(setting: Setting, prepare: Callable[[], Any]) -> Any:
    """Returns what `prepare` gives, if it fails on no rank: who meets must not wait for one that can't. Raises what it
    raised here, or GpuError."""
    failed: Exception | None = None
    prepared = None
    try:
        prepared = prepare()
    except Exception as raised:  # any failure, which the others must hear of before it is told
        failed = raised
    if setting.agreed(failed is None):
        return prepared
    raise failed or GpuError("another rank can't use its GPU")
