"""A cluster as data: hosts of one kind, what joins them, what a channel and a protocol cost.

For: the description as a whole, and what it means for a number of nodes. Not for: its parts (host.py, fabric.py), files
(files.py), the hardware catalogue (presets.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal

from pydantic import Field, model_validator

from ringtree.errors import UsageError
from ringtree.results import Record
from ringtree.simulate.cluster.constants import Constant
from ringtree.simulate.cluster.fabric import Fabric
from ringtree.simulate.cluster.faults import Fault, Faults
from ringtree.simulate.cluster.host import ByProtocol, Channel, Count, Host, Protocol, Switch
from ringtree.simulate.cluster.network import Network, ProtocolCost, build_network
from ringtree.simulate.cluster.paths import Paths
from ringtree.units import count

FORMAT: Final = "ringtree.cluster/1"


class Cluster(Record):
    """`hosts`: how many there are, null: as many as asked for. `assumptions`: what no constant says, for people.
    `launch`: a call's fixed cost."""

    format: Literal["ringtree.cluster/1"] = FORMAT
    name: str = Field(min_length=1)
    title: str = ""
    assumptions: list[str] = Field(default_factory=list)
    hosts: Count | None = None
    host: Host
    fabric: Fabric | None = None
    channel: Channel
    launch: ByProtocol
    protocols: dict[Literal["simple", "ll", "ll128"], Protocol] = Field(min_length=1)
    faults: list[Fault] = Field(default_factory=list)

    @model_validator(mode="after")
    def _fabric_has_ports(self) -> Cluster:
        if self.fabric is not None and self.host.nics is None:
            raise ValueError("fabric: hosts without [host.nics] have no ports for it")
        return self

    def protocol(self, name: str) -> ProtocolCost:
        """Returns what a protocol costs. Raises UsageError for one that the cluster does not describe."""
        found = {str(key): value for key, value in self.protocols.items()}.get(name)
        if found is None:
            raise UsageError(f"{self.name} describes the protocols {', '.join(self.protocols)}, not {name!r}")
        return ProtocolCost(
            found.step_latency.si, found.efficiency.si, int(found.slot.si), found.slots, found.whole_slots
        )

    @property
    def domain_hosts(self) -> int:
        """Hosts whose ranks are joined by one switch."""
        return self.host.links.domain_hosts if isinstance(self.host.links, Switch) else 1

    def why_no_sums(self, protocol: str = "simple") -> str:
        """Returns in one line why no switch reduces here (NVLink SHARP); "": it does."""
        links = self.host.links
        if not isinstance(links, Switch):
            return f"{self.name} has no switch between its ranks, so no switch reduces"
        if links.sharp is None:
            return f"the switch of {self.name} does not reduce: [host.links.sharp] is missing (NVSwitch 3 and newer)"
        return "" if protocol == "simple" else f"a switch reduces with the protocol simple, not with {protocol}"

    def network(
        self,
        pairs: Iterable[tuple[int, int]],
        nodes: int,
        ranks_per_node: int | None = None,
        protocol: str = "simple",
        switches: Sequence[int] = (),
    ) -> Network:
        """Returns links and the routes of `pairs` among `nodes` hosts with `ranks_per_node` ranks each, all that a host
        has by default. Latencies are those of messages by `protocol`. `switches`: a rank that is joined to each switch
        that adds up; in `pairs` they are numbered after the ranks.

        Raises UsageError for more hosts or ranks than there are, for a pair that nothing joins, and for switches that
        do not add up.
        """
        used = self.host.ranks if ranks_per_node is None else ranks_per_node
        if not 1 <= used <= self.host.ranks:
            raise UsageError(f"{self.name} has {count(self.host.ranks, 'rank')} a host, not {used}")
        if nodes < 1 or (self.hosts is not None and nodes > self.hosts):
            most = "" if self.hosts is None else f" and has {count(self.hosts, 'host')}"
            raise UsageError(f"{self.name} needs at least 1 node{most}, not {nodes}")
        self.protocol(protocol)
        why = self.why_no_sums(protocol) if switches else ""
        if why:
            raise UsageError(why)
        paths = Paths(self.host, self.fabric, Faults(self.faults), used, protocol, nodes * used, switches)
        return build_network(
            paths,
            pairs,
            channel=self.channel,
            launch_cost=self.launch.of(protocol).si,
            num_ranks=nodes * used,
            num_switches=len(switches),
            called=self.name,
            ranks_per_host=used,
            memory=self.host.memory,
        )

    def constants(self) -> Iterator[tuple[str, Constant]]:
        """Yields every constant with its key, as TOML writes it, in lists with its number."""
        yield from _constants("", self)


def _constants(key: str, value: Any) -> Iterator[tuple[str, Constant]]:
    if isinstance(value, Constant):
        yield key, value
        return
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, (Record, dict)):
        parts = value.items() if isinstance(value, dict) else value
    elif isinstance(value, list):
        parts = enumerate(value)
    for name, one in parts:
        yield from _constants(f"{key}.{name}".lstrip("."), one)
