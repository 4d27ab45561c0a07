"""Measured times as calls that can be simulated.

For: observations of stored runs and logs on their way to a fit. Not for: reading them (ringtree.judge.runs), fitting
(fitting.py).
"""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ringtree.errors import UsageError
from ringtree.results import Observation
from ringtree.schedules import algorithms as builtin
from ringtree.simulate.cluster import Cluster
from ringtree.simulate.on_core import CORE
from ringtree.simulate.sweep import Call
from ringtree.traits import COLLECTIVES
from ringtree.units import format_size

_SIMPLE = "simple"


@dataclass(frozen=True)
class TimedCall:
    """A call, its protocol, and what it took: seconds in each fresh start (key: what tells starts apart)."""

    call: Call
    protocol: str
    ranks_per_node: int
    seconds: dict[Hashable, float]

    @property
    def median(self) -> float:
        """Seconds: the median over fresh starts."""
        return float(np.median(list(self.seconds.values())))


@dataclass(frozen=True)
class Evidence:
    """What a fit rests on. `sources`: ids of runs and names of logs; `date`: of the newest run, today if they are logs,
    which do not say: "2026-11-25"; `left_out`: why observations were not used."""

    cells: list[TimedCall]
    sources: list[str]
    date: str
    left_out: list[str]

    def covers(self) -> str:
        """Says which calls were measured: outside of them a calibrated cluster extrapolates."""
        calls = [one.call for one in self.cells]
        sizes = sorted({call.size_bytes for call in calls})
        ranks = sorted({len(call.hosts) for call in calls})
        span = format_size(sizes[0]) + ("" if len(sizes) == 1 else f" to {format_size(sizes[-1])}")
        algorithms = sorted({f"{one.call.collective} by {one.call.algorithm}/{one.protocol}" for one in self.cells})
        return f"{span} on {' and '.join(map(str, ranks))} ranks: {', '.join(algorithms)}"


def evidence_of(
    observations: Sequence[Observation], cluster: Cluster, algorithm: str | None = None, channels: int | None = None
) -> Evidence:
    """Returns the cells of `observations` that `cluster` can be asked about.

    `algorithm`: what ran where an observation does not tell, as logs of NCCL mostly do not; `channels`: the cluster's
    by default. Raises UsageError if nothing is left.
    """
    cells: dict[tuple[Call, str], TimedCall] = {}
    left: dict[str, None] = {}
    used: dict[str, str] = {}
    for one in observations:
        found = _call_of(one, cluster, algorithm, channels or cluster.channel.count)
        if isinstance(found, str):
            left[f"{one.origin.called}: {found}"] = None
            continue
        call, protocol, used_ranks, seconds = found
        cell = cells.setdefault((call, protocol), TimedCall(call, protocol, used_ranks, {}))
        cell.seconds.setdefault((one.launch_key, one.place), seconds)
        used[one.origin.source] = one.origin.facts.get("created", "")[:10]
    if not cells:
        raise UsageError("nothing to calibrate by: " + ("; ".join(left) or "no times"))
    date = max(used.values()) or datetime.date.today().isoformat()
    return Evidence(list(cells.values()), list(used), date, list(left))


def _call_of(
    one: Observation, cluster: Cluster, algorithm: str | None, channels: int
) -> tuple[Call, str, int, float] | str:
    """The call, its protocol, ranks a node and seconds of an observation, or why it is none that can be simulated."""
    origin = one.origin
    why = origin.failed or one.wrong
    if why:
        return why
    total = origin.size_means.total_bytes(one.size_bytes or 0, origin.num_ranks)
    printed = one.derived_seconds
    seconds = one.seconds or (printed[0] if printed else None)
    if not total or seconds is None or origin.collective not in COLLECTIVES or not origin.num_ranks:
        return "no collective, number of ranks, size or time"
    name, protocol = _executed(one, algorithm)
    if name not in builtin.names(origin.collective, several_hosts=True):
        return f"{name or 'what ran is not told'}: no schedule of this name; --algorithm says what ran"
    if protocol not in cluster.protocols:
        return f"{cluster.name} does not describe {protocol}"
    nodes = origin.num_hosts or -(-origin.num_ranks // cluster.host.ranks)
    used, rest = divmod(origin.num_ranks, nodes)
    if rest or used > cluster.host.ranks:
        return f"{origin.num_ranks} ranks on {nodes} hosts do not fit {cluster.name}"
    hosts = tuple(rank // used for rank in range(origin.num_ranks))
    call = Call(origin.collective, name, hosts, int(total), channels)
    try:
        CORE.check(call)
    except UsageError as error:
        return str(error)
    return call, protocol, used, seconds


def _executed(one: Observation, algorithm: str | None) -> tuple[str, str]:
    """(algorithm, protocol): as it was told, else as it was asked for in the label, else `algorithm`."""
    for told in (one.executed, one.origin.label):
        name, _, protocol = told.lower().partition("/")
        if one.origin.collective and name in builtin.names(one.origin.collective, several_hosts=True):
            return name, protocol or _SIMPLE
    return algorithm or "", _SIMPLE
