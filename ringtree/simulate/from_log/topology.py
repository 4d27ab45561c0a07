"""From NCCL's topology XML to what is known of a host.

For: NVLinks, slots, NUMA nodes, ports and their speeds. Not for: reading the XML (ringtree.logs.nccl_xml).
"""

from __future__ import annotations

import re

from ringtree.logs.nccl_xml.topology import Topology, TopologyNic
from ringtree.simulate.from_log.found import Found, groups_of
from ringtree.units import count

_GENERATIONS = {"8.0": "3", "16.0": "4", "32.0": "5", "64.0": "6"}


def read_xml(topology: Topology, found: Found) -> None:
    """Puts what `topology` says into `found`. NCCL dumps the GPUs that its process sees."""
    gpus = topology.gpus
    if not gpus:
        return
    found.ranks = found.ranks or len(gpus)
    place = {gpu.bus_id: number for number, gpu in enumerate(gpus)}
    links = [[gpu.nvlinks.get(other.bus_id, 0) for other in gpus] for gpu in gpus]
    elsewhere = max(sum(num for bus, num in gpu.nvlinks.items() if bus not in place) for gpu in gpus)
    if elsewhere:
        found.switch_links = found.switch_links or elsewhere
    elif any(map(any, links)):
        found.links = found.links or [[max(links[a][b], links[b][a]) for b in place.values()] for a in place.values()]
    sms = {gpu.sm for gpu in gpus if gpu.sm is not None}
    found.target = found.target or (f"sm_{sms.pop()}" if len(sms) == 1 else None)
    slot = next((gpu for gpu in gpus if gpu.pci_speed), None)
    if slot is not None and slot.pci_speed is not None:
        speed = re.match(r"[\d.]+", slot.pci_speed)
        found.pcie_generation = found.pcie_generation or _GENERATIONS.get(speed[0] if speed else "")
        found.pcie_width = found.pcie_width or slot.pci_width or 0
    numa = [gpu.numa for gpu in gpus]
    alike = [(a, b) for a in place.values() for b in place.values() if a < b and numa[a] == numa[b] is not None]
    if all(one is not None for one in numa):
        found.sockets = found.sockets or groups_of(len(gpus), alike)
    _ports(topology, place, found)
    found.said.append(f"NCCL's topology of {count(len(gpus), 'GPU')} and {count(len(topology.nics), 'network port')}")


def _ports(topology: Topology, place: dict[str, int], found: Found) -> None:
    """Ports with GPUDirect, if any has it: the others may be bridges of containers."""
    direct = [nic for nic in topology.nics if nic.gdr]
    nics: list[TopologyNic] = direct or topology.nics
    if not nics:
        return
    found.num_ports = found.num_ports or len(nics)
    rates = [nic.speed_mbit_per_second * 1e6 / 8 for nic in nics if nic.speed_mbit_per_second]
    found.port_rates = found.port_rates or rates
    names = [nic.name for nic in nics]
    shared = {place[bus]: names.index(name) for bus, name in topology.shared_switches if bus in place and name in names}
    ranks = len(place)
    found.of_rank = found.of_rank or [shared.get(rank, rank * len(nics) // ranks) for rank in range(ranks)]
