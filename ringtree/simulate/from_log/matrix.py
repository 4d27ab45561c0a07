"""From the matrix of `nvidia-smi topo -m` to what is known of a host.

For: NVLinks, PCIe bridges, sockets, ports near to a GPU. Not for: rates, which it does not print.
"""

from __future__ import annotations

import itertools
import re

from ringtree.logs.topology_matrix import TopologyMatrix
from ringtree.simulate.from_log.found import Found, groups_of
from ringtree.units import count

MOST_LINKS = 18  # that a GPU has; more are the same links, seen through a switch
_NVLINK = re.compile(r"NV(\d+)")
_BRIDGE = frozenset(("PIX", "PXB"))  # nearer than the CPU
_FAR = frozenset(("SYS", "SOC"))
_NEAREST = ("PIX", "PXB", "PHB", "NODE", "SYS", "SOC")


def read_matrix(matrix: TopologyMatrix, found: Found) -> None:
    """Puts what `matrix` says into `found`."""
    gpus = matrix.gpus
    found.ranks = found.ranks or len(gpus)
    cells = {(a, b): matrix.links.get(gpu, {}).get(other) or "" for a, gpu in enumerate(gpus)
             for b, other in enumerate(gpus) if a != b}  # fmt: skip
    _nvlinks(cells, len(gpus), found)
    _places(matrix, cells, found)
    _ports(matrix, found)
    found.said.append(f"a matrix of {count(len(gpus), 'GPU')} and {count(len(matrix.nics), 'network port')}")


def _nvlinks(cells: dict[tuple[int, int], str], num: int, found: Found) -> None:
    links = [[0] * num for _ in range(num)]
    for (a, b), text in cells.items():
        match = _NVLINK.fullmatch(text)
        if match:
            links[a][b] = links[b][a] = int(match[1])
    most = max((sum(row) for row in links), default=0)
    if most > MOST_LINKS:
        found.switch_links = found.switch_links or max(max(row) for row in links)
    elif most:
        found.links = found.links or links


def _places(matrix: TopologyMatrix, cells: dict[tuple[int, int], str], found: Found) -> None:
    """Cells say it where no NVLink hides it; ports below the same bridge, and NUMA nodes, say it for the others."""
    gpus = matrix.gpus
    near = [pair for pair, text in cells.items() if text in _BRIDGE]
    for nic in matrix.nics:
        below = [a for a, gpu in enumerate(gpus) if (matrix.links.get(gpu, {}).get(nic) or "") in _BRIDGE]
        near += itertools.pairwise(below)
    if near:
        found.bridges = found.bridges or groups_of(len(gpus), near)
    nodes = [matrix.numa_affinity.get(gpu, "") for gpu in gpus]
    alike = [(a, b) for a, b in cells if nodes[a] == nodes[b] and nodes[a].isdecimal()]
    alike += [pair for pair, text in cells.items() if text in (*_BRIDGE, "PHB", "NODE")]
    if alike or any(text in _FAR for text in cells.values()):
        found.sockets = found.sockets or groups_of(len(gpus), alike)


def _ports(matrix: TopologyMatrix, found: Found) -> None:
    if not matrix.nics:
        return
    found.num_ports = found.num_ports or len(matrix.nics)
    found.of_rank = found.of_rank or [_nearest(matrix, gpu) for gpu in matrix.gpus]


def _nearest(matrix: TopologyMatrix, gpu: str) -> int:
    row = matrix.links.get(gpu, {})
    order = [_NEAREST.index(text) if (text := row.get(nic) or "") in _NEAREST else len(_NEAREST) for nic in matrix.nics]
    return order.index(min(order))
