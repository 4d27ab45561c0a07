"""Which GPUs of a host NVLink or xGMI joins, and by how many links: matrices for descriptions.

For: systems of the catalogue that name a topology. Not for: matrices read from a log (from_log/matrix.py), rates.
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree.hardware import Gpu, System

# The links of a DGX-1: two groups of four GPUs, each GPU joined to its twin of the other group. Those of the V100 are
# what `nvidia-smi topo -m` prints on such machines; the P100, with four links, has one to each neighbour.
_DGX1_V100 = (
    (0, 1, 1, 2, 2, 0, 0, 0),
    (1, 0, 2, 1, 0, 2, 0, 0),
    (1, 2, 0, 2, 0, 0, 1, 0),
    (2, 1, 2, 0, 0, 0, 0, 1),
    (2, 0, 0, 0, 0, 1, 1, 2),
    (0, 2, 0, 0, 1, 0, 2, 1),
    (0, 0, 1, 0, 1, 2, 0, 2),
    (0, 0, 0, 1, 2, 1, 2, 0),
)


def links_of(system: System, gpu: Gpu) -> list[list[int]] | None:
    """Returns how many links join each pair of GPUs; None where the topology is not one of pairs."""
    ranks, number = range(system.gpus_per_host), system.links_per_pair or 0
    if system.topology == "mesh":
        return [[0 if a == b else number for b in ranks] for a in ranks]
    if system.topology == "bridge":
        return [[number if a != b and a // 2 == b // 2 else 0 for b in ranks] for a in ranks]
    if system.topology == "hybrid_cube_mesh":
        return _capped(_DGX1_V100, 1 if (gpu.link_count or 0) < 6 else 2)
    return None


def _capped(matrix: Sequence[Sequence[int]], most: int) -> list[list[int]]:
    return [[min(number, most) for number in row] for row in matrix]
