"""The hosts on which a launcher has started the processes whose ranks a tuning measures.

For: which world that is. Not for: starting ranks there (ringtree.measure.crew).
"""

from __future__ import annotations

from dataclasses import dataclass

from ringtree.errors import UsageError
from ringtree.measure.crew import Crew
from ringtree.units import parse_counts


@dataclass(frozen=True)
class Hosts:
    """`num_hosts` hosts with equal, consecutive ranks per host."""

    num_ranks: int
    num_hosts: int
    own_cores: bool  # every rank has one


def hosts_of(crew: Crew, ranks: str | None = None) -> Hosts:
    """Returns the hosts of a crew's ranks; `ranks`: how many, None: one an agent. Raises UsageError for another number
    than agents can share, or hosts that are not as rules describe them."""
    counts = [crew.num_agents] if ranks is None else parse_counts(ranks, "ranks")
    if len(counts) != 1:
        raise UsageError(f"under a launcher, tune takes one number of ranks, not --ranks {ranks}")
    hosts = crew.hosts_of(counts[0])
    num_hosts = max(hosts) + 1
    if hosts != sorted(hosts) or len({*map(hosts.count, hosts)}) > 1:
        raise UsageError("tuning needs the same number of ranks on each host, numbered host by host")
    agents_are_ranks = crew.num_agents == len(hosts)
    own_cores = crew.comm.own_cores if agents_are_ranks else len(hosts) // num_hosts <= len(crew.cores)
    return Hosts(len(hosts), num_hosts, own_cores)
