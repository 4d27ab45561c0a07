"""The tensors of arms that are called through PyTorch, on the rank's GPU.

For: what torch_memory.py does for the host's memory. Not for: clocks or memory without PyTorch (on_gpu.py).

PyTorch works on the lab's stream, so one clock waits for everything of a rank.
"""

from __future__ import annotations

import torch

from ringtree.arms.arm import Array, Setting
from ringtree.arms.on_gpu import OnGpu, as_array, as_device
from ringtree.gpu import DeviceArray, StreamClock
from ringtree.storage import storage_of


class GpuTensors:
    """Tensors whose memory the lab writes and checks on the device."""

    def __init__(self, setting: Setting) -> None:
        self._dtype, self._gpu = setting.dtype, OnGpu(setting)
        device = self._gpu.device
        torch.cuda.set_device(device.ordinal)
        torch.cuda.set_stream(torch.cuda.ExternalStream(device.stream))  # type: ignore[no-untyped-call]
        self.stream_clock: StreamClock | None = self._gpu.clock()

    def make(self, count: int, num_buffers: int) -> list[Array]:
        """As HostTensors.make."""
        made = []
        for _ in range(num_buffers):
            tensor = torch.zeros(count, dtype=getattr(torch, self._dtype), device="cuda")
            array = DeviceArray(self._gpu.patterns, storage_of(self._dtype), tensor.data_ptr(), count, tensor)
            made.append(as_array(array))
        return made

    def tensor(self, array: Array) -> torch.Tensor:
        """As HostTensors.tensor."""
        part = as_device(array)
        whole: torch.Tensor = part.owner  # type: ignore[assignment]  # `make` has put it there
        return whole[part.start : part.start + len(part)]
