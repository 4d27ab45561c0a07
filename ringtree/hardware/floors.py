"""What any algorithm must move, whoever wrote it.

For: `highest`, the bar that no honest measurement exceeds. Not for: what a known algorithm moves (schedule_traffic.py,
ringtree.nccl.traffic).

n ranks on h hosts, r = n/h on each; S the size; shares of S. A host is taken as one rank for the network, and all
links of a rank, inside and out, as one for the class `rank`: an algorithm may send through the network what could stay
inside.

all_reduce. Without an adding switch the ranks together send at least 2(n-1)·S (Patarasuk & Yuan 2009): 2(n-1)/n·S
    for the mean rank; the same for h hosts: 2(h-1)/h·S. Where a switch reduces, all of a rank's (or host's) data
    must leave it and all of the result must reach it: S. With two hosts both say S.
reduce_scatter, all_gather. All blocks but its own must reach (or leave) a rank: (n-1)/n·S; a host: (h-1)/h·S.
broadcast, reduce. All of it must reach (or leave) every rank and host: S.
all_to_all, gather, scatter, send_recv. Nothing can be saved: the blocks that are for other ranks, or other hosts.
"""

from __future__ import annotations

from ringtree.hardware.limit_records import LinkClass, Traffic, traffic
from ringtree.hardware.topology import Topology

# Collectives whose load cannot be spread over the ranks of a host: one rank may use all of its NICs.
ROOTED = frozenset({"gather", "scatter", "send_recv"})


def floors(collective: str, topology: Topology) -> list[Traffic]:
    """The least that must pass each class of links."""
    h, r = topology.num_hosts, topology.ranks_per_host
    n = h * r
    own: LinkClass = "intra" if h == 1 else "rank"
    if collective == "all_reduce":
        inside = _all_reduce(n, topology.nvls is not False and r > 1, "rank")
        between = _all_reduce(h, topology.network_reduces is not False, "host")
    elif collective in ("all_gather", "reduce_scatter"):
        inside = (n - 1) / n, "all blocks but a rank's own: (n-1)/n"
        between = (h - 1) / h, "all blocks but those of the host: (h-1)/h"
    elif collective in ("broadcast", "reduce"):
        inside = 1.0, "all of it at every rank"
        between = 1.0, "all of it at every host"
    elif collective == "all_to_all":
        inside = (n - 1) / n, "the blocks for other ranks: (n-1)/n"
        between = r * (n - r) / n, "the blocks for other hosts, of r ranks: r(n-r)/n"
    elif collective in ("gather", "scatter"):
        inside = (n - 1) / n, "the root's blocks of all other ranks: (n-1)/n"
        between = (n - r) / n, "the root's blocks of other hosts: (n-r)/n"
    else:
        inside = 1.0, "each rank sends the size to the next"
        between = 1.0, "one rank of each host sends the size to another host"
    found = [traffic(own, *inside)] if r > 1 else []
    return found if h == 1 else [*found, traffic("network", *between)]


def _all_reduce(members: int, adds_up: bool, what: str) -> tuple[float, str]:
    spread = 2 * (members - 1) / members
    if adds_up and spread > 1:
        return 1.0, f"a switch may add up: all data must leave each {what} once and the sum reach it: 1"
    return spread, f"2(m-1)/m for {members} {what}s, as nothing adds up on the way"
