"""GPUDirect: what lets GPUs and NICs reach each other's memory, and what sends them round by the processor.

For: nvidia_peermem, dma-buf, IOMMU, ACS. Not for: how near they are (topology.py), NCCL's settings (variables.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from ringtree.doctor import pci
from ringtree.doctor.host import Host, NotKnown
from ringtree.doctor.probes.gpus import module_line
from ringtree.doctor.probes.infiniband import CLASS
from ringtree.doctor.records import Fact, not_known, ok, warn

_DMA_BUF_SINCE = (5, 12)  # Linux; NVIDIA's open kernel modules only
_THROUGH_HOST = "so what goes to other hosts is copied through host memory"


def rdma(host: Host) -> Iterator[Fact]:
    """GPUDirect RDMA: a module, or dma-buf."""
    if not pci.gpus(host) or not host.names(CLASS):
        return
    modules = {line.partition(" ")[0] for line in host.text("proc/modules").splitlines()}
    source = "/proc/modules, /proc/driver/nvidia/version"
    peer = sorted(modules & {"nvidia_peermem", "nv_peer_mem"})
    open_module = "Open Kernel Module" in module_line(host)
    found = re.match(r"(\d+)\.(\d+)", host.text("proc/sys/kernel/osrelease"))
    recent = found is not None and (int(found[1]), int(found[2])) >= _DMA_BUF_SINCE
    if peer:
        yield ok("GPUDirect RDMA", peer[0], source)
    elif open_module and recent:
        yield ok("GPUDirect RDMA", "dma-buf (open kernel module)", source)
    else:
        why = (
            f"no module lets NICs read GPUs' memory, {_THROUGH_HOST}: modprobe nvidia_peermem, or NVIDIA's open kernel "
            "module on Linux 5.12 or newer, whose dma-buf NCCL uses by itself"
        )
        yield warn("GPUDirect RDMA", "neither nvidia_peermem nor dma-buf", source, why)


def iommu(host: Host) -> Iterator[Fact]:
    """Whether the IOMMU translates what GPUs and RDMA devices address."""
    devices = _devices(host)
    if not devices or not pci.gpus(host):
        return
    source = f"/{pci.DEVICES}/*/iommu_group/type"
    kinds = {one.address: one.iommu_type for one in devices}
    translated = [address for address, kind in kinds.items() if kind not in (None, "identity")]
    if translated:
        why = (
            "packets between GPUs and NICs go up to the processor to be translated, which is slow or, for GPUDirect, "
            "fails: boot with iommu=pt (intel_iommu=on or amd_iommu=on may stay), or turn the IOMMU off in the BIOS"
        )
        value = f"translates ({kinds[translated[0]]}) for {len(translated)} of {len(devices)} devices"
        yield warn("IOMMU", value, source, why)
    else:
        yield ok("IOMMU", "passes through" if any(kinds.values()) else "off, or not visible here", source)


def acs(host: Host) -> Iterator[Fact]:
    """Whether bridges between GPUs, or a GPU and an RDMA device, send their packets up."""
    gpus, devices = pci.gpus(host), _devices(host)
    pairs = [(a, b) for a, b in combinations(devices, 2) if a in gpus or b in gpus]
    bridges = list(dict.fromkeys(bridge for a, b in pairs for bridge in _between(a, b)))
    source = f"/{pci.DEVICES}/*/config"
    if not bridges:
        return
    try:
        redirecting = pci.redirecting(host, bridges)
    except NotKnown as because:
        yield not_known("ACS", str(because), source)
        return
    if redirecting:
        why = (
            "packets between two devices below one PCIe switch go up to the processor and back: turn ACS off in the "
            f"BIOS, or for this boot: setpci -s {redirecting[0]} ECAP_ACS+6.w=0000 (not in virtual machines, whose "
            "isolation it is)"
        )
        value = f"redirects at {', '.join(redirecting[:3])}" + (
            f" and {len(redirecting) - 3} more" if len(redirecting) > 3 else ""
        )
        yield warn("ACS", value, source, why)
    else:
        yield ok("ACS", f"does not redirect at the {len(bridges)} bridges between them", source)


def _devices(host: Host) -> list[pci.PciDevice]:
    """GPUs and RDMA devices, each once."""
    nics = [pci.at(host.root / CLASS / name / "device") for name in host.names(CLASS)]
    return list({one.address: one for one in (*pci.gpus(host), *nics)}.values())


def _between(one: pci.PciDevice, other: pci.PciDevice) -> tuple[str, ...]:
    """The bridges that a packet passes which need not go up to the processor; none where it has to anyway."""
    shared = 0
    while shared < min(len(one.bridges), len(other.bridges)) and one.bridges[shared] == other.bridges[shared]:
        shared += 1
    return one.bridges[shared:] + other.bridges[shared:] if shared else ()
