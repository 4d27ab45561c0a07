"""What a bench says of the machine: the name of the host, and what ranks run on.

For: text and JSON alike. Not for: provenance (ringtree.measure.environment).
"""

from __future__ import annotations

import platform

from ringtree.comm.cpuinfo import cpu_model
from ringtree.gpu.driver import device_name as gpu_name


def host_name() -> str:
    """Returns the name of this host without its domain."""
    return platform.node().split(".")[0] or "localhost"


def device_of(on_gpu: bool) -> tuple[str, str]:
    """Returns what ranks run on, "cpu" or "gpu", and its name: the processor's, or the first GPU's."""
    return ("gpu", gpu_name(0)) if on_gpu else ("cpu", cpu_model() or platform.machine())
