"""The table of built-in algorithms.

For: names, sources and closed-form costs, and which collectives there are. Not for: their schedules
(ringtree.schedule).
"""

from __future__ import annotations

from ringtree import _core

COLLECTIVES = tuple(_core.collectives())


def table() -> list[_core.Algorithm]:
    """All built-in algorithms: name, title, source, collectives, cost(collective, num_ranks)."""
    return list(_core.algorithms())


def names(collective: str = "all_reduce") -> list[str]:
    """The algorithms that can do `collective`."""
    return [row.name for row in _core.algorithms() if collective in row.collectives]
