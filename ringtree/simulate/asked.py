"""What a user asks of a simulation, checked before anything is simulated.

For: the shape of a sweep over nodes, sizes and algorithms. Not for: running it (sweep.py), the cluster's description
(ringtree.simulate.cluster).
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import NamedTuple

from ringtree.errors import UsageError
from ringtree.schedules import algorithms as builtin
from ringtree.simulate.cluster import Cluster, load_cluster
from ringtree.simulate.cluster.what_if import degraded
from ringtree.traits import COLLECTIVES
from ringtree.units import count, parse_sizes

ALL = "all"
MAX_RANKS = 1 << 16
_MOST_NODES = 32


@dataclass(frozen=True)
class Asked:
    """As it is written on the command line."""

    cluster: str
    nodes: str = "1"
    collective: str = "all_reduce"
    algorithm: str = "ring,double_tree"
    sizes: str = "1K:1G"
    protocol: str = "simple"
    channels: int | None = None
    ranks_per_node: int | None = None
    what_if: tuple[str, ...] = ()


class Arm(NamedTuple):
    """An algorithm by one protocol. `label`: tells it from the others of the sweep."""

    label: str
    algorithm: str
    protocol: str


@dataclass(frozen=True)
class Sweep:
    """What is simulated: every arm at every size on every number of nodes."""

    cluster: Cluster
    asked: str  # for: a name or a file
    what_if: tuple[str, ...]
    collective: str
    nodes: tuple[int, ...]
    ranks_per_node: int
    arms: tuple[Arm, ...]
    sizes: tuple[int, ...]
    channels: int


def sweep_of(asked: Asked) -> Sweep:
    """Returns what is asked for. Raises UsageError, in one line, for what can't be."""
    cluster = degraded(load_cluster(asked.cluster), asked.what_if)
    if asked.collective not in COLLECTIVES:
        raise UsageError(f"unknown collective {asked.collective!r}: there are {', '.join(COLLECTIVES)}")
    nodes = parse_nodes(asked.nodes)
    used = asked.ranks_per_node or cluster.host.ranks
    if used > cluster.host.ranks:
        raise UsageError(f"{cluster.name} has {count(cluster.host.ranks, 'rank')} a host, not {used}")
    if nodes[-1] * used > MAX_RANKS:
        raise UsageError(f"{nodes[-1]} nodes of {count(used, 'rank')} are more than {MAX_RANKS} ranks")
    if nodes[-1] * used < 2:
        raise UsageError("a collective of one rank takes no time: use more nodes or ranks")
    sizes = parse_sizes(asked.sizes)
    if sizes[0] < 1:
        raise UsageError("sizes must be above 0: nothing is sent for 0 bytes")
    protocols = tuple(cluster.protocols) if asked.protocol == ALL else tuple(_words(asked.protocol))
    for protocol in protocols:
        cluster.protocol(protocol)
    algorithms = _algorithms(asked, nodes, cluster)
    return Sweep(
        cluster=cluster,
        asked=asked.cluster,
        what_if=asked.what_if,
        collective=asked.collective,
        nodes=tuple(one for one in nodes if one * used > 1),
        ranks_per_node=used,
        arms=tuple(
            Arm(name if len(protocols) == 1 else f"{name}/{protocol}", name, protocol)
            for name, protocol in itertools.product(algorithms, protocols)
        ),
        sizes=tuple(sizes),
        channels=asked.channels or cluster.channel.count,
    )


def parse_nodes(text: str) -> list[int]:
    """Returns the numbers of "8", "1,2,4" and "1:512", which doubles and ends at its end."""
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,5})(?:\s*:\s*(\d{1,5}))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            raise UsageError(f"invalid nodes {text!r}: write a number, 1,2,4 or 1:512, which doubles")
        while first < last:
            found.add(first)
            first *= 2
        found.add(last)
    if len(found) > _MOST_NODES:
        raise UsageError(f"{text!r} means {len(found)} numbers of nodes, more than {_MOST_NODES}")
    return sorted(found)


def _algorithms(asked: Asked, nodes: list[int], cluster: Cluster) -> list[str]:
    """Those that are asked for; `all` has those of switches that reduce where the cluster has such a switch."""
    why = cluster.why_no_sums()
    known = [*builtin.names(asked.collective, several_hosts=True), *builtin.switch_names(asked.collective)]
    if asked.algorithm == ALL:
        domains = [-(-one // cluster.domain_hosts) for one in nodes]
        kinds = [several for several in (False, True) if not why and any((one > 1) == several for one in domains)]
        in_switch = [name for kind in kinds for name in builtin.switch_names(asked.collective, several_hosts=kind)]
        return [*builtin.names(asked.collective, several_hosts=nodes[-1] > 1), *in_switch]
    words = _words(asked.algorithm)
    unknown = [part for word in words for part, _ in builtin.parts(word) if part not in known]
    if unknown:
        known = [name for name in known if not (why and builtin.uses_switch(name))]
        raise UsageError(f"{asked.collective} has no algorithm {unknown[0]!r}: there are {', '.join(known)}, and all")
    in_switch = [word for word in words if builtin.uses_switch(word)]
    if in_switch and why:
        raise UsageError(f"{in_switch[0]}: {why}")
    return words


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
