"""A host as data: its links, its buses, its memory, its network ports, and what a channel costs there.

For: the shape of these parts of a description, checked when it is read. Not for: the cluster as a whole
(description.py), the hardware catalogue (presets.py), links and routes (paths.py).

Ranks of a host are numbered from 0. Every rate is of one direction; a link is used in both at the same time.
"""

from __future__ import annotations

import itertools
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ringtree.results import Record
from ringtree.simulate.cluster.constants import Rate, Share, Size, Time

PROTOCOLS = ("simple", "ll", "ll128")
Index = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
ALL = Share(value=1, unit="1")


class ByProtocol(Record):
    """A time that depends on the protocol. A single constant in TOML holds for all of them."""

    simple: Time
    ll: Time
    ll128: Time

    @model_validator(mode="before")
    @classmethod
    def _of_one(cls, given: Any) -> Any:
        plain = not isinstance(given, dict) or "value" in given
        return dict.fromkeys(PROTOCOLS, given) if plain and not isinstance(given, ByProtocol) else given

    def of(self, protocol: str) -> Time:
        """Returns that of a protocol."""
        found: Time = getattr(self, protocol)
        return found


class LinkClass(Record):
    """Links of one kind. `latency`: of a message that takes one, charged once for the class. `reached`: the share of
    the rate that programs get."""

    rate: Rate
    latency: ByProtocol
    reached: Share = ALL

    @property
    def useful_rate(self) -> float:
        """Bytes/s that programs get in one direction."""
        return self.rate.si * self.reached.si


class Sharp(Record):
    """NVLink SHARP: the switch reduces what its ranks send, and multicasts, by the protocol simple. `latency`: of a
    message up to the switch and down, beside that of the port; `reached`: the share of what other messages get of a
    port that these get."""

    latency: Time
    reached: Share = ALL


class Switch(LinkClass):
    """NVSwitch: each rank has a port, `rate` in and `rate` out; any two ranks meet inside. `domain_hosts`: hosts whose
    ranks share it (NVL72: 18). `sharp`: what it costs that the switch reduces; null: it does not."""

    kind: Literal["switch"] = "switch"
    domain_hosts: Count = 1
    sharp: Sharp | None = None


class Mesh(LinkClass):
    """Links between pairs of ranks. `rate` is that of one link; `links[a][b]` how many join a and b."""

    kind: Literal["mesh"] = "mesh"
    links: list[list[Index]]


class Bus(LinkClass):
    """PCIe: each rank has a slot of `rate` below a bridge (a PCIe switch or a root port), each bridge an uplink of
    `rate` to its socket. `bridges`: of each rank; `sockets`: of each bridge; `between`: links between two sockets."""

    bridges: list[Index]
    sockets: list[Index]
    between: LinkClass


class Touched(Record):
    """Bytes/s that a core reads or writes while its rank goes through `bytes` again and again."""

    bytes: Size
    rate: Rate


class Memory(LinkClass):
    """Shared memory: what ranks of one socket send passes through its memory, whose copying rate is `rate`.
    `sockets`: of each rank; `between`: links between two sockets. `core`: bytes/s that a rank's core moves, what it
    sends and what it receives together, since one thread does both; without it cores do not limit. `touched`: how
    fast a core reads and writes slots and buffers in addition, by how much its ranks go through in a call; empty: that
    takes no time. `cores`: that the host has, if ranks may be more."""

    sockets: list[Index]
    between: LinkClass
    core: Rate | None = None
    touched: list[Touched] = Field(default_factory=list)
    cores: Count | None = None

    @model_validator(mode="after")
    def _touched_ascends(self) -> Memory:
        sizes = [one.bytes.si for one in self.touched]
        if self.touched and self.core is None:
            raise ValueError("memory.touched is for the cores of memory.core, which is not given")
        if any(one >= other for one, other in itertools.pairwise(sizes)):
            raise ValueError("memory.touched names its bytes in ascending order")
        return self

    def ranks_of_a_core(self, ranks: int) -> float:
        """Returns how many of a host's `ranks` take turns on a core, 1 or more."""
        return max(1.0, ranks / self.cores) if self.cores else 1.0


class Nics(LinkClass):
    """Network ports, of `rate` each. `of_rank`: the port of each rank, which is its rail. `spread`: channels take turns
    over all ports of the host, as NCCL's do, so that each rank's traffic has the rate of all of them together.
    `receives`: "any": what comes in is not limited, as on clusters that `ringtree compare --emulate` makes."""

    count: Count
    of_rank: list[Index]
    spread: bool = False
    receives: Literal["rate", "any"] = "rate"


class Host(Record):
    """What a host holds. `rank`: what one rank is, "GPU" or "core". Of `links`, `bus` and `memory` those that there
    are: a message inside the host takes the first one that joins both ranks."""

    ranks: Count
    rank: Literal["GPU", "core"] = "GPU"
    links: Annotated[Switch | Mesh, Field(discriminator="kind")] | None = None
    bus: Bus | None = None
    memory: Memory | None = None
    nics: Nics | None = None

    @model_validator(mode="after")
    def _lists_fit(self) -> Host:
        for name, members in (
            ("links.links", self.links.links if isinstance(self.links, Mesh) else None),
            ("bus.bridges", None if self.bus is None else self.bus.bridges),
            ("memory.sockets", None if self.memory is None else self.memory.sockets),
            ("nics.of_rank", None if self.nics is None else self.nics.of_rank),
        ):
            if members is not None and len(members) != self.ranks:
                raise ValueError(f"{name} has {len(members)} entries for {self.ranks} ranks")
        if isinstance(self.links, Mesh):
            _check_matrix(self.links.links)
        if self.bus is not None and max(self.bus.bridges) >= len(self.bus.sockets):
            raise ValueError(
                f"bus.sockets names the socket of {len(self.bus.sockets)} bridges; a rank has bridge "
                f"{max(self.bus.bridges)}"
            )
        if self.nics is not None and max(self.nics.of_rank) >= self.nics.count:
            raise ValueError(f"nics.of_rank names port {max(self.nics.of_rank)} of {self.nics.count}, counted from 0")
        return self


class Protocol(Record):
    """What a protocol costs a channel. `step_latency`: added to each message beside that of its link; `efficiency`:
    payload as a share of what travels; `slot`: of one slot, data and flags; `slots`: of a link. `whole_slots`: messages
    that no rank passes on fill a slot before another one is begun; on emulated clusters the engine cuts all of them."""

    step_latency: Time
    efficiency: Share
    slot: Size
    slots: Count
    whole_slots: bool = True


class Channel(Record):
    """A channel of a rank. `copy_rate`: bytes/s that it sends, receives or copies at
    most; `reduce_rate`: bytes/s of results that it adds up."""

    count: Count
    copy_rate: Rate
    reduce_rate: Rate


def _check_matrix(links: list[list[int]]) -> None:
    for a, row in enumerate(links):
        if len(row) != len(links):
            raise ValueError(f"links.links is a square matrix; row {a} has {len(row)} entries, not {len(links)}")
        for b, number in enumerate(row):
            if number != links[b][a]:
                raise ValueError(f"links.links joins {a} to {b} by {number} links, but {b} to {a} by {links[b][a]}")
        if row[a]:
            raise ValueError(f"links.links joins {a} to itself")
