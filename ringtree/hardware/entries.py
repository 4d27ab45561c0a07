"""What the catalogue holds: GPUs, links, networks and systems, each number with its source.

For: the shape of the entries and the rules that an entry must keep. Not for: reading files (loading.py), finding an
entry by the name that a driver prints (matching.py), what follows from the numbers (limits.py).

Every rate is *per direction*. Vendors of GPUs print the sum of both directions of all links: an H100's "900 GB/s" is 18
links × 25 GB/s × 2 directions, so 450 GB/s can leave the GPU while 450 GB/s come in. Where a source states such a sum
it is kept beside the rate as `stated_total_both_ways_GBps`, and an entry whose numbers do not multiply up to it is
refused. GBps is 1e9 bytes/s, Gbps 1e9 bits/s.
"""

from __future__ import annotations

import datetime
import math
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ringtree.results import Record

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]

# How the GPUs of a host reach each other. nvswitch: any pair at the full rate of a GPU. mesh: the same number of links
# between every pair. hybrid_cube_mesh: some pairs two links, some one, some none (DGX-1). pcie: no links of their own.
# bridge: pairs of GPUs joined by a bridge, PCIe between pairs.
IntraTopology = Literal["nvswitch", "mesh", "hybrid_cube_mesh", "bridge", "pcie"]


class Source(Record):
    """A document that numbers come from. `accessed`: the day on which the document (or a stored copy) was read for this
    catalogue; an entry that nobody has read yet has `published` only, and `ringtree hardware` says so."""

    id: str
    title: str
    address: str = Field(description="where it lies, or the name of the data sheet")
    published: str | None = Field(default=None, description="date, or as much of it as the document tells")
    accessed: datetime.date | None = None

    @model_validator(mode="after")
    def _has_a_date(self) -> Source:
        if self.published is None and self.accessed is None:
            raise ValueError("needs `published` or `accessed`")
        return self


class Sourced(Record):
    """Base of everything with numbers. `sources`: id of a source -> the keys of this entry that it states. A number
    whose key stands nowhere in `sources` is refused."""

    name: str
    sources: dict[str, list[str]]
    note: str = ""

    @model_validator(mode="after")
    def _every_number_has_a_source(self) -> Sourced:
        numbers = {key for key, value in self if _is_number(value)}
        stated = {key for keys in self.sources.values() for key in keys}
        if missing := sorted(numbers - stated):
            raise ValueError(f"no source states {', '.join(missing)}: name one in `sources`")
        if unknown := sorted(stated - {key for key, _ in self}):
            raise ValueError(f"`sources` names keys that there are not: {', '.join(unknown)}")
        return self


class Link(Sourced):
    """A kind of link: one of NVLink, xGMI, PCIe or C2C, in one direction."""

    per_direction_GBps: Positive = Field(description="of one link; PCIe: of 16 lanes, encoding taken off")  # noqa: N815
    stated_both_ways_GBps: Positive | None = Field(  # noqa: N815
        default=None, description="of one link, both directions together, where the source prints that"
    )

    @model_validator(mode="after")
    def _sums(self) -> Link:
        _must_multiply(self.stated_both_ways_GBps, 2 * self.per_direction_GBps, "2 × per_direction_GBps")
        return self


class Gpu(Sourced):
    """A GPU as it is sold: the form factor belongs to it (an H100 PCIe is not an H100 SXM)."""

    vendor: Literal["NVIDIA", "AMD", "Intel"]
    names: list[str] = Field(
        min_length=1, description="as drivers print it (nvidia-smi, rocm-smi, nccl-tests), without vendor and TM"
    )
    family: str = Field(description="the name that people use for several variants, such as H100")
    target: str = Field(description="compute capability (sm_90) or gfx target (gfx942)")
    memory_GB: Positive  # noqa: N815
    link: str | None = Field(default=None, description="the `Link` that joins it to other GPUs")
    link_count: Count | None = Field(default=None, description="links of one GPU")
    stated_total_both_ways_GBps: Positive | None = Field(  # noqa: N815
        default=None, description="all links, both directions together, as vendors print it"
    )
    host_link: str | None = Field(default=None, description="the `Link` to its CPU: a PCIe generation or C2C")
    nvls: bool = Field(default=False, description="can use reduction and multicast of an NVSwitch that has them")


class Switch(Sourced):
    """A generation of NVSwitch. `reduces`: has the reduction and multicast that NVLS uses."""

    link: str = Field(description="the `Link` of its ports")
    reduces: bool
    generation: Count


class Network(Sourced):
    """One port of a network, in one direction. A port of 400 Gbps sends 400 and receives 400 at the same time."""

    per_direction_Gbps: Positive  # noqa: N815
    fabric: Literal["infiniband", "ethernet", "efa", "slingshot"]
    reduces: bool = Field(default=False, description="its switches can add up data (SHARP)")


class System(Sourced):
    """A host type: how many GPUs, how they are joined, and what leaves the host.

    `domain_hosts`: hosts whose GPUs form one NVLink domain (NVL72: 18); limits take such a domain as one host.
    """

    names: list[str] = Field(default_factory=list, description="other spellings that logs and people use, lower case")
    maker: str = ""
    gpus: list[str] = Field(min_length=1, description="names of `Gpu` entries that it is sold with")
    gpus_per_host: Count
    topology: IntraTopology
    switch: str | None = Field(default=None, description="the `Switch` of an nvswitch topology")
    links_per_pair: Count | None = Field(default=None, description="mesh, bridge: links between two GPUs")
    network: str | None = Field(default=None, description="the `Network` of its NICs; None: the system leaves it open")
    nics_per_host: Count | None = None
    host_Gbps: Positive | None = Field(  # noqa: N815
        default=None, description="all NICs that collectives use, per direction, as the source states it"
    )
    domain_hosts: Count | None = None

    @property
    def network_rate(self) -> float | None:
        """Bytes/s that can leave a host, and come in at the same time, over all NICs. None: not known."""
        return None if self.host_Gbps is None else self.host_Gbps * 1e9 / 8


class Catalogue(Record):
    """All entries by name. References between entries have been checked."""

    sources: dict[str, Source]
    links: dict[str, Link]
    gpus: dict[str, Gpu]
    switches: dict[str, Switch]
    networks: dict[str, Network]
    systems: dict[str, System]

    def link_rate(self, gpu: Gpu) -> float | None:
        """Bytes/s per direction of all links of `gpu` to other GPUs together. None: it has none."""
        if gpu.link is None or gpu.link_count is None:
            return None
        return self.links[gpu.link].per_direction_GBps * gpu.link_count * 1e9

    def host_link_rate(self, gpu: Gpu) -> float | None:
        """Bytes/s per direction of the link of `gpu` to its CPU. None: not known."""
        return None if gpu.host_link is None else self.links[gpu.host_link].per_direction_GBps * 1e9


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _must_multiply(stated: float | None, product: float, words: str) -> None:
    """Vendors round sums ("1.8 TB/s"), so one per cent is let pass."""
    if stated is not None and not math.isclose(stated, product, rel_tol=0.01):
        raise ValueError(f"the stated total is {stated:g} GB/s, but {words} is {product:g}")
