"""What a bench says of the machine: the name of the host, and what ranks run on.

For: text and JSON alike. Not for: provenance (ringtree.measure.environment).
"""

from __future__ import annotations

import platform
from dataclasses import dataclass

from ringtree.comm.cpuinfo import cpu_model
from ringtree.gpu.driver import device_name as gpu_name
from ringtree.gpu.driver import own_gpu


def host_name() -> str:
    """Returns the name of this host without its domain."""
    return platform.node().split(".")[0] or "localhost"


@dataclass(frozen=True)
class RankDevice:
    """What a rank runs on. `kind`: "cpu" or "gpu"; `number`: of the GPU, which ranks may share, or the rank's own."""

    kind: str
    number: int
    name: str


def device_of(rank: int, on_gpu: bool) -> RankDevice:
    """Returns what a rank of this host runs on."""
    if on_gpu:
        number = own_gpu(rank, None)
        return RankDevice("gpu", number, gpu_name(number))
    return RankDevice("cpu", rank, cpu_model() or platform.machine())
