"""Where ranks lie and how fast their links are: what limits are computed for.

For: a description by hand (`Topology(num_hosts=2, ranks_per_host=8, intra_rate=450e9, network_rate=400e9)`) or from a
system of the catalogue (`topology_of`). Not for: the limits (limits.py).
"""

from __future__ import annotations

from pydantic import Field

from ringtree.hardware.records import Catalogue, Gpu, Record, System


class Topology(Record):
    """`ranks_per_host` ranks on each of `num_hosts` hosts. Rates are bytes/s per direction; None: not known, so that it
    limits nothing, and the result says so.

    A *host* is what shares one set of fast links: an NVLink domain of several machines (NVL72) counts as one.
    """

    num_hosts: int = Field(ge=1)
    ranks_per_host: int = Field(ge=1)
    intra_rate: float | None = Field(
        default=None, gt=0, description="what one rank can send to the others of its host, and receive at the same time"
    )
    pair_rate: float | None = Field(
        default=None, gt=0, description="between two ranks of a host, where they are joined pair by pair (a mesh)"
    )
    nvls: bool | None = Field(
        default=None,
        description="the switch inside the host adds up and multicasts; None: not known, so taken as possible",
    )
    network_rate: float | None = Field(
        default=None, gt=0, description="what one host can send over all its NICs, and receive at the same time"
    )
    network_reduces: bool | None = Field(
        default=None, description="the network adds up (SHARP); None: not known, so taken as possible"
    )
    name: str = Field(default="", description="what it was made from, for people")

    @property
    def num_ranks(self) -> int:
        return self.num_hosts * self.ranks_per_host


def topology_of(
    system: System, gpu: Gpu, *, num_hosts: int, ranks_per_host: int | None = None, catalogue: Catalogue | None = None
) -> Topology:
    """The topology of `num_hosts` hosts of `system` with `gpu`. `ranks_per_host`: GPUs used on each, all by default.
    What the catalogue does not know stays None. Raises UsageError if the host has fewer GPUs than `ranks_per_host`, or
    is not sold with `gpu`."""
    raise NotImplementedError
