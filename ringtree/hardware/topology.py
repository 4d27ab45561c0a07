"""Where ranks lie and how fast their links are: what limits are computed for.

For: a description by hand (`Topology(num_hosts=2, ranks_per_host=8, intra_rate=450e9, network_rate=400e9)`) or from a
system of the catalogue (`topology_of`). Not for: the limits (limits.py).
"""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from ringtree.errors import UsageError
from ringtree.hardware.entries import Catalogue, Gpu, System
from ringtree.hardware.loading import load_catalogue
from ringtree.results import Record

Rate = Annotated[float | None, Field(gt=0, allow_inf_nan=False)]


class Topology(Record):
    """`ranks_per_host` ranks on each of `num_hosts` hosts. Rates are bytes/s per direction; None: not known, so that it
    limits nothing, and the result says so.

    A *host* is what shares one set of fast links: an NVLink domain of several machines (NVL72) counts as one.
    """

    num_hosts: int = Field(ge=1)
    ranks_per_host: int = Field(ge=1)
    intra_rate: Rate = Field(
        default=None, description="what one rank can send to the others of its host, and receive at the same time"
    )
    pair_rate: Rate = Field(
        default=None, description="between two ranks of a host, where they are joined pair by pair (a mesh)"
    )
    nvls: bool | None = Field(
        default=None,
        description="the switch inside the host adds up and multicasts; None: not known, so taken as possible",
    )
    network_rate: Rate = Field(
        default=None, description="what one host can send over all its NICs, and receive at the same time"
    )
    network_reduces: bool | None = Field(
        default=None, description="the network adds up (SHARP); None: not known, so taken as possible"
    )
    name: str = Field(default="", description="what it was made from, for people")

    @property
    def num_ranks(self) -> int:
        return self.num_hosts * self.ranks_per_host

    @property
    def rank_rate(self) -> float | None:
        """What one rank can send inside its host. In a mesh that is a link to each of the others, so fewer ranks on the
        host have less: 2 of 8 MI300X share one link of 64 GB/s."""
        mesh = None if self.pair_rate is None else self.pair_rate * (self.ranks_per_host - 1)
        known = [rate for rate in (self.intra_rate, mesh) if rate]
        return min(known, default=None)


def topology_of(
    system: System, gpu: Gpu, *, num_hosts: int, ranks_per_host: int | None = None, catalogue: Catalogue | None = None
) -> Topology:
    """The topology of `num_hosts` hosts of `system` with `gpu`. `ranks_per_host`: GPUs used on each, all by default.
    What the catalogue does not know stays None. Hosts of an NVLink domain that spans several become one: 36 hosts of
    NVL72 are two of 72 ranks. Raises UsageError if the host has fewer GPUs than `ranks_per_host`, is not sold with
    `gpu`, or if the hosts do not fill domains evenly.
    """
    known = catalogue or load_catalogue()
    if gpu.name not in system.gpus:
        raise UsageError(f"{system.name} has {' or '.join(system.gpus)}, not {gpu.name}")
    used = system.gpus_per_host if ranks_per_host is None else ranks_per_host
    if not 1 <= used <= system.gpus_per_host:
        raise UsageError(f"{system.name} has {system.gpus_per_host} GPUs a host, not {used}")
    domains, hosts_each = _domains(system, num_hosts)
    intra, pair = _rates(system, gpu, used, known)
    network = None if system.network is None else known.networks[system.network]
    return Topology(
        num_hosts=domains,
        ranks_per_host=used * hosts_each,
        intra_rate=intra,
        pair_rate=pair,
        nvls=gpu.nvls and system.switch is not None and known.switches[system.switch].reduces,
        network_rate=None if system.network_rate is None else system.network_rate * hosts_each,
        network_reduces=None if network is None or network.reduces else False,
        name=f"{num_hosts} × {system.name} ({gpu.name})",
    )


def topology_of_gpu(
    gpu: Gpu, *, ranks_per_host: int, num_hosts: int = 1, catalogue: Catalogue | None = None
) -> Topology:
    """The topology where the GPU is known and nothing of the board: each rank has all links of its GPU, or its link to
    the CPU if that is faster; a switch that reduces is possible if the GPU can use one; of the network nothing is
    known. A bar that holds whatever the board is."""
    known = catalogue or load_catalogue()
    rates = [rate for rate in (known.link_rate(gpu), known.host_link_rate(gpu)) if rate is not None]
    return Topology(
        num_hosts=num_hosts,
        ranks_per_host=ranks_per_host,
        intra_rate=max(rates, default=None),
        nvls=None if gpu.nvls else False,
        name=f"{gpu.name}, board not known",
    )


def _domains(system: System, num_hosts: int) -> tuple[int, int]:
    """(NVLink domains, machines in each)."""
    if num_hosts < 1:
        raise UsageError(f"there is at least one host, not {num_hosts}")
    if system.domain_hosts is None:
        return num_hosts, 1
    domains = math.ceil(num_hosts / system.domain_hosts)
    if num_hosts % domains:
        raise UsageError(
            f"{num_hosts} hosts of {system.name} do not fill NVLink domains of {system.domain_hosts} evenly: describe "
            "where the ranks lie as a Topology by hand"
        )
    return domains, num_hosts // domains


def _rates(system: System, gpu: Gpu, ranks_per_host: int, known: Catalogue) -> tuple[float | None, float | None]:
    """(what a rank can send inside the host, between two ranks where pairs have their own links)."""
    all_links, to_host = known.link_rate(gpu), known.host_link_rate(gpu)
    if system.topology == "pcie" or all_links is None or gpu.link is None:
        return to_host, None
    pair = known.links[gpu.link].per_direction_GBps * 1e9 * (system.links_per_pair or 1)
    if system.topology == "mesh":
        return all_links, pair
    if system.topology == "bridge":
        # Two ranks are taken to be the bridged ones, the faster case; more of them use the bridge and PCIe.
        return (pair, None) if ranks_per_host <= 2 else (None if to_host is None else pair + to_host, None)
    return all_links, None
