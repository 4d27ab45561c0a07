"""From two ranks to the links that a message between them takes.

For: the one place that knows how traffic flows inside a host and between hosts. Not for: arrays for the simulator
(network.py), the constants (host.py).

A class of links charges its latency once: on the link by which a message enters it. Links are made when a path first
takes them, so a cluster of 65,536 ranks has only those that its schedule uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ringtree.simulate.cluster.fabric import Fabric
from ringtree.simulate.cluster.faults import Faults
from ringtree.simulate.cluster.host import Host, LinkClass, Memory, Mesh, Switch

NVLINK, PCIE, SOCKET, MEMORY, PORT, LEAF = "NVLink", "PCIe", "between sockets", "memory", "port", "leaf uplink"
CORE = "core"
NO_CORE, ALL_CORES = -1, -2  # as core/simulate/network.h has them


class Link(NamedTuple):
    """One direction of a link. `rate`: bytes/s that programs get; `latency`: seconds; `core`: the rank whose core it
    stands for, or ALL_CORES, NO_CORE."""

    name: str
    kind: str
    rate: float
    latency: float
    core: int = NO_CORE


class Paths:
    """The paths of a cluster's hosts with `ranks_per_host` ranks on each. `switches`: a rank that is joined to each
    switch that reduces; they are numbered after the `num_ranks` ranks."""

    def __init__(
        self,
        host: Host,
        fabric: Fabric | None,
        faults: Faults,
        ranks_per_host: int,
        protocol: str = "simple",
        num_ranks: int = 0,
        switches: Sequence[int] = (),
    ) -> None:
        self._host, self._fabric, self._faults = host, fabric, faults
        self._ranks_per_host, self._protocol = ranks_per_host, protocol
        self._num_ranks, self._switches = num_ranks, switches

    def path(self, source: int, target: int) -> list[Link] | None:
        """Returns the links from rank to rank, or between a rank and its switch, in order; None: there is no way."""
        if self._switches and max(source, target) >= self._num_ranks:
            up = target >= self._num_ranks
            rank, switch = (source, target) if up else (target, source)
            return self._to_switch(rank, self._switches[switch - self._num_ranks], up)
        a, mine = divmod(source, self._ranks_per_host)
        b, theirs = divmod(target, self._ranks_per_host)
        if a == b:
            ways = (self._nvlink(a, mine, b, theirs), self._bus(a, mine, theirs), self._memory(a, mine, theirs))
        else:
            ways = (self._nvlink(a, mine, b, theirs), self._network(a, mine, b, theirs), None)
        return next((way for way in ways if way is not None), None)

    def _nvlink(self, a: int, mine: int, b: int, theirs: int) -> list[Link] | None:
        links, name = self._host.links, self._host.rank
        if isinstance(links, Switch):
            if a // links.domain_hosts != b // links.domain_hosts:
                return None
            shares = [self._faults.left("nvlink", host, rank) for host, rank in ((a, mine), (b, theirs))]
            if not all(shares):
                return None
            out = self._first(f"host {a} {name} {mine} NVLink out", NVLINK, links, shares[0])
            return [out, self._next(f"host {b} {name} {theirs} NVLink in", NVLINK, links, shares[1])]
        if isinstance(links, Mesh) and a == b:
            share = links.links[mine][theirs] * self._faults.left("nvlink", a, mine, theirs)
            return [self._first(f"host {a} NVLink {mine}→{theirs}", NVLINK, links, share)] if share else None
        return None

    def _to_switch(self, rank: int, joined: int, up: bool) -> list[Link] | None:
        """The way of a rank to the switch that reduces, which `joined` is joined to, or back. What goes up and comes
        down shares the rank's port with all else, and gets no more than a part of it."""
        links, name = self._host.links, self._host.rank
        host, mine = divmod(rank, self._ranks_per_host)
        if not isinstance(links, Switch) or links.sharp is None:
            return None
        share = self._faults.left("nvlink", host, mine)
        if host // links.domain_hosts != joined // self._ranks_per_host // links.domain_hosts or not share:
            return None
        way = "out" if up else "in"
        port = f"host {host} {name} {mine} NVLink {way}"
        rate = links.useful_rate * share * links.sharp.reached.si
        sums = Link(f"{port} (SHARP)", NVLINK, rate, links.sharp.latency.si if up else 0.0)
        return [self._first(port, NVLINK, links, share) if up else self._next(port, NVLINK, links, share), sums]

    def _bus(self, host: int, mine: int, theirs: int) -> list[Link] | None:
        bus = self._host.bus
        if bus is None:
            return None
        ends = self._slots(host, mine, host, theirs)
        if ends is None:
            return None
        here, there = bus.bridges[mine], bus.bridges[theirs]
        if here == there:
            return ends
        up = self._next(f"host {host} bridge {here} up", PCIE, bus)
        down = self._next(f"host {host} bridge {there} down", PCIE, bus)
        across = self._between(host, bus.between, bus.sockets[here], bus.sockets[there])
        return [ends[0], up, *across, down, ends[1]]

    def _slots(self, a: int, mine: int, b: int, theirs: int) -> list[Link] | None:
        """A rank's way out of its PCIe slot, and another's in."""
        bus, name = self._host.bus, self._host.rank
        assert bus is not None
        shares = [self._faults.left("pcie", host, rank) for host, rank in ((a, mine), (b, theirs))]
        if not all(shares):
            return None
        out = self._first(f"host {a} {name} {mine} PCIe out", PCIE, bus, shares[0])
        return [out, self._next(f"host {b} {name} {theirs} PCIe in", PCIE, bus, shares[1])]

    def _memory(self, host: int, mine: int, theirs: int) -> list[Link] | None:
        memory = self._host.memory
        if memory is None:
            return None
        here, there = memory.sockets[mine], memory.sockets[theirs]
        of_socket = self._first(f"host {host} memory of socket {here}", MEMORY, memory)
        return [of_socket, *self._cores(host, memory, mine, theirs), *self._between(host, memory.between, here, there)]

    def _cores(self, host: int, memory: Memory, mine: int, theirs: int) -> list[Link]:
        """The cores that move a message: the sender's into a slot, then the receiver's out of it. Where ranks outnumber
        the cores, no rank keeps one: all that the cores do is limited, too."""
        if memory.core is None:
            return []
        rate = memory.core.si
        first = host * self._ranks_per_host
        cores = [Link(f"host {host} core of rank {rank}", CORE, rate, 0.0, first + rank) for rank in (mine, theirs)]
        if memory.cores is not None and memory.cores < self._ranks_per_host:
            cores.append(Link(f"host {host} all cores", CORE, rate * memory.cores, 0.0, ALL_CORES))
        return cores

    def _between(self, host: int, between: LinkClass, here: int, there: int) -> list[Link]:
        return [] if here == there else [self._first(f"host {host} socket {here}→{there}", SOCKET, between)]

    def _network(self, a: int, mine: int, b: int, theirs: int) -> list[Link] | None:
        nics = self._host.nics
        if nics is None:
            return None
        out, into = self._port(a, mine), self._port(b, theirs)
        ends = [] if nics.spread or self._host.bus is None else self._slots(a, mine, b, theirs)
        if out is None or into is None or ends is None:
            return None
        first = self._first(f"host {a} {out[1]} out", PORT, nics, out[2])
        last = self._next(f"host {b} {into[1]} in", PORT, nics, into[2])
        way = [first, *self._spine(a, out[0], b, into[0]), *([last] if nics.receives == "rate" else [])]
        return [ends[0], *way, ends[1]] if ends else way

    def _port(self, host: int, rank: int) -> tuple[int, str, float] | None:
        """(rail, name, rate in ports) of what a rank sends through: its own port, the next one where that is down, or
        all of the host's."""
        nics = self._host.nics
        assert nics is not None
        shares = [self._faults.left("rail", host, port) for port in range(nics.count)]
        if nics.spread:
            return (0, "all ports", sum(shares)) if any(shares) else None
        own = nics.of_rank[rank]
        order = [(own + step) % nics.count for step in range(nics.count)]
        port = next((port for port in order if shares[port]), None)
        return None if port is None else (port, f"port {port}", shares[port])

    def _spine(self, a: int, rail: int, b: int, other: int) -> list[Link]:
        """What lies between two leaves; nothing below one leaf, or where the network is one switch."""
        fabric, nics = self._fabric, self._host.nics
        if fabric is None or nics is None:
            return []
        of_rails = fabric.rails and not nics.spread
        leaves = [(host // fabric.leaf_hosts, port if of_rails else 0) for host, port in ((a, rail), (b, other))]
        if leaves[0] == leaves[1]:
            return []
        ports = fabric.leaf_hosts * (1 if of_rails else nics.count)
        rate = nics.useful_rate * ports / fabric.oversubscription.si
        up, down = (f"leaf {pod}{f'.{port}' if of_rails else ''}" for pod, port in leaves)
        latency = fabric.latency.of(self._protocol).si
        return [Link(f"{up} up", LEAF, rate, latency), Link(f"{down} down", LEAF, rate, 0.0)]

    def _first(self, name: str, kind: str, links: LinkClass, share: float = 1.0) -> Link:
        return Link(name, kind, links.useful_rate * share, links.latency.of(self._protocol).si)

    def _next(self, name: str, kind: str, links: LinkClass, share: float = 1.0) -> Link:
        return Link(name, kind, links.useful_rate * share, 0.0)


def pairs_of_all(num_ranks: int) -> Sequence[tuple[int, int]]:
    """Returns every ordered pair of different ranks."""
    return [(a, b) for a in range(num_ranks) for b in range(num_ranks) if a != b]
