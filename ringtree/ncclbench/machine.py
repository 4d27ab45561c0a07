"""What a bench says of the machine: the name of the host, and what ranks run on.

For: text and JSON alike. Not for: provenance (ringtree.lab.environment).
"""

from __future__ import annotations

import platform

from ringtree.cpuinfo import cpu_model


def host_name() -> str:
    """Returns the name of this host without its domain."""
    return platform.node().split(".")[0] or "localhost"


def device_name() -> str:
    """Returns the processor's name, or the architecture where nothing tells it."""
    return cpu_model() or platform.machine()
