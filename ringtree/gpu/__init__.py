"""NVIDIA's GPUs and NCCL, called directly: libcuda and libnccl by ctypes, nothing to build and nothing to install.

For: whatever runs NCCL without PyTorch between: devices, memory, streams, graphs, communicators, and test data that is
written and checked on the device. Not for: NCCL's facts by version (ringtree.nccl), arms (ringtree.arms), timing.

Why ctypes: the two libraries have stable C interfaces and are there wherever anything of this can run, the driver's own
and the one that PyTorch or pip brought; nccl4py and cuda-bindings would be two more packages with versions of their
own. All of CUDA that is needed is in the driver's library, so no CUDA runtime is looked for.
"""

from ringtree.gpu.driver import Device, GpuError, StreamClock, device_count, own_gpu
from ringtree.gpu.libraries import lacks_gpu, lacks_nccl
from ringtree.gpu.memory import DeviceArray
from ringtree.gpu.nccl import Communicator, NcclError, nccl_version, unique_id

__all__ = [
    "Communicator",
    "Device",
    "DeviceArray",
    "GpuError",
    "NcclError",
    "StreamClock",
    "device_count",
    "lacks_gpu",
    "lacks_nccl",
    "nccl_version",
    "own_gpu",
    "unique_id",
]
