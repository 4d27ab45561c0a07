"""What a GPU did in a step, one kernel or copy an event, and what their names say.

For: which events are a collective's, which are computing, and which are neither. Not for: asking for them (record.py).

Times are seconds of the host's monotonic clock.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

# By what the kernel's name contains: the longer before one that it contains. Older names put the kind elsewhere
# (ncclKernel_AllReduce_RING_LL_Sum_float, ncclAllReduceRingLLKernel_sum_f32), newer ones begin otherwise
# (ncclSymkDevKernel_…).
_KINDS = ("AllReduce", "ReduceScatter", "AllGather", "AlltoAll", "SendRecv", "Broadcast", "Reduce")
_LIBRARIES = re.compile(r"(?:void )?(?:nccl|rccl|mscclpp)(?!:)")  # "nccl:…" is the name of a range and no kernel
OTHER = "other"

# Which kind of kernel a collective of torch.distributed runs as.
KERNEL_OF = {
    "all_reduce": "AllReduce",
    "barrier": "AllReduce",
    "reduce_scatter": "ReduceScatter",
    "all_gather": "AllGather",
    "broadcast": "Broadcast",
    "reduce": "Reduce",
    "gather": "SendRecv",
    "scatter": "SendRecv",
    "all_to_all": "SendRecv",
    "send": "SendRecv",
    "recv": "SendRecv",
}


class DeviceEvent(NamedTuple):
    """A kernel, a copy or a memset."""

    name: str
    device: int
    stream: int
    begin: float
    end: float
    launched: float | None = None  # when the host did it; None: not known


Span = tuple[float, float]


# A step has thousands of events of some dozens of names, and is read in the job's own time: hence the caches.
@functools.lru_cache(maxsize=1 << 12)
def is_collective(name: str) -> bool:
    """Says whether it is a kernel of a library of collectives."""
    return _LIBRARIES.match(name) is not None


@functools.lru_cache(maxsize=1 << 12)
def kind_of_kernel(name: str) -> str:
    """Returns the kind of a collective's kernel, "other" where the name does not say (ncclDevKernel_Generic)."""
    lowered = name.lower()
    return next((kind for kind in _KINDS if kind.lower() in lowered), OTHER)


def fits(collective: str, name: str) -> bool:
    """Says whether a collective may run as the kernel of this name."""
    kind = kind_of_kernel(name)
    if collective == "all_to_all" and kind == "AlltoAll":
        return True
    return kind in (OTHER, KERNEL_OF.get(collective))


@functools.lru_cache(maxsize=1 << 12)
def is_copy_on_device(name: str) -> bool:
    """Says whether it is a copy from GPU memory to GPU memory, as copy engines do for NCCL, too."""
    return name.startswith("Memcpy") and ("DtoD" in name or "PtoP" in name)


@functools.lru_cache(maxsize=1 << 12)
def is_computing(name: str) -> bool:
    """Says whether a step has to do it whatever its collectives take: not for copies from and to the host, which wait
    for nothing and which nothing on the GPU waits for."""
    return is_copy_on_device(name) if name.startswith("Memcpy") else not is_collective(name)


def union(spans: Iterable[Span]) -> list[Span]:
    """Returns the same time as spans that do not touch, ascending."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif begin < end:
            found.append((begin, end))
    return found


def length(spans: Iterable[Span]) -> float:
    """Returns the seconds of spans that do not overlap."""
    return sum(end - begin for begin, end in spans)
