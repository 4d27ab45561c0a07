"""How GPUs reach each other, the NICs and the cores that serve them.

For: links, as `nvidia-smi topo -m` has them, and NUMA nodes. Not for: rates that follow (ringtree.hardware), what
permits GPUs and NICs to talk directly (gdr.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ringtree.doctor import nvidia, pci
from ringtree.doctor.host import Host, NotKnown
from ringtree.doctor.probes.infiniband import CLASS
from ringtree.doctor.ranges import format_ranges, parse_ranges
from ringtree.doctor.records import Fact, fail, not_known, ok, told, warn
from ringtree.hardware import match_gpu

_SOURCE = "nvidia-smi topo -m"
_NVLINK = ("NV", "C2C")
_FAR_FOR_GDR = ("PHB", "NODE", "SYS", "SOC")  # NCCL's own limit is PXB (NCCL_NET_GDR_LEVEL)


def links(host: Host) -> Iterator[Fact]:
    """Between GPUs: NVLink or not, as many links as the GPU has."""
    matrix = _matrix(host)
    if matrix is None:
        return
    gpus = matrix["gpus"]
    pairs = {(a, b): matrix["links"].get(a, {}).get(b) or "?" for a in gpus for b in gpus if a < b}
    kinds = Counter(pairs.values())
    value = ", ".join(f"{kind} between {number} pairs" for kind, number in kinds.most_common())
    joined = [pair for pair, kind in pairs.items() if kind.startswith(_NVLINK)]
    apart = [gpu for gpu in gpus if gpu not in _reached(gpus, joined)]
    if not pairs:
        yield told("links between GPUs", "one GPU", _SOURCE)
    elif joined and apart:
        why = (
            f"no NVLink leads from {gpus[0]} to {', '.join(apart)}, not even by way of others, so rings over all GPUs "
            "go at the rate of PCIe there: nvidia-smi nvlink --status, and the fabric manager"
        )
        yield warn("links between GPUs", value, _SOURCE, why)
    elif not joined and any(kind in ("SYS", "SOC") for kind in kinds):
        why = (
            "some pairs reach each other through both processors: bind ranks so that neighbours in the ring share a "
            "processor, or use the GPUs of one"
        )
        yield warn("links between GPUs", value, _SOURCE, why)
    else:
        yield ok("links between GPUs", value, _SOURCE)
    if joined:
        yield from _all_links(host, gpus, pairs)


def cores(host: Host) -> Iterator[Fact]:
    """Whether this process may run on cores near each GPU."""
    matrix = _matrix(host)
    if matrix is None:
        return
    near = {gpu: parse_ranges(matrix["cpu_affinity"].get(gpu, "")) for gpu in matrix["gpus"]}
    far = [gpu for gpu, cells in near.items() if cells and not cells & set(host.affinity)]
    if far:
        why = (
            f"the ranks of {', '.join(far)} run on another processor than their GPU's, so each launch and copy crosses "
            "the link between processors: widen the mask, or bind each rank to its GPU's cores "
            f"({format_ranges(near[far[0]])})"
        )
        yield fail("cores near GPUs", f"none allowed for {', '.join(far)}", f"{_SOURCE}, affinity mask", why)
    elif any(near.values()):
        yield ok("cores near GPUs", "some are allowed for each", f"{_SOURCE}, affinity mask")


def nics(host: Host) -> Iterator[Fact]:
    """The way from each GPU to its nearest NIC."""
    matrix = _matrix(host)
    if matrix is None or not matrix["nics"]:
        return
    nearest = {}
    for gpu in matrix["gpus"]:
        ways = {nic: matrix["links"].get(gpu, {}).get(nic) for nic in matrix["nics"]}
        reached = [nic for nic in ways if ways[nic] in nvidia.WAYS]
        if reached:
            best = min(reached, key=lambda nic: nvidia.WAYS.index(ways[nic] or ""))
            nearest[gpu] = (matrix["nic_names"].get(best, best), ways[best])
    words = ", ".join(f"{gpu}-{nic} {way}" for gpu, (nic, way) in nearest.items())
    far = {gpu: way for gpu, (_, way) in nearest.items() if way in _FAR_FOR_GDR}
    if far:
        gpu, way = next(iter(far.items()))
        why = (
            f"{gpu} reaches no NIC below its own PCIe switch ({way}), so NCCL does not use GPUDirect RDMA there unless "
            "NCCL_NET_GDR_LEVEL allows it; in a virtual machine the provider's NCCL_TOPO_FILE tells what is near"
        )
        yield warn("NICs near GPUs", words, _SOURCE, why)
    elif nearest:
        yield ok("NICs near GPUs", words, _SOURCE)


def numa(host: Host) -> Iterator[Fact]:
    """NUMA nodes of GPUs against those of RDMA devices, which needs no driver."""
    of_gpus = {gpu.address: gpu.numa for gpu in pci.gpus(host)}
    of_nics = {nic: pci.at(host.root / CLASS / nic / "device").numa for nic in host.names(CLASS)}
    nodes = {node for node in of_nics.values() if node is not None}
    source = "numa_node of the devices"
    if not of_gpus or not nodes or None in of_gpus.values():
        return
    alone = [address for address, node in of_gpus.items() if node not in nodes]
    if alone:
        why = (
            "what these GPUs send to other hosts crosses the link between processors: use GPUs and NICs of one NUMA "
            "node, or let NCCL reach a NIC through a neighbour by NVLink (PXN)"
        )
        value = f"GPU {', '.join(alone)} on node {of_gpus[alone[0]]}, RDMA devices on {format_ranges(nodes)}"
        yield warn("NUMA nodes of GPUs and NICs", value, source, why)
    else:
        yield ok("NUMA nodes of GPUs and NICs", "each GPU has an RDMA device on its own", source)


def _reached(gpus: list[str], joined: list[tuple[str, str]]) -> set[str]:
    """The GPUs that NVLinks reach from the first: in a cube mesh not every pair is joined, and rings go round."""
    reached, before = set(gpus[:1]), 0
    while len(reached) > before:
        before = len(reached)
        reached |= {gpu for pair in joined if reached & set(pair) for gpu in pair}
    return reached


def _all_links(host: Host, gpus: list[str], pairs: dict[tuple[str, str], str]) -> Iterator[Fact]:
    """NVLinks of one GPU against what the catalogue has: of each pair all, over a switch; together all, in a mesh."""
    gpu = next((match.gpu for name in nvidia.names(host) if (match := match_gpu(name)).gpu is not None), None)
    if gpu is None or gpu.link_count is None:
        yield not_known("NVLinks in use", "the catalogue has no such GPU", "nvidia-smi -L, ringtree hardware")
        return
    fewest = min(
        (_used([_number(kind) for pair, kind in pairs.items() if one in pair], gpu.link_count), one) for one in gpus
    )
    value, source = f"{fewest[0]} of {gpu.link_count} of {gpu.name}", f"{_SOURCE}, ringtree hardware"
    if fewest[0] < gpu.link_count:
        why = (
            f"{fewest[1]} has fewer NVLinks than such a GPU, so its collectives have that share of their rate: "
            "nvidia-smi nvlink --status, dmesg | grep -i nvlink"
        )
        yield warn("NVLinks in use", value, source, why)
    else:
        yield ok("NVLinks in use", value, source)


def _used(numbers: list[int], most: int) -> int:
    return min(numbers) if sum(numbers) > most else sum(numbers)


def _number(kind: str) -> int:
    return int(kind[2:]) if kind.startswith("NV") and kind[2:].isdigit() else 0


def _matrix(host: Host) -> dict[str, Any] | None:
    """None: no GPU, or nobody who tells, which probes/gpus.py says already."""
    try:
        return nvidia.matrix(host) if nvidia.names(host) else None
    except NotKnown:
        return None
