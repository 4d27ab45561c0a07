"""What NVIDIA's tools and driver say, by the readers of logs.

For: names, versions and links of GPUs, for the probes that need them. Not for: verdicts (probes/), calling the driver
(ringtree.gpu).
"""

from __future__ import annotations

from typing import Any

from ringtree.doctor import pci
from ringtree.doctor.host import Host, NotKnown, documents_of

SMI = "nvidia-smi"
_NOTHING: dict[str, Any] = {"devices": [], "driver": None, "cuda": None}
# Ways from one device to another, the nearest first, as `nvidia-smi topo -m` names them.
WAYS = ("PIX", "PXB", "PXN", "PHB", "NODE", "SYS", "SOC")


def names(host: Host) -> list[str]:
    """Returns the GPUs' names in full. Raises NotKnown."""
    return [name for found in documents_of(host.run([SMI, "-L"]), "nvidia_gpus") for name in found["devices"]]


def has_gpus(host: Host) -> bool:
    """Returns whether the driver or the bus has a GPU: some sandboxes show one without the other."""
    try:
        return bool(pci.gpus(host) or names(host))
    except NotKnown:
        return False


def num_instances(host: Host) -> int:
    """Returns how many parts GPUs are divided into (MIG), 0 for whole ones. Raises NotKnown."""
    return sum(line.split()[:1] == ["MIG"] for line in host.run([SMI, "-L"]).splitlines())


def versions(host: Host) -> dict[str, str | None]:
    """Returns "driver", and "cuda": the newest that the driver has. Raises NotKnown."""
    found = documents_of(host.run([SMI]), "nvidia_gpus")
    return {key: (found[0] if found else _NOTHING)[key] for key in ("driver", "cuda")}


def matrix(host: Host) -> dict[str, Any]:
    """Returns who reaches whom how, among GPUs and NICs. Raises NotKnown."""
    found = documents_of(host.run([SMI, "topo", "-m"]), "topology_matrix")
    if not found:
        raise NotKnown(f"{SMI} topo -m printed no matrix")
    return found[0]


def running(host: Host) -> list[str]:
    """Returns the programs that compute on GPUs now, with their pids. Raises NotKnown."""
    said = host.run([SMI, "--query-compute-apps=pid,process_name", "--format=csv,noheader"])
    lines = [line.split(",", 1) for line in said.splitlines() if line.partition(",")[0].strip().isdigit()]
    return [f"{words[-1].strip()} ({words[0].strip()})" for words in lines]
