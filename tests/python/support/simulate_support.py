"""A slow, obvious simulator of a ring, for tests of what is done with simulations.

For: sweeps, tables and stored runs without the core's simulator. Not for: any claim about times.

Every rank sends its part of the data to the next one, 2(n - 1) times; a step takes the latencies of the slowest route
and the part at its slowest link. "chain" moves all of it, n - 1 times, without latency.
"""

from __future__ import annotations

import numpy as np

from ringtree.errors import UsageError
from ringtree.simulate.cluster import Network, ProtocolCost
from ringtree.simulate.run import SimulatedCall
from ringtree.simulate.sweep import Call


class StandIn:
    """A Simulator that knows "ring" and "chain", and refuses a chain on more than one host."""

    def pairs(self, call: Call) -> list[tuple[int, int]]:
        num = len(call.hosts)
        if call.algorithm == "chain" and call.hosts[-1] > 0:
            raise UsageError("chain runs on one host")
        return [(rank, (rank + 1) % num) for rank in range(num)]

    def switches(self, call: Call) -> list[int]:
        return []

    def run(self, call: Call, network: Network, protocol: ProtocolCost) -> SimulatedCall:
        num = len(call.hosts)
        is_ring = call.algorithm == "ring"
        steps, part = (2 * (num - 1), call.size_bytes / num) if is_ring else (num - 1, float(call.size_bytes))
        ends = list(zip(network.route_offsets, network.route_offsets[1:], strict=False))
        routes = [network.route_links[first:last] for first, last in ends]
        latency = max(float(network.link_latency[route].sum()) for route in routes) * is_ring
        crossing = max(part / protocol.efficiency / float(network.link_rate[route].min()) for route in routes)
        seconds = network.launch_cost + steps * (latency + crossing)
        busy = np.zeros(len(network.link_rate))
        for route in routes:
            busy[route] += steps * part / protocol.efficiency / network.link_rate[route]
        return SimulatedCall(
            seconds=seconds,
            per_rank_seconds=np.full(num, seconds),
            link_bytes=np.full(len(busy), int(steps * part)),
            link_busy=busy,
            limit={"latency": steps * latency, "link": steps * crossing, "launch": network.launch_cost},
            critical_links=[(int(np.argmax(busy)), steps * crossing)],
            events=steps * num,
            lanes=num,
            all_lanes=num,
        )
