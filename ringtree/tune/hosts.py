"""The hosts on which a launcher has started the ranks that a tuning measures.

For: which world that is. Not for: starting ranks there (ringtree.measure.crew).
"""

from __future__ import annotations

from dataclasses import dataclass

from ringtree.errors import UsageError
from ringtree.measure.crew import Crew


@dataclass(frozen=True)
class Hosts:
    """`num_hosts` hosts with equal, consecutive ranks per host."""

    num_ranks: int
    num_hosts: int
    own_cores: bool  # every rank has one


def hosts_of(crew: Crew) -> Hosts:
    """Returns the hosts of a crew. Raises UsageError if they are not as rules describe hosts."""
    num_ranks, num_hosts = len(crew.hosts), max(crew.hosts) + 1
    if num_ranks % num_hosts or crew.hosts != sorted(crew.hosts) or len({*map(crew.hosts.count, crew.hosts)}) > 1:
        raise UsageError("rules require equal, consecutive ranks per host: start the ranks so")
    return Hosts(num_ranks, num_hosts, crew.comm.own_cores)
