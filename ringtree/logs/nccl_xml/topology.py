"""NCCL_TOPO_DUMP_FILE: NUMA nodes, PCI switches, GPUs, their NVLinks, NICs.

For: what NCCL believes a host to be. Not for: what it made of it (graphs.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

from ringtree.logs.nccl_xml.elements import Element, parse
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import Document
from ringtree.logs.shapes.topology import Topology, TopologyCpu, TopologyGpu, TopologyNic

_KNOWN = frozenset(("system", "cpu", "pci", "gpu", "nvlink", "nic", "net", "c2c", "pcilink"))
_MAX_PAIRS = 4096


class TopologyReader:
    """A FileReader."""

    format = "nccl-topology-xml"

    def sniff(self, head: str) -> bool:
        """Says whether the file begins with <system>."""
        return head.startswith("<system") or (head.startswith("<?xml") and "<system" in head[:1000])

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Emits one document."""
        root = parse(source, "system")
        elements = list(root.all())
        gpus = [element for element in elements if element.name == "gpu"]
        nets = [element for element in elements if element.name == "net"]
        shape = Topology(
            version=root.integer("version"),
            cpus=[_cpu(element) for element in elements if element.name == "cpu"],
            gpus=[_gpu(element) for element in gpus],
            nics=[_nic(element) for element in nets],
            shared_switches=list(_pairs(gpus, nets)),
            unknown=dict(Counter(element.name for element in elements if element.name not in _KNOWN)),
        )
        title = f"topology of {len(gpus)} GPUs and {len(nets)} network ports"
        sink.emit(Document(self.format, "topology", 0, shape.plain(), title))


def _above(element: Element, name: str) -> Iterator[Element]:
    """Yields the elements of that name around an element, the nearest first."""
    around = element.parent
    while around is not None:
        if around.name == name:
            yield around
        around = around.parent


def _slot(element: Element) -> Element | None:
    """Returns the PCI device that an element is."""
    return next(_above(element, "pci"), None)


def _numa(element: Element) -> str | None:
    cpu = next(_above(element, "cpu"), None)
    return None if cpu is None else cpu.text("numaid")


def _flag(element: Element, name: str) -> bool | None:
    value = element.integer(name)
    return None if value is None else value != 0


def _cpu(element: Element) -> TopologyCpu:
    return TopologyCpu(
        numa=element.text("numaid"),
        arch=element.text("arch"),
        vendor=element.text("vendor"),
        family=element.text("familyid"),
        model=element.text("modelid"),
        affinity=element.text("affinity"),
        host_hash=element.text("host_hash"),
    )


def _gpu(element: Element) -> TopologyGpu:
    slot = _slot(element)
    nvlinks: Counter[str] = Counter()
    for link in element.named("nvlink"):
        nvlinks[link.text("target") or ""] += link.integer("count") or 0
    c2c = [link.integer("count") or 0 for link in element.named("c2c")]
    return TopologyGpu(
        bus_id=(slot.text("busid") if slot is not None else None) or "",
        dev=element.integer("dev"),
        rank=element.integer("rank"),
        sm=element.integer("sm"),
        gdr=_flag(element, "gdr"),
        numa=_numa(element),
        pci_speed=slot.text("link_speed") if slot is not None else None,
        pci_width=slot.integer("link_width") if slot is not None else None,
        nvlinks=dict(nvlinks),
        c2c=sum(c2c) if c2c else None,
    )


def _nic(element: Element) -> TopologyNic:
    slot = _slot(element)
    return TopologyNic(
        name=element.text("name") or "",
        dev=element.integer("dev"),
        bus_id=slot.text("busid") if slot is not None else None,
        speed_mbit_per_second=element.number("speed"),
        port=element.integer("port"),
        guid=element.text("guid"),
        gdr=_flag(element, "gdr"),
        collnet=_flag(element, "coll"),
        numa=_numa(element),
        pci_speed=slot.text("link_speed") if slot is not None else None,
        pci_width=slot.integer("link_width") if slot is not None else None,
    )


def _pairs(gpus: list[Element], nets: list[Element]) -> Iterator[tuple[str, str]]:
    """Yields the GPUs and NICs that have a PCI switch in common."""
    switches = [(net, {id(switch) for switch in list(_above(net, "pci"))[1:]}) for net in nets]
    num = 0
    for gpu in gpus:
        above = list(_above(gpu, "pci"))
        for net, of_net in switches:
            if any(id(switch) in of_net for switch in above[1:]):
                num += 1
                if num > _MAX_PAIRS:
                    return
                yield above[0].text("busid") or "", net.text("name") or ""
