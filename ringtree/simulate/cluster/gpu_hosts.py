"""Hosts of GPUs, from the hardware catalogue and NCCL's constants.

For: a system of the catalogue as a description: its rates are looked up, never written here. Not for: names of presets
(presets.py), hosts whose ranks are cores (core_hosts.py), what NCCL counts for a hop or a channel (gpu_costs.py).

What neither of the two says is assumed, and the description says so: bridges and sockets of PCIe, leaves of the
network, the number of channels.
"""

from __future__ import annotations

from ringtree.hardware import Catalogue, Gpu, System
from ringtree.simulate.cluster import gpu_costs
from ringtree.simulate.cluster.constants import Ratio, Time
from ringtree.simulate.cluster.description import Cluster
from ringtree.simulate.cluster.fabric import Fabric
from ringtree.simulate.cluster.host import Bus, ByProtocol, Host, LinkClass, Mesh, Nics, Switch
from ringtree.simulate.cluster.meshes import links_of

_GPUS_PER_BRIDGE = 2
_SOCKETS = 2
_LEAF_HOSTS = 32
_SPINE = Time(value=0.5, unit="us")
_BRIDGES_ASSUMED = "two GPUs below each PCIe bridge, two sockets: the catalogue does not say how a board is wired"
_LEAVES_ASSUMED = f"{_LEAF_HOSTS} hosts below a leaf, as many uplinks as ports: the catalogue has no switches"
_CHANNELS_ASSUMED = 'the number of channels; NCCL\'s log of a machine prints its own ("coll channels")'


def cluster_of(name: str, system: System, gpu: Gpu, known: Catalogue) -> Cluster:
    """Returns hosts of `system` with `gpu`, called `name`."""
    links = nvlinks(system, gpu, known)
    bus = bus_of(gpu.host_link, system.gpus_per_host, known)
    ports = nics(system, known, spread=links is not None)
    fabric = None if ports is None else fabric_of(rails=ports.count >= system.gpus_per_host)
    assumptions = [_CHANNELS_ASSUMED, *([_BRIDGES_ASSUMED] if bus else []), *([_LEAVES_ASSUMED] if fabric else [])]
    return Cluster(
        name=name,
        title=f"{system.name}: {system.gpus_per_host} × {gpu.name}",
        assumptions=assumptions,
        host=Host(ranks=system.gpus_per_host, links=links, bus=bus, nics=ports),
        fabric=fabric,
        channel=gpu_costs.channel(gpu, links is None),
        launch=gpu_costs.launch_cost(),
        protocols=gpu_costs.protocols(),
    )


def nvlinks(system: System, gpu: Gpu, known: Catalogue) -> Switch | Mesh | None:
    """Returns the links between the GPUs of a host, NVLink or xGMI; None: it has PCIe alone."""
    if gpu.link is None or gpu.link_count is None or system.topology == "pcie":
        return None
    link = known.links[gpu.link]
    cost = {"latency": gpu_costs.hop_latency("NVLink"), "reached": gpu_costs.nvlink_share(gpu, known)}
    matrix = links_of(system, gpu)
    if matrix is None:
        total = gpu_costs.catalogued(link.per_direction_GBps * gpu.link_count, known, gpu, "link_count")
        adds_up = system.switch is not None and known.switches[system.switch].reduces
        sharp = gpu_costs.sharp(gpu) if adds_up else None
        return Switch(rate=total, domain_hosts=system.domain_hosts or 1, sharp=sharp, **cost)
    one = gpu_costs.catalogued(link.per_direction_GBps, known, link, "per_direction_GBps")
    return Mesh(rate=one, links=matrix, **cost)


def bus_of(host_link: str | None, ranks: int, known: Catalogue) -> Bus | None:
    """Returns the PCIe of a host by the GPUs' link to their CPU; None where that is something else, or not known."""
    if host_link is None or not host_link.startswith("PCIe"):
        return None
    link = known.links[host_link]
    bridges = [rank // _GPUS_PER_BRIDGE for rank in range(ranks)]
    num = bridges[-1] + 1
    latency = gpu_costs.hop_latency("PCIe")
    nothing = ByProtocol.model_validate("0 us")
    return Bus(
        rate=gpu_costs.catalogued(link.per_direction_GBps, known, link, "per_direction_GBps"),
        reached=gpu_costs.pcie_share(known),
        latency=latency,
        bridges=bridges,
        sockets=[bridge * _SOCKETS // num for bridge in range(num)],
        between=LinkClass(rate=gpu_costs.socket_rate(host_link), latency=nothing),
    )


def nics(system: System, known: Catalogue, *, spread: bool) -> Nics | None:
    """Returns the network ports; None where the catalogue does not know the network. Several ports of a rank are one of
    their total rate, unless channels take turns over all of them (`spread`)."""
    if system.host_Gbps is None:
        return None
    ranks, ports = system.gpus_per_host, system.nics_per_host or 1
    if ports > ranks and not spread:
        ports = ranks
    slot = None if spread else "PCIe"  # the message takes the rank's slot, too, and pays for it there
    return Nics(
        rate=gpu_costs.catalogued(system.host_Gbps / 8 / ports, known, system, "host_Gbps"),
        reached=gpu_costs.port_share(),
        latency=gpu_costs.hop_latency("network", less=slot),
        count=ports,
        of_rank=[rank * ports // ranks for rank in range(ranks)],
        spread=spread,
    )


def fabric_of(*, rails: bool) -> Fabric:
    """Returns a network of leaves and a spine, all of it assumed."""
    return Fabric(
        rails=rails,
        leaf_hosts=_LEAF_HOSTS,
        oversubscription=Ratio(value=1, unit="1"),
        latency=ByProtocol(simple=_SPINE, ll=_SPINE, ll128=_SPINE),
    )
