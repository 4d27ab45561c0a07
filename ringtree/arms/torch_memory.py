"""The tensors of arms that are called through PyTorch: over the host's memory, or on the rank's GPU.

For: making buffers that the lab writes and checks, and getting their tensors back. Not for: groups (torch_group.py), or
calls.

On a GPU PyTorch works on the lab's stream, so one clock waits for everything of a rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringtree.arms.arm import Array, Setting
from ringtree.arms.on_gpu import OnGpu, as_array, as_device, stored
from ringtree.gpu import DeviceArray, StreamClock

if TYPE_CHECKING:
    import torch


class HostTensors:
    """Tensors that share their memory with NumPy's arrays."""

    stream_clock: StreamClock | None = None

    def __init__(self, setting: Setting) -> None:
        self._dtype = setting.dtype

    def make(self, count: int, num_buffers: int) -> list[Array]:
        """Returns arrays of zeros."""
        import torch

        return [torch.zeros(count, dtype=getattr(torch, self._dtype)).numpy() for _ in range(num_buffers)]

    def tensor(self, array: Array) -> torch.Tensor:
        """Returns the tensor of an array or of a slice of one."""
        import torch

        return torch.from_numpy(array)


class GpuTensors:
    """The same on a GPU."""

    def __init__(self, setting: Setting) -> None:
        import torch

        self._dtype, self._gpu = setting.dtype, OnGpu(setting)
        device = self._gpu.device
        torch.cuda.set_device(device.ordinal)
        torch.cuda.set_stream(torch.cuda.ExternalStream(device.stream))  # type: ignore[no-untyped-call]
        self.stream_clock: StreamClock | None = self._gpu.clock()

    def make(self, count: int, num_buffers: int) -> list[Array]:
        """As HostTensors.make."""
        import torch

        made = []
        for _ in range(num_buffers):
            tensor = torch.zeros(count, dtype=getattr(torch, self._dtype), device="cuda")
            array = DeviceArray(self._gpu.patterns, stored(self._dtype), tensor.data_ptr(), count, tensor)
            made.append(as_array(array))
        return made

    def tensor(self, array: Array) -> torch.Tensor:
        """As HostTensors.tensor."""
        part = as_device(array)
        whole: torch.Tensor = part.owner  # type: ignore[assignment]  # `make` has put it there
        return whole[part.start : part.start + len(part)]


def tensors_for(setting: Setting) -> HostTensors | GpuTensors:
    """Returns where the tensors of a setting lie."""
    return GpuTensors(setting) if setting.boundary == "cuda" else HostTensors(setting)
