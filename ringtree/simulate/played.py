"""What the player needs of a described cluster: its links as one clock, and what the simulator says of the same calls.

For: `ringtree play --cluster`. Not for: the player (ringtree.show.player), sweeps (sweep.py).

The player's model is simpler: a port a rank, a latency and a rate between hosts and others inside them. It gets those
of the cluster's routes; sharing of links, slots and copying are the simulator's, so its times stand beside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ringtree.errors import UsageError
from ringtree.simulate.cluster import Cluster, ProtocolCost
from ringtree.simulate.sweep import Call, Simulator, call_seconds

_PROTOCOL = "simple"


class Clock(NamedTuple):
    """Seconds and bytes/s of a message alone on its way."""

    alpha: float
    bandwidth: float


class Played(NamedTuple):
    """`between`: hosts, or ranks where there is one host; `inside`: a host, None with one host or one rank a host."""

    hosts: list[int]
    between: Clock
    inside: Clock | None
    slot_bytes: int


def played(cluster: Cluster, nodes: int) -> Played:
    """Returns hosts and clock of `nodes` hosts. Raises UsageError for fewer than two ranks, or more hosts than there
    are."""
    ranks = cluster.host.ranks
    if nodes * ranks < 2:
        raise UsageError("one rank sends nothing: ask for more --nodes")
    cost = cluster.protocol(_PROTOCOL)
    inside = _clock(cluster, cost, nodes, 1) if ranks > 1 else None
    between = _clock(cluster, cost, nodes, ranks) if nodes > 1 else None
    hosts = [host for host in range(nodes) for _ in range(ranks)]
    if between is None:
        assert inside is not None
        return Played(hosts, inside, None, cost.slot_bytes)
    return Played(hosts, between, inside, cost.slot_bytes)


def simulated_seconds(
    cluster: Cluster, simulator: Simulator, collective: str, algorithm: str, nodes: int, size_bytes: int
) -> float:
    """Returns what the simulator says of a call. Raises UsageError for one that can't be."""
    hosts = tuple(played(cluster, nodes).hosts)
    call = Call(collective, algorithm, hosts, size_bytes, cluster.channel.count)
    return call_seconds(simulator, cluster, call, cluster.host.ranks, _PROTOCOL)


def _clock(cluster: Cluster, cost: ProtocolCost, nodes: int, target: int) -> Clock:
    """Of a message from rank 0 to rank `target`."""
    network = cluster.network([(0, target)], nodes, cluster.host.ranks, _PROTOCOL)
    copying = float(network.rank_copy_rate[0]) * cluster.channel.count
    rate = min(float(np.min(network.link_rate)), copying) * cost.efficiency
    return Clock(float(np.sum(network.link_latency)) + cost.step_latency, rate)
