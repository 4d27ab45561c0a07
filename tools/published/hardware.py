"""The machines of the published tables, and the limits that their links set.

For: the columns "limit" of the page. Not for: the limits themselves (ringtree.hardware, ringtree.nccl).
"""

from __future__ import annotations

from ringtree.hardware import Limit, Topology, highest, load_catalogue, match_gpu
from ringtree.nccl import limit


def one_way(name: str) -> float:
    """Bytes/s per direction of all links of a GPU of the catalogue."""
    gpu = match_gpu(name).gpu
    rate = None if gpu is None else load_catalogue().link_rate(gpu)
    if rate is None:
        raise ValueError(f"no GPU with links in the catalogue is called {name!r}")
    return rate


def h100_nodes(num_hosts: int) -> Topology:
    """Nodes of 8 H100 with NVLink and 8 ports of 400 Gb/s."""
    return Topology(
        num_hosts=num_hosts,
        ranks_per_host=8,
        intra_rate=one_way("NVIDIA H100 80GB HBM3"),
        nvls=True,
        network_rate=8 * 400e9 / 8,
        network_reduces=False,
        name=f"{num_hosts} × 8 H100",
    )


def nccl(algorithm: str, topology: Topology) -> Limit:
    """What an algorithm of NCCL can reach there at most."""
    return limit("all_reduce", algorithm, topology)


def any_algorithm(topology: Topology) -> Limit:
    """What no algorithm exceeds there."""
    return highest("all_reduce", topology)


def a100_host() -> Topology:
    """8 A100 with NVLink."""
    return Topology(num_hosts=1, ranks_per_host=8, intra_rate=one_way("A100-SXM4-80GB"), nvls=False, name="8 A100")
