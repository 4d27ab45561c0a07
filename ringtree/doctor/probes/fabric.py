"""The fabric manager, without which GPUs behind NVSwitches can't be used.

For: whether it runs. Not for: the links that it makes (topology.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.doctor import pci
from ringtree.doctor.host import Host
from ringtree.doctor.probes.kernel import signs_of_container
from ringtree.doctor.records import Fact, not_known, ok, warn

_NAME = "nv-fabricmanage"  # the kernel keeps 15 letters


def fabric_manager(host: Host) -> Iterator[Fact]:
    """Whether it runs, where there are NVSwitches."""
    if not pci.nvswitches(host):
        return
    source = "/proc/PID/comm"
    if any(host.text(f"proc/{pid}/comm") == _NAME for pid in host.names("proc") if pid.isdigit()):
        yield ok("fabric manager", "runs", source)
    elif signs_of_container(host):
        yield not_known("fabric manager", "it runs outside of this container, if it does", source)
    else:
        why = (
            "GPUs behind NVSwitches start without NVLink or not at all (CUDA error 802): systemctl start "
            "nvidia-fabricmanager, of the driver's version"
        )
        yield warn("fabric manager", "does not run", source, why)
