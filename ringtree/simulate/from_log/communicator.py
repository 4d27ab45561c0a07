"""From the lines of NCCL_DEBUG to what is known of a cluster.

For: hosts, channels, ports that connections used, what NCCL's search found. Not for: reading the lines
(ringtree.logs.nccl_info).
"""

from __future__ import annotations

from collections import Counter

from ringtree.logs.nccl_info.shapes import NcclCommunicator
from ringtree.simulate.from_log.found import Found
from ringtree.units import count

_RING = 4  # the pattern of a ring among NCCL's searched graphs
_ONE_DEVICE = "LOC"


def read_communicator(comm: NcclCommunicator, found: Found) -> None:
    """Puts what `comm` says into `found`."""
    if comm.num_ranks is None and not comm.graphs:
        return
    per_host = Counter(rank.host for rank in comm.ranks)
    hosts = comm.num_hosts or (len(per_host) if comm.num_ranks_seen == comm.num_ranks else 0)
    found.hosts = found.hosts or hosts
    if comm.num_ranks is not None and hosts and comm.num_ranks % hosts == 0:
        found.ranks = found.ranks or comm.num_ranks // hosts
    found.channels = found.channels or comm.channels.get("coll", 0)
    ports = {device for one in comm.transports for device in one.devices}
    found.num_ports = found.num_ports or len(ports) or len(comm.nics)
    ring = next((graph for graph in comm.graphs if graph.pattern == _RING), None)
    if ring is not None and ring.type_intra == _ONE_DEVICE:
        found.said.append("its ranks share one GPU: what NCCL's search found is no link between GPUs")
    elif ring is not None:
        found.rank_rate = found.rank_rate or ring.num_channels * ring.bw_intra_gb_per_second * 1e9
        if hosts != 1:
            found.host_rate = found.host_rate or ring.num_channels * ring.bw_inter_gb_per_second * 1e9
    told = [count(comm.num_ranks, "rank") if comm.num_ranks is not None else "", count(hosts, "host") if hosts else ""]
    found.said.append(f"a communicator of {' on '.join(part for part in told if part) or 'unknown size'}")
