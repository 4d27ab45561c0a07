"""The table of built-in algorithms.

For: names, sources and closed-form costs, and which collectives there are. Not for: their schedules
(ringtree.schedule).
"""

from __future__ import annotations

from ringtree._core import Algorithm, algorithms, parse_mix, switch_algorithms
from ringtree.errors import UsageError
from ringtree.traits import COLLECTIVES as COLLECTIVES


def table() -> list[Algorithm]:
    """All built-in algorithms that ranks can run: name, title, source, collectives, for_several_hosts, cost(collective,
    num_ranks, hosts)."""
    return list(algorithms())


def switch_table() -> list[Algorithm]:
    """Those that need a switch that reduces (NVLink SHARP): they are proved and simulated, not run. Their hosts are the
    ranks of one switch; one that is not for several hosts is for one alone."""
    return list(switch_algorithms())


def switch_names(collective: str = "all_reduce", *, several_hosts: bool | None = None) -> list[str]:
    """The names of those for `collective`; with `several_hosts` true or false those for several or for one."""
    return [
        row.name
        for row in switch_algorithms()
        if collective in row.collectives and several_hosts in (None, row.for_several_hosts)
    ]


def uses_switch(name: str) -> bool:
    """Whether an algorithm is one of those."""
    return any(row.name == name for row in switch_algorithms())


def parts(name: str) -> list[tuple[str, int]]:
    """The algorithms that a name asks for, each with its shares of the data: of "ring:3+double_tree" ("ring", 3) and
    ("double_tree", 1), of "ring" ("ring", 1). Raises UsageError for shares that can't be, and parts without a name."""
    return parse_mix(name)


def is_known(name: str, collective: str) -> bool:
    """Whether `name` is an algorithm for `collective` that ranks can run, or a mix of such. What is wrong with a mix's
    name says parts()."""
    known = names(collective, several_hosts=True)
    try:
        return all(part in known for part, _ in parts(name))
    except UsageError:
        return False


def names(collective: str = "all_reduce", *, several_hosts: bool = False) -> list[str]:
    """The algorithms for `collective`: those for ranks that share a host, or, with `several_hosts`, all. (The others
    run on one host too, where something simpler does the same.)"""
    return [
        row.name
        for row in algorithms()
        if collective in row.collectives and (several_hosts or not row.for_several_hosts)
    ]
