"""NCCL_TOPO_DUMP_FILE: NUMA nodes, PCI switches, GPUs, their NVLinks, NICs.

For: what NCCL believes a host to be. Not for: what it made of it (graphs.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pydantic import Field

from ringtree.logs.nccl_xml.elements import Element
from ringtree.logs.records import Shape

_KNOWN = frozenset(("system", "cpu", "pci", "gpu", "nvlink", "nic", "net", "c2c", "pcilink"))
_CPU = {"numa": "numaid", "family": "familyid", "model": "modelid"}
_NIC = {"speed_mbit_per_second": "speed", "collnet": "coll"}
_MAX_PAIRS = 4096


class TopologyGpu(Shape):
    """A GPU of NCCL's topology. `nvlinks`: links to each bus id; `pci_speed`, `pci_width` of the slot it sits in."""

    bus_id: str
    dev: int | None
    rank: int | None
    sm: int | None
    gdr: bool | None
    numa: str | None
    pci_speed: str | None
    pci_width: int | None
    nvlinks: dict[str, int]
    c2c: int | None = Field(None, description="links to the CPU, of Grace systems")


class TopologyNic(Shape):
    """A network port of NCCL's topology. `speed_mbit_per_second` as in the file."""

    name: str
    dev: int | None
    bus_id: str | None
    speed_mbit_per_second: float | None
    port: int | None
    guid: str | None
    gdr: bool | None
    collnet: bool | None
    numa: str | None
    pci_speed: str | None
    pci_width: int | None


class TopologyCpu(Shape):
    """A NUMA node."""

    numa: str | None
    arch: str | None
    vendor: str | None
    family: str | None
    model: str | None
    affinity: str | None
    host_hash: str | None


class Topology(Shape):
    """NCCL_TOPO_DUMP_FILE. `shared_switches`: pairs of GPU and NIC below one PCI switch, by bus id and NIC name."""

    version: int | None
    cpus: list[TopologyCpu]
    gpus: list[TopologyGpu]
    nics: list[TopologyNic]
    shared_switches: list[tuple[str, str]]
    unknown: dict[str, int] = Field(description="elements that this reader does not know: how many")


def read_topology(root: Element) -> tuple[Topology, str]:
    """Returns what <system> holds, and a title for it."""
    elements = list(root.all())
    gpus = [element for element in elements if element.name == "gpu"]
    nets = [element for element in elements if element.name == "net"]
    shape = Topology(
        version=root.integer("version"),
        cpus=[element.read(TopologyCpu, _CPU) for element in elements if element.name == "cpu"],
        gpus=[_gpu(element) for element in gpus],
        nics=[net.read(TopologyNic, _NIC, name=net.text("name") or "", **_place(net)) for net in nets],
        shared_switches=list(_pairs(gpus, nets)),
        unknown=dict(Counter(element.name for element in elements if element.name not in _KNOWN)),
    )
    return shape, f"topology of {len(gpus)} GPUs and {len(nets)} network ports"


def _place(element: Element) -> dict[str, object]:
    """Where a device sits: its slot, and the NUMA node."""
    slot, cpu = next(element.above("pci"), None), next(element.above("cpu"), None)
    return {
        "bus_id": slot and slot.text("busid"),
        "numa": cpu and cpu.text("numaid"),
        "pci_speed": slot and slot.text("link_speed"),
        "pci_width": slot and slot.integer("link_width"),
    }


def _gpu(element: Element) -> TopologyGpu:
    place = _place(element)
    nvlinks: Counter[str] = Counter()
    for link in element.named("nvlink"):
        nvlinks[link.text("target") or ""] += link.integer("count") or 0
    c2c = [link.integer("count") or 0 for link in element.named("c2c")]
    place["bus_id"] = place["bus_id"] or ""
    return element.read(TopologyGpu, nvlinks=dict(nvlinks), c2c=sum(c2c) if c2c else None, **place)


def _pairs(gpus: list[Element], nets: list[Element]) -> Iterator[tuple[str, str]]:
    """Yields the GPUs and NICs that have a PCI switch in common."""
    switches = [(net, {id(switch) for switch in list(net.above("pci"))[1:]}) for net in nets]
    num = 0
    for gpu in gpus:
        above = list(gpu.above("pci"))
        for net, of_net in switches:
            if any(id(switch) in of_net for switch in above[1:]):
                num += 1
                if num > _MAX_PAIRS:
                    return
                yield above[0].text("busid") or "", net.text("name") or ""
