"""Measured times as calls that can be simulated.

For: observations of stored runs and logs on their way to a fit. Not for: reading them (ringtree.judge.runs), fitting
(fitting.py).
"""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ringtree.errors import UsageError
from ringtree.results import Observation, Origin
from ringtree.results.observation import IN_PLACE, OUT_OF_PLACE
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
    which do not say: "2026-11-25"; `left_out`: why observations were not used; `made_by`: sources that were simulated
    or emulated, and how."""

    cells: list[TimedCall]
    sources: list[str]
    date: str
    left_out: list[str]
    made_by: list[str]

    def covers(self) -> str:
        """Says which calls were measured: outside of them a calibrated cluster extrapolates."""
        calls = [one.call for one in self.cells]
        sizes = sorted({call.size_bytes for call in calls})
        ranks = sorted({len(call.hosts) for call in calls})
        span = format_size(sizes[0]) + ("" if len(sizes) == 1 else f" to {format_size(sizes[-1])}")
        algorithms = sorted({f"{one.call.collective} by {one.call.algorithm}/{one.protocol}" for one in self.cells})
        return f"{span} on {' and '.join(map(str, ranks))} ranks: {', '.join(algorithms)}"


def evidence_of(observations: Sequence[Observation], cluster: Cluster, algorithm: str | None = None) -> Evidence:
    """Returns the cells of `observations` that `cluster` can be asked about.

    A fresh start counts once in a cell: of a run's placements of cores, or of a table's times in and out of place, the
    first is taken, and the others are named. `algorithm`: what ran where a log does not tell, as those of NCCL mostly
    do not. Raises UsageError if nothing is left.
    """
    cells: dict[tuple[Call, str], TimedCall] = {}
    left: dict[str, None] = {}
    used: dict[str, str] = {}
    made: dict[str, None] = {}
    tables: dict[int, int] = {}
    places: dict[Hashable, str] = {}
    for one in observations:
        found = _call_of(one, cluster, algorithm)
        if isinstance(found, str):
            left[f"{one.origin.called}: {found}"] = None
            continue
        call, protocol, used_ranks, seconds = found
        origin = one.origin
        # Arms of a run share its launches; each table of a log is a start of its own.
        start = (origin.source, tables.setdefault(id(origin), len(tables)) if one.launch is None else None)
        if places.setdefault(start, one.place) != one.place:
            left[f"{origin.called}: {_place(one.place)}: {_place(places[start])} are taken instead"] = None
            continue
        cell = cells.setdefault((call, protocol), TimedCall(call, protocol, used_ranks, {}))
        cell.seconds.setdefault((*start, one.launch), seconds)
        used[origin.source] = origin.facts.get("created", "")[:10]
        made |= dict.fromkeys(_made_by(origin))
    if not cells:
        raise UsageError("nothing to calibrate with: " + ("; ".join(left) or "no times"))
    date = max(used.values()) or datetime.date.today().isoformat()
    return Evidence(list(cells.values()), list(used), date, list(left), list(made))


def _place(place: str) -> str:
    return {OUT_OF_PLACE: "times out of place", IN_PLACE: "times in place"}.get(place, f"times on {place} cores")


def _made_by(origin: Origin) -> Iterator[str]:
    if simulated := origin.facts.get("simulated"):
        yield f"{origin.source} was simulated, not measured: {simulated}"
    if origin.facts.get("emulated"):
        yield f"{origin.source} was emulated: its links were slowed on purpose"


def _call_of(one: Observation, cluster: Cluster, algorithm: str | None) -> tuple[Call, str, int, float] | str:
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
    if not _is_schedule(name, origin.collective):
        if one.launch is not None:
            return f"{origin.label} is not a schedule that can be simulated"
        return f"{name or 'it is not known what ran'}: no schedule of this name; --algorithm says what ran"
    if protocol not in cluster.protocols:
        return f"{cluster.name} does not describe {protocol}"
    nodes = origin.num_hosts or -(-origin.num_ranks // cluster.host.ranks)
    used, rest = divmod(origin.num_ranks, nodes)
    if rest or used > cluster.host.ranks:
        return f"{origin.num_ranks} ranks on {nodes} hosts do not fit {cluster.name}"
    hosts = tuple(rank // used for rank in range(origin.num_ranks))
    call = Call(origin.collective, name, hosts, int(total), cluster.channel.count, cluster.domain_hosts)
    try:
        CORE.check(call)
        if builtin.uses_switch(name) and (no_sums := cluster.why_no_sums(protocol)):
            return no_sums
    except UsageError as error:
        return str(error)
    return call, protocol, used, seconds


def _is_schedule(name: str, collective: str) -> bool:
    return name in builtin.switch_names(collective) or builtin.is_known(name, collective)


def _executed(one: Observation, algorithm: str | None) -> tuple[str, str]:
    """(algorithm, protocol): as it was told, else as it was asked for in the label, else `algorithm` in a log. Not in a
    run, which numbers its launches: its arms that do not tell are other libraries."""
    for told in (one.executed, one.origin.label):
        name, _, protocol = told.lower().partition("/")
        if one.origin.collective and _is_schedule(name, one.origin.collective):
            return name, protocol or _SIMPLE
    return algorithm or "" if one.launch is None else "", _SIMPLE
