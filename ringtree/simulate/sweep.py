"""Simulates what was asked for, point by point.

For: joining clusters, schedules and the simulator. Not for: what a point is (points.py), the simulator itself, storing
(recording.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ringtree.errors import UsageError
from ringtree.simulate.asked import Arm, Sweep
from ringtree.simulate.cluster import Cluster, Network, ProtocolCost
from ringtree.simulate.points import Busiest, Left, Point, Simulation, crossings
from ringtree.simulate.run import SimulatedCall
from ringtree.stats.bandwidth import algbw, busbw

_MOST_CRITICAL = 5


@dataclass(frozen=True)
class Call:
    """One collective call. `hosts`: the host of each rank; `size_bytes`: of the whole vector."""

    collective: str
    algorithm: str
    hosts: tuple[int, ...]
    size_bytes: int
    channels: int
    domain_hosts: int = 1  # of which ranks are joined by one switch: what NVLS takes for a host


class Simulator(Protocol):
    """Which pairs of ranks a call's schedule uses, and how long it takes. `switches`: a rank that is joined to each
    switch that reduces for it; pairs number them after the ranks."""

    def pairs(self, call: Call) -> list[tuple[int, int]]: ...
    def switches(self, call: Call) -> list[int]: ...
    def run(self, call: Call, network: Network, protocol: ProtocolCost) -> SimulatedCall: ...


def call_seconds(
    simulator: Simulator, cluster: Cluster, call: Call, ranks_per_node: int, protocol: str = "simple"
) -> float:
    """Returns what one call takes on `cluster`, with as many nodes as its hosts are. Raises UsageError for a call that
    can't be."""
    nodes = call.hosts[-1] + 1
    network = cluster.network(simulator.pairs(call), nodes, ranks_per_node, protocol, simulator.switches(call))
    return simulator.run(call, network, cluster.protocol(protocol)).seconds


@dataclass(frozen=True)
class Simulated:
    """A point, and when each rank of it had finished."""

    point: Point
    per_rank_seconds: tuple[float, ...]


def simulate_all(
    sweep: Sweep, simulator: Simulator, tell: Callable[[str], None] = lambda _: None
) -> tuple[Simulation, list[Simulated]]:
    """Simulates every point of a sweep. An arm that can't run on a number of nodes is left out, and said; `tell` hears
    what is simulated next. Raises UsageError if no arm can."""
    done: list[Simulated] = []
    left: list[Left] = []
    for nodes in sweep.nodes:
        for arm in sweep.arms:
            tell(f"{arm.label} on {nodes}")
            try:
                done += _of_arm(sweep, simulator, nodes, arm)
            except UsageError as error:
                left.append(Left(nodes=nodes, arm=arm.label, why=str(error)))
    if not done:
        raise UsageError(left[0].why)
    points = [one.point for one in done]
    return (
        Simulation(
            cluster=sweep.cluster.name,
            asked=sweep.asked,
            title=sweep.cluster.title,
            what_if=list(sweep.what_if),
            collective=sweep.collective,
            ranks_per_node=sweep.ranks_per_node,
            points=points,
            crossings=crossings(points),
            left_out=left,
            assumed=[key for key, one in sweep.cluster.constants() if one.assumed],
        ),
        done,
    )


def _of_arm(sweep: Sweep, simulator: Simulator, nodes: int, arm: Arm) -> list[Simulated]:
    """One network for all sizes: a schedule's pairs do not depend on them."""
    hosts = tuple(rank // sweep.ranks_per_node for rank in range(nodes * sweep.ranks_per_node))
    domain_hosts = sweep.cluster.domain_hosts
    calls = [Call(sweep.collective, arm.algorithm, hosts, size, sweep.channels, domain_hosts) for size in sweep.sizes]
    pairs, switches = simulator.pairs(calls[0]), simulator.switches(calls[0])
    network = sweep.cluster.network(pairs, nodes, sweep.ranks_per_node, arm.protocol, switches)
    protocol = sweep.cluster.protocol(arm.protocol)
    found = []
    for call in calls:
        outcome = simulator.run(call, network, protocol)
        point = point_of(nodes, arm, call, network, outcome)
        found.append(Simulated(point, tuple(float(one) for one in outcome.per_rank_seconds)))
    return found


def point_of(nodes: int, arm: Arm, call: Call, network: Network, outcome: SimulatedCall) -> Point:
    """Returns what is said of a call that was simulated."""
    limit = {name: float(seconds) for name, seconds in outcome.limit.items()}
    return Point(
        nodes=nodes,
        num_ranks=len(call.hosts),
        arm=arm.label,
        algorithm=arm.algorithm,
        protocol=arm.protocol,
        channels=call.channels,
        size_bytes=call.size_bytes,
        seconds=outcome.seconds,
        algbw=algbw(call.size_bytes, outcome.seconds),
        busbw=_busbw(call, outcome.seconds),
        limit=limit,
        limited_by=max(limit, key=lambda name: limit[name]) if limit else "",
        critical_links=[network.link_names[link] for link, _ in outcome.critical_links[:_MOST_CRITICAL]],
        busiest=_busiest(network, outcome),
        num_events=outcome.events,
        lanes=outcome.lanes,
        all_lanes=outcome.all_lanes,
    )


def _busbw(call: Call, seconds: float) -> float | None:
    try:
        return busbw(call.collective, call.size_bytes, seconds, len(call.hosts))
    except ValueError:
        return None


def _busiest(network: Network, outcome: SimulatedCall) -> Busiest | None:
    if not len(outcome.link_busy) or outcome.seconds <= 0:
        return None
    link = int(np.argmax(outcome.link_busy))
    return Busiest(
        name=network.link_names[link],
        kind=network.link_classes[link],
        share=float(outcome.link_busy[link]) / outcome.seconds,
        sent_bytes=int(outcome.link_bytes[link]),
    )
