"""A cluster on a terminal: a drawing of a host by its ranks, then every constant with its source.

For: `ringtree cluster show`, `ringtree cluster list`. Not for: what a description means (ringtree.simulate.cluster).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.table import Table

from ringtree.show.cells import cell, plain_table
from ringtree.simulate.cluster import Cluster
from ringtree.simulate.cluster.host import Bus, LinkClass, Memory, Mesh, Nics, Switch
from ringtree.simulate.cluster.presets import Preset
from ringtree.units import count, format_rate, format_time

_WIDTH = 4
_MOST_DRAWN = 16
_LABEL = 10


def drawing(cluster: Cluster) -> list[str]:
    """Returns the lines of a drawing: what joins hosts above, a host's ranks, what joins them below."""
    host = cluster.host
    shown = min(host.ranks, _MOST_DRAWN)
    ranks = range(shown)
    more = "" if shown == host.ranks else f"  … to {host.ranks - 1}"
    lines = [f"{cluster.name}: {cluster.title}" if cluster.title else cluster.name, ""]
    if host.nics is not None:
        lines += _above(cluster, host.nics, shown)
    lines.append(_row(f"{host.rank}s", [str(rank) for rank in ranks]) + more)
    if isinstance(host.links, Switch):
        lines += _tier("switch", [0] * shown, _cost(host.links) + " a port, each way")
        if host.links.sharp is not None:
            rate = host.links.useful_rate * host.links.sharp.reached.si
            more = format_time(host.links.sharp.latency.si)
            lines.append(f"{'':{_LABEL}}it adds up and multicasts: {format_rate(rate)} a port, {more} more (NVLS)")
        if host.links.domain_hosts > 1:
            lines.append(f"{'':{_LABEL}}one switch for {host.links.domain_hosts} hosts")
    if isinstance(host.links, Mesh):
        lines += _matrix(host.links, shown)
    if isinstance(host.bus, Bus):
        lines += _tier(
            "bridges", [host.bus.bridges[rank] for rank in ranks], _cost(host.bus) + " a slot, and each uplink"
        )
        lines += _tier("sockets", [host.bus.sockets[host.bus.bridges[rank]] for rank in ranks],
                       f"{format_rate(host.bus.between.useful_rate)} between two")  # fmt: skip
    if isinstance(host.memory, Memory):
        lines += _tier("memory", [host.memory.sockets[rank] for rank in ranks], _cost(host.memory) + " a socket")
    lines += [f"what if: {fault}" for fault in cluster.faults]
    return [line.rstrip() for line in lines]


def constants_table(cluster: Cluster) -> Table:
    """Returns every constant with its unit, source and date."""
    table = plain_table("constant", right=("value",))
    for heading in ("source", "date"):
        table.add_column(heading, overflow="fold")
    for key, one in cluster.constants():
        table.add_row(cell(key), cell(str(one)), cell(one.source), cell(one.date))
    return table


def summary_lines(cluster: Cluster) -> list[str]:
    """Returns what a reader must know of the constants as a whole."""
    every = [one for _, one in cluster.constants()]
    assumed = sum(one.assumed for one in every)
    lines = [f"{assumed} of {count(len(every), 'constant')} are assumed; rates are of one direction"]
    return lines + [f"assumed: {text}" for text in cluster.assumptions]


def list_table(presets: Iterable[Preset]) -> Table:
    """Returns the names of all presets."""
    table = plain_table("name", "what it is", "other names")
    for one in presets:
        table.add_row(cell(one.name), cell(one.title), cell(", ".join(one.also)))
    return table


def _above(cluster: Cluster, nics: Nics, shown: int) -> list[str]:
    lines = []
    fabric = cluster.fabric
    if fabric is not None:
        leaves = "a leaf for each rail" if fabric.rails else "one leaf"
        over = f"{fabric.oversubscription.si:g}:1"
        lines.append(f"{'spine':{_LABEL}}{'═' * _WIDTH * shown}  uplinks {over}")
        lines.append(f"{'leaf':{_LABEL}}{leaves} of {count(fabric.leaf_hosts, 'host')}")
    name = "channels take turns over all of them" if nics.spread else "each rank uses the one above it"
    ports = [nics.of_rank[rank] for rank in range(shown)]
    drawn = _row("ports", [str(port) for port in ports])
    return [*lines, f"{drawn}  {count(nics.count, 'port')}, {_cost(nics)}; {name}"]


def _tier(label: str, groups: Sequence[int], words: str) -> list[str]:
    """Ranks that hang on one thing stand above one stretch of line."""
    stretches = [f"└{str(number).center(_WIDTH * len(list(group)) - 2, '─')}┘" for number, group in groupby(groups)]
    return [f"{label:{_LABEL}}{''.join(stretches)}  {words}"]


def _matrix(mesh: Mesh, shown: int) -> list[str]:
    lines = [f"{'links':{_LABEL}}{'':{_WIDTH * shown}}  {_cost(mesh)} a link, each way; how many join two ranks:"]
    for rank, row in enumerate(mesh.links[:shown]):
        lines.append(_row(f"  {rank}", ["·" if not number else str(number) for number in row[:shown]]))
    return lines


def _row(label: str, cells: Sequence[str]) -> str:
    return f"{label:{_LABEL}}" + "".join(text.center(_WIDTH) for text in cells)


def _cost(links: LinkClass) -> str:
    latency = links.latency.simple.si
    return f"{format_rate(links.useful_rate)}" + (f", {format_time(latency)}" if latency else "")
