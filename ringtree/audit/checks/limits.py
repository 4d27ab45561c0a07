"""Rates above what the links permit.

For: size/time of each row against the highest rate that any algorithm can have on the machine (ringtree.hardware); of a
rate that nobody says to be algbw or busbw, against the highest of either. Not for: how good a rate is: see the
efficiency that `ringtree hardware` gives.

NVLS and two-node trees legitimately exceed what a ring can: that is said, and is not an accusation. A limit is one
direction of the links: an H100's "900 GB/s" are 450 in and 450 out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ringtree.audit.checks.bandwidth_column import measures_time
from ringtree.audit.checks.in_place_all_to_all import is_unchecked_artefact
from ringtree.audit.factors import COLLECTIVES
from ringtree.audit.findings import Finding
from ringtree.audit.intervals import Interval
from ringtree.audit.machine import machine_of
from ringtree.audit.material import Material, Point, Subject
from ringtree.audit.rule import error, info, of_file, of_table
from ringtree.audit.words import figure, gigabytes, listed, size
from ringtree.errors import UsageError
from ringtree.hardware import Limit, Topology, highest
from ringtree.logs import IN_PLACE
from ringtree.logs.tables.measures import BANDWIDTH
from ringtree.nccl import limit
from ringtree.stats.bandwidth import bus_factor

ABOVE = error(
    "above-limit",
    "faster than the links permit",
    "the machine's links (nvidia-smi topo -m, ibstat), and one size measured with a second program",
)
ABOVE_RING = info(
    "above-ring-limit",
    "faster than a ring can be, and legitimately so",
    "nothing to settle; NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING shows which algorithm it was",
)
NOT_CHECKED = info(
    "limit-not-checked",
    "not held against the hardware",
    "--gpu, --system, --hosts and --ranks, as far as the log does not say them",
)
MARGIN = 1.02  # nominal rates, clocks of cables and of hosts


class Ceiling(NamedTuple):
    """The highest rates of any algorithm and of a ring (None: there is none), and what the machine is called."""

    top: Limit
    ring: Limit | None
    machine: str


class Rate(NamedTuple):
    """A measured rate. `kind`: algbw, busbw, or empty for one of which nobody says what it is."""

    point: Point
    value: Interval
    kind: str


def ceiling(subject: Subject, kind: str = "algbw") -> Ceiling | None:
    """Returns what a table's rates of a kind are held against; None where too little is known, or nothing was sent."""
    if subject.is_one_rank:
        return None
    machine = machine_of(subject)
    limits = [(one, top) for one in machine.topologies for top in _limits(subject, one)]
    if not limits or any(top.algbw is None for _, top in limits):
        return None
    topology, top = max(limits, key=lambda pair: _height(pair[1], kind))
    try:
        ring = limit(subject.table.collective or "", "Ring", topology)
    except UsageError:
        ring = None
    return Ceiling(top, ring if ring is not None and ring.algbw is not None else None, machine.called(topology))


@of_table(ABOVE, ABOVE_RING)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields a finding if a rate exceeds the limit, or that of a ring."""
    measured = [] if subject.is_one_rank else _measured(subject)
    for kind in dict.fromkeys(rate.kind for rate in measured):
        held = ceiling(subject, kind)
        if held is None:
            continue
        fastest, ring = [one for one in measured if one.kind == kind], held.ring if kind else None
        for rule, top, margin in ((ABOVE, held.top, MARGIN), (ABOVE_RING, ring, 1.0)):
            above = [one for one in fastest if top is not None and one.value.low > _height(top, kind) * margin]
            if above and top is not None:
                yield rule.found(subject, _shown(above[-1], top, held.machine), [one.point.row for one in above])
                break


@of_file(ABOVE, ABOVE_RING)
def check_by_topology(material: Material) -> Iterator[Finding]:
    """Yields the same for tables whose machine only a topology of their file tells, which is known at its end."""
    for subject in material.subjects:
        if machine_of(subject).told_by:
            yield from check.run(subject)


@of_file(NOT_CHECKED)
def check_known(material: Material) -> Iterator[Finding]:
    """Yields one info for a file of whose tables none could be held against a limit."""
    tables = [one for one in material.subjects if not one.is_one_rank and (_measured(one) or _without_unit(one))]
    reasons = [_why_not(subject) for subject in tables]
    if tables and all(reasons):
        yield NOT_CHECKED.found(material, listed(list(dict.fromkeys(reasons)), 2))


def _without_unit(subject: Subject) -> bool:
    """Whether it has figures under the names of configurations, and nobody says of what."""
    return any(one.because == "not stated what was measured" for one in subject.table.inferences)


def _why_not(subject: Subject) -> str:
    if not _measured(subject):
        return "neither the kind of its numbers nor their unit is stated"
    machine = machine_of(subject)
    if not machine.topologies:
        return machine.why
    known = [top.algbw is not None for one in machine.topologies for top in _limits(subject, one)]
    if known and all(known):
        return ""
    return f"the network, or the links, of {machine.called(machine.topologies[0])} are not known: --system"


def rates(subject: Subject) -> list[tuple[Point, Interval]]:
    """Returns the points with size/time, or what is printed as algbw, each with it."""
    return [(one.point, one.value) for one in _measured(subject) if one.kind == "algbw"]


def _measured(subject: Subject) -> list[Rate]:
    """Returns of each point its rate: size/time or algbw, else busbw, else one of which nobody says what it is."""
    skip = IN_PLACE if is_unchecked_artefact(subject) else None
    timed = measures_time(subject)
    found = []
    for point in (one for one in subject.points if one.side.place != skip):
        algbw, unnamed = (point.base if timed else None) or point.algbw, dict(point.side.others).get(BANDWIDTH)
        known = (("algbw", algbw), ("busbw", point.busbw), ("", subject.interval(unnamed, BANDWIDTH)))
        found += [Rate(point, rate, kind) for kind, rate in known if rate is not None][:1]
    return found


def _height(top: Limit, kind: str) -> float:
    """Returns the highest rate of a kind; of no known kind the highest of any."""
    return max(getattr(top, name) or 0.0 for name in ([kind] if kind else ("algbw", "busbw")))


def _limits(subject: Subject, topology: Topology) -> list[Limit]:
    """Returns the limit of the collective, or of each one that it may have been if the reader could not tell."""
    known = subject.table.collective
    names = (known,) if known in COLLECTIVES else subject.collectives
    return [highest(name, topology) for name in names]


def _shown(rate: Rate, top: Limit, machine: str) -> str:
    factor = bus_factor(top.collective, top.num_ranks) if rate.kind == "algbw" else 1.0
    height = _height(top, rate.kind) * factor
    called = "busbw " if rate.kind else ""
    which = "" if rate.kind else ", the highest of any kind of rate,"
    value = rate.value.middle * factor
    return (
        f"{size(rate.point.row)}: {called}{gigabytes(value)} is {figure(100 * value / height)} % of "
        f"{gigabytes(height)}{which} on {machine}: {top.arithmetic}"
    )
