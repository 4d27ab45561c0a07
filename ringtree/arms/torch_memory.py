"""The tensors of arms that are called through PyTorch: over the host's memory, or on the rank's GPU.

For: making buffers that the lab writes and checks, and getting their tensors back. Not for: those on a GPU
(torch_gpu_memory.py), groups (torch_group.py), or calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringtree.arms.arm import Array, Setting
from ringtree.storage import storage_of

if TYPE_CHECKING:  # a rank without a GPU needs nothing of what finds one
    import torch

    from ringtree.arms.torch_gpu_memory import GpuTensors
    from ringtree.gpu import StreamClock


class HostTensors:
    """Tensors that share their memory with NumPy's arrays."""

    stream_clock: StreamClock | None = None

    def __init__(self, setting: Setting) -> None:
        self._dtype = setting.dtype

    def make(self, count: int, num_buffers: int) -> list[Array]:
        """Returns arrays of zeros."""
        import torch

        as_numpy = getattr(torch, storage_of(self._dtype).name)
        zeros = [torch.zeros(count, dtype=getattr(torch, self._dtype)) for _ in range(num_buffers)]
        return [tensor.view(as_numpy).numpy() for tensor in zeros]

    def tensor(self, array: Array) -> torch.Tensor:
        """Returns the tensor of an array or of a slice of one."""
        import torch

        return torch.from_numpy(array).view(getattr(torch, self._dtype))


def tensors_for(setting: Setting) -> HostTensors | GpuTensors:
    """Returns where the tensors of a setting lie."""
    if setting.boundary != "cuda":
        return HostTensors(setting)
    from ringtree.arms.torch_gpu_memory import GpuTensors

    return GpuTensors(setting)
