"""From what was found in a log to a description, and what it lacks.

For: choosing constants where the log is silent, and telling which. Not for: the documents (matrix.py, topology.py,
communicator.py), constants of NCCL (ringtree.simulate.cluster.gpu_costs).
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from ringtree.errors import UsageError
from ringtree.hardware import Catalogue, Gpu, Link, load_catalogue, match_gpu
from ringtree.logs import read_file
from ringtree.logs.nccl_info.shapes import NcclCommunicator
from ringtree.logs.nccl_xml.topology import Topology
from ringtree.logs.topology_matrix import TopologyMatrix
from ringtree.simulate.cluster import Cluster, gpu_costs
from ringtree.simulate.cluster.constants import Rate, Share
from ringtree.simulate.cluster.gpu_hosts import bus_of, fabric_of, nvlinks
from ringtree.simulate.cluster.host import Bus, Host, Mesh, Nics, Sharp, Switch
from ringtree.simulate.cluster.presets import slug
from ringtree.simulate.from_log.communicator import read_communicator
from ringtree.simulate.from_log.found import Found
from ringtree.simulate.from_log.matrix import read_matrix
from ringtree.simulate.from_log.topology import read_xml

_ASSUMED_LINK, _ASSUMED_PCIE, _ASSUMED_PORT_GBPS = "NVLink 4", "PCIe 4 x16", 100.0
_LANES = 16  # of a full slot
_KINDS = "`nvidia-smi topo -m`, NCCL's topology XML (NCCL_TOPO_DUMP_FILE) or lines of NCCL_DEBUG=INFO"


@dataclass(frozen=True)
class Described:
    """A cluster; `found`: what it is from, `missing`: what the log does not say, and what stands there instead."""

    cluster: Cluster
    found: list[str]
    missing: list[str]


def describe_log(file: Path, gpu: str | None = None) -> Described:
    """Returns the cluster of a log. `gpu`: its GPUs, where the log does not name them. Raises UsageError for a file
    without any of these, and for a GPU that the catalogue lacks."""
    found = _found(file)
    if not found.ranks:
        raise UsageError(f"{file} has none of {_KINDS} that tells the ranks of a host")
    return _Describing(found, file, gpu).described()


def _found(file: Path) -> Found:
    read, found = read_file(file), Found()
    for table in read.tables:
        found.devices += table.devices
    for document in read.documents:
        if document.kind == "topology_matrix" and document.data["tool"] == "nvidia-smi":
            read_matrix(TopologyMatrix.model_validate(document.data), found)
        elif document.kind == "topology":
            read_xml(Topology.model_validate(document.data), found)
        elif document.kind == "nccl_communicator":
            read_communicator(NcclCommunicator.model_validate(document.data), found)
    return found


class _Describing:
    """One log on its way to a description."""

    def __init__(self, found: Found, file: Path, gpu: str | None) -> None:
        self._found, self._file = found, file
        self._known: Catalogue = load_catalogue()
        self._missing: list[str] = []
        self._date = datetime.date.today().isoformat()
        self._gpu = self._chosen_gpu(gpu)

    def described(self) -> Described:
        found = self._found
        links, bus = self._links(), self._bus()
        nics = self._nics(spread=links is not None)
        channel = gpu_costs.channel(self._gpu, links is None) if self._gpu else gpu_costs.assumed_channel(links is None)
        if found.channels:
            channel = channel.model_copy(update={"count": found.channels})
        else:
            self._missing.append(f"the number of channels: {channel.count} assumed")
        if nics is not None:
            self._missing.append("leaves and uplinks of the network: assumed")
        cluster = Cluster(
            name=slug(self._file.stem) or "cluster",
            title=f"from {self._file.name}" + (f": {found.ranks} × {self._gpu.name}" if self._gpu else ""),
            assumptions=list(self._missing),
            host=Host(ranks=found.ranks, links=links, bus=bus, nics=nics),
            fabric=None if nics is None else fabric_of(rails=nics.count >= found.ranks),
            channel=channel,
            launch=gpu_costs.launch_cost(),
            protocols=gpu_costs.protocols(),
        )
        return Described(cluster, found.said, self._missing)

    def _chosen_gpu(self, asked: str | None) -> Gpu | None:
        names = [asked] if asked is not None else list(dict.fromkeys(self._found.devices))
        matches = [match_gpu(name, self._known) for name in names]
        if asked is not None and not matches[0].candidates:
            raise UsageError(f"--gpu: the hardware catalogue has no {asked!r}; `ringtree hardware` lists it")
        if asked is not None and matches[0].gpu is None:
            several = ", ".join(gpu.name for gpu in matches[0].candidates)
            raise UsageError(f"--gpu: {asked!r} may be {several}: name one")
        gpus = [match.gpu for match in matches if match.gpu is not None]
        if len(gpus) == 1:
            return gpus[0]
        self._missing.append("the GPU: name it by --gpu for its links' rates and its channels")
        return None

    def _links(self) -> Switch | Mesh | None:
        found = self._found
        if found.links is None and not found.switch_links:
            return self._searched()
        link, share, known = self._link()
        each = link.per_direction_GBps * (found.switch_links if found.links is None else 1)
        rate = gpu_costs.catalogued(each, self._known, link, "per_direction_GBps") if known else _assumed(each)
        latency = gpu_costs.hop_latency("NVLink")
        if found.links is not None:
            return Mesh(rate=rate, latency=latency, reached=share, links=found.links)
        return Switch(rate=rate, latency=latency, reached=share, sharp=self._sharp())

    def _sharp(self) -> Sharp | None:
        """GPUs that can use a switch that reduces are sold with one."""
        return None if self._gpu is None else gpu_costs.sharp(self._gpu)

    def _searched(self) -> Switch | Mesh | None:
        """What NCCL's search found inside a host is all that its lines tell of links; else hosts of the catalogue that
        have as many of these GPUs tell it, if they are all alike."""
        if self._found.rank_rate is not None:
            rate = self._of_log(self._found.rank_rate)
            return Switch(rate=rate, latency=gpu_costs.hop_latency("NVLink"), sharp=self._sharp())
        gpu = self._gpu
        systems = (
            []
            if gpu is None
            else [
                one
                for one in self._known.systems.values()
                if gpu.name in one.gpus and one.gpus_per_host == self._found.ranks
            ]
        )
        if gpu is not None and len({(one.topology, one.links_per_pair) for one in systems}) == 1:
            self._missing.append(f"links between GPUs: as in {systems[0].name}, which has {self._found.ranks} of these")
            return nvlinks(systems[0], gpu, self._known)
        self._missing.append("links between GPUs: none are described but PCIe")
        return None

    def _link(self) -> tuple[Link, Share, bool]:
        """(kind of link, what of its rate is reached, whether the log or the GPU says so)."""
        if self._gpu is not None and self._gpu.link is not None:
            return self._known.links[self._gpu.link], gpu_costs.nvlink_share(self._gpu, self._known), True
        alike = [gpu for gpu in self._known.gpus.values() if gpu.target == self._found.target and gpu.link]
        names = {gpu.link for gpu in alike if gpu.link is not None}
        if len(names) == 1:
            return self._known.links[names.pop()], gpu_costs.nvlink_share(alike[0], self._known), True
        link = self._known.links[_ASSUMED_LINK]
        self._missing.append(f"the generation of NVLink: {link.per_direction_GBps:g} GB/s a link assumed")
        return link, gpu_costs.assumed_share(), False

    def _bus(self) -> Bus | None:
        found = self._found
        of_gpu = None if self._gpu is None else self._gpu.host_link
        name = f"PCIe {found.pcie_generation} x16" if found.pcie_generation else of_gpu
        known = name is not None and name in self._known.links
        if name is None or not known:
            name = _ASSUMED_PCIE
            self._missing.append(f"the PCIe generation: {name} assumed")
        bus = bus_of(name, found.ranks, self._known)
        if bus is None:
            return None
        share = (found.pcie_width or _LANES) / _LANES
        rate = bus.rate.model_copy(update={"value": bus.rate.value * share}) if known else _assumed(bus.rate.value)
        bus = bus.model_copy(update={"rate": rate})
        if found.bridges is None:
            self._missing.append("PCIe bridges: two GPUs below each assumed")
        if found.sockets is None:
            self._missing.append("sockets: two assumed")
        bridges = found.bridges or bus.bridges
        sockets = [bus.sockets[min(bridge, len(bus.sockets) - 1)] for bridge in range(max(bridges) + 1)]
        if found.sockets is not None:
            sockets = [found.sockets[bridges.index(bridge)] for bridge in range(max(bridges) + 1)]
        return bus.model_copy(update={"bridges": bridges, "sockets": sockets})

    def _nics(self, *, spread: bool) -> Nics | None:
        found = self._found
        if not found.num_ports:
            self._missing.append("network ports: hosts are not joined")
            return None
        count = found.num_ports
        if found.port_rates:
            rate, reached = self._of_log(min(found.port_rates)), gpu_costs.port_share()
        elif found.host_rate is not None:
            rate, reached = self._of_log(found.host_rate / count), None
        else:
            rate, reached = Rate(value=_ASSUMED_PORT_GBPS, unit="Gb/s"), gpu_costs.port_share()
            self._missing.append(f"the rate of a port: {rate} assumed")
        made = Nics(
            rate=rate,
            latency=gpu_costs.hop_latency("network", less=None if spread else "PCIe"),
            count=count,
            of_rank=found.of_rank or [rank * count // found.ranks for rank in range(found.ranks)],
            spread=spread,
        )
        return made if reached is None else made.model_copy(update={"reached": reached})

    def _of_log(self, bytes_per_second: float) -> Rate:
        value = round(bytes_per_second / 1e9, 6)
        return Rate(value=value, unit="GB/s", source=self._file.name, date=self._date)


def _assumed(gigabytes: float) -> Rate:
    return Rate(value=gigabytes, unit="GB/s")
