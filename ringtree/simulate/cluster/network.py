"""A cluster as the arrays that the simulator takes: links, and the route of each pair of ranks.

For: the contract between descriptions and the core. Not for: how traffic flows (paths.py), the simulator itself.

Rates are bytes/s, times seconds. A link is one direction; a route lists links in the order in which they are taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtree.errors import UsageError
from ringtree.simulate.cluster.host import Channel, Memory
from ringtree.simulate.cluster.paths import Link, Paths


@dataclass(frozen=True)
class ProtocolCost:
    """What a protocol costs: seconds added to each message, payload as a share of what travels, data and flags of a
    slot; `whole_slots`: as Protocol's."""

    step_latency: float
    efficiency: float
    slot_bytes: int
    slots: int
    whole_slots: bool = True


@dataclass(frozen=True)
class CoreMemory:
    """Which links are cores, and what reading and writing takes them beside moving messages through slots, at
    `core_rate` bytes/s: they have `rate[i]` bytes/s while a rank goes through `bytes[i]`; without any it takes nothing.
    `link_core`: of each link the rank whose core it stands for, or ALL_CORES, NO_CORE of paths.py; empty: none is."""

    core_rate: float
    bytes: NDArray[np.float64]
    rate: NDArray[np.float64]
    link_core: NDArray[np.int32]


NO_MEMORY = CoreMemory(0.0, np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int32))


@dataclass(frozen=True)
class Network:
    """Links, and routes in compressed rows: pair i from `pair_src[i]` to `pair_dst[i]` takes the links
    `route_links[route_offsets[i]:route_offsets[i + 1]]`. `rank_copy_rate`: of one channel; `rank_reduce_rate`: of one
    channel, too. `memory`: what cores take beside."""

    link_rate: NDArray[np.float64]
    link_latency: NDArray[np.float64]
    link_names: list[str]
    link_classes: list[str]
    pair_src: NDArray[np.int32]
    pair_dst: NDArray[np.int32]
    route_offsets: NDArray[np.int64]
    route_links: NDArray[np.int32]
    rank_copy_rate: NDArray[np.float64]
    rank_reduce_rate: NDArray[np.float64]
    launch_cost: float
    memory: CoreMemory = NO_MEMORY

    def route(self, source: int, target: int) -> list[str]:
        """Returns the names of the links from rank to rank. Raises KeyError for a pair that it was not made for."""
        found = np.flatnonzero((self.pair_src == source) & (self.pair_dst == target))
        if not len(found):
            raise KeyError((source, target))
        ends = self.route_offsets[found[0] : found[0] + 2]
        return [self.link_names[link] for link in self.route_links[ends[0] : ends[1]]]


def build_network(
    paths: Paths,
    pairs: Iterable[tuple[int, int]],
    *,
    channel: Channel,
    launch_cost: float,
    num_ranks: int,
    called: str,
    ranks_per_host: int,
    num_switches: int = 0,
    memory: Memory | None = None,
) -> Network:
    """Returns the network of the `pairs`; switches that reduce are ranks after the others, which take no time to copy
    or to fold. Raises UsageError, in one line, for a pair without a way."""
    number: dict[str, int] = {}
    links: list[Link] = []
    sources, targets, offsets, routes = [], [], [0], []
    for source, target in pairs:
        path = paths.path(source, target)
        if path is None:
            ends = [
                f"rank {end} (host {end // ranks_per_host})" if end < num_ranks else f"switch {end - num_ranks}"
                for end in (source, target)
            ]
            raise UsageError(
                f"{called}: {ends[0]} has no way to {ends[1]}: no link that is up joins them; `ringtree cluster show` "
                "lists the links"
            )
        for link in path:
            if link.name not in number:
                number[link.name] = len(links)
                links.append(link)
            routes.append(number[link.name])
        sources.append(source)
        targets.append(target)
        offsets.append(len(routes))
    return Network(
        link_rate=np.array([link.rate for link in links], dtype=np.float64),
        link_latency=np.array([link.latency for link in links], dtype=np.float64),
        link_names=[link.name for link in links],
        link_classes=[link.kind for link in links],
        pair_src=np.array(sources, dtype=np.int32),
        pair_dst=np.array(targets, dtype=np.int32),
        route_offsets=np.array(offsets, dtype=np.int64),
        route_links=np.array(routes, dtype=np.int32),
        rank_copy_rate=_of_ranks(channel.copy_rate.si, num_ranks, num_switches),
        rank_reduce_rate=_of_ranks(channel.reduce_rate.si, num_ranks, num_switches),
        launch_cost=launch_cost,
        memory=_core_memory(memory, links, ranks_per_host),
    )


def _core_memory(memory: Memory | None, links: list[Link], ranks_per_host: int) -> CoreMemory:
    """Ranks that take turns on a core go through its caches together, so one of them reaches a level sooner."""
    if memory is None or memory.core is None:
        return NO_MEMORY
    turns = memory.ranks_of_a_core(ranks_per_host)
    return CoreMemory(
        core_rate=memory.core.si,
        bytes=np.array([one.bytes.si / turns for one in memory.touched]),
        rate=np.array([one.rate.si for one in memory.touched]),
        link_core=np.array([link.core for link in links], dtype=np.int32),
    )


def _of_ranks(rate: float, num_ranks: int, num_switches: int) -> NDArray[np.float64]:
    return np.array([rate] * num_ranks + [np.inf] * num_switches, dtype=np.float64)
