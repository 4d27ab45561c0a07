"""A limit in words: the one line in which a person can check it.

For: `Limit.arithmetic`. Not for: computing anything that is not already in the record.
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree.hardware.limit_records import LinkUse
from ringtree.hardware.topology import Topology

_WHERE = {
    "intra": "inside the host",
    "pair": "between two ranks of a host",
    "network": "between hosts",
    "rank": "over all links of a rank",
}


def gigabytes(rate: float) -> str:
    """Returns a rate in GB/s with four significant digits."""
    return f"{rate / 1e9:.4g} GB/s"


def sentence(collective: str, algorithm: str, topology: Topology, uses: Sequence[LinkUse], factor: float) -> str:
    """Returns one line: the bytes and rate of each class of links, the slowest, and what follows."""
    ranks, hosts = topology.num_ranks, topology.num_hosts
    where = "" if hosts == 1 else f" on {hosts} hosts"
    head = f"{collective} by {algorithm} algorithm" if algorithm == "any" else f"{collective} by {algorithm}"
    head += f", {ranks} rank{'s' if ranks > 1 else ''}{where}"
    if not uses:
        return f"{head}: no link carries anything, so nothing limits"
    known = [use for use in uses if use.rate is not None and use.algbw is not None]
    unknown = [use for use in uses if use.rate is None]
    parts = [
        f"{_WHERE[use.traffic.link]} {use.traffic.share:.4g} × size per {use.traffic.per} ({use.traffic.reason}) at "
        f"{gigabytes(use.rate or 0)} each way: algbw ≤ {gigabytes(use.algbw or 0)}"
        for use in known
    ]
    if unknown:
        names = " and ".join(_WHERE[use.traffic.link] for use in unknown)
        parts.append(f"rate {names} not known, so not counted")
    if known:
        lowest = min(use.algbw or 0 for use in known)
        parts.append(f"so busbw = {factor:.4g} × algbw ≤ {gigabytes(lowest * factor)}")
    return f"{head}: {'; '.join(parts)}"
