"""Rates above what the links permit.

For: size/time of each row against the highest rate that any algorithm can have on the machine (ringtree.hardware). Not
for: how good a rate is: see the efficiency that `ringtree hardware` gives.

NVLS and two-node trees legitimately exceed what a ring can: that is said, and is no accusation. A limit is one
direction of the links: an H100's "900 GB/s" are 450 in and 450 out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ringtree.audit.checks.bandwidth_column import measures_time
from ringtree.audit.checks.in_place_all_to_all import is_unchecked_artefact
from ringtree.audit.factors import COLLECTIVES
from ringtree.audit.intervals import Interval
from ringtree.audit.machine import machine_of
from ringtree.audit.material import Material, Point, Subject
from ringtree.audit.records import Finding, Severity
from ringtree.audit.rule import FileCheck, Rule, TableCheck
from ringtree.audit.words import figure, gigabytes, listed, size
from ringtree.errors import UsageError
from ringtree.hardware import Limit, Topology, highest, limit
from ringtree.logs import IN_PLACE
from ringtree.stats.bandwidth import bus_factor

ABOVE = Rule(
    code="above-limit",
    severity=Severity.ERROR,
    title="faster than the links permit",
    means="The bytes that any algorithm must move over some class of links, divided by the time of the row, are more "
    "than these links carry in one direction. No tuning gives that: size, unit or time is not what it is called, the "
    "machine is another one, or the collective did not do its work.",
    settles="the machine's links (nvidia-smi topo -m, ibstat), and one size measured with a second program",
    example="1 GB: busbw 1411.5 GB/s is 179.24 % of 787.5 GB/s on a machine such as 1 × BM.GPU.H100.8 (H100 SXM5 "
    "80GB): all_reduce by any algorithm, 8 ranks: inside the host 1 × size per rank (a switch may add up: all data "
    "must leave each rank once and the sum reach it: 1) at 450 GB/s each way: algbw ≤ 450 GB/s; so busbw = 1.75 × "
    "algbw ≤ 787.5 GB/s",
)
ABOVE_RING = Rule(
    code="above-ring-limit",
    severity=Severity.INFO,
    title="faster than a ring can be, and legitimately so",
    means="busbw is defined so that a ring on links of rate B has at most B. NVLS, where the switch adds up, and "
    "trees between two hosts move fewer bytes over the links than a ring does, so their busbw may lie above the rate "
    "of a link.",
    settles="nothing needs to be: NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING shows which algorithm it was",
    example="1 GB: busbw 483.63 GB/s is 107.47 % of 450 GB/s on a machine such as 1 × BM.GPU.H100.8 (H100 SXM5 80GB): "
    "all_reduce by Ring, 8 ranks: inside the host 1.75 × size per rank (every rank sends 2(n-1)/n of the size to the "
    "next of the ring) at 450 GB/s each way: algbw ≤ 257.1 GB/s; so busbw = 1.75 × algbw ≤ 450 GB/s",
)
NOT_CHECKED = Rule(
    code="limit-not-checked",
    severity=Severity.INFO,
    title="not held against the hardware",
    means="The log does not say enough of the machine for a limit, so rates were not held against one.",
    settles="--gpu, --system, --hosts and --ranks, as far as the log does not say them",
    example="no GPU is named: --gpu",
)
MARGIN = 1.02  # nominal rates, clocks of cables and of hosts


class Ceiling(NamedTuple):
    """The highest rates of any algorithm and of a ring (None: there is none), and what the machine is called."""

    top: Limit
    ring: Limit | None
    machine: str


def ceiling(subject: Subject) -> Ceiling | None:
    """Returns what a table's rates are held against; None where too little is known, or nothing was sent."""
    if subject.is_one_rank:
        return None
    machine = machine_of(subject)
    limits = [(one, top) for one in machine.topologies for top in _limits(subject, one)]
    if not limits or any(top.algbw is None for _, top in limits):
        return None
    topology, top = max(limits, key=lambda pair: pair[1].algbw or 0.0)
    ring = _ring(subject, topology)
    return Ceiling(top, ring if ring is not None and ring.algbw is not None else None, machine.called(topology))


def check(subject: Subject) -> Iterator[Finding]:
    """Yields a finding if a rate exceeds the limit, or that of a ring."""
    fastest = [] if subject.is_one_rank else rates(subject)
    held = ceiling(subject) if fastest else None
    if held is None:
        return
    above = [point for point, rate in fastest if rate.low > (held.top.algbw or 0.0) * MARGIN]
    if above:
        yield ABOVE.found(subject, _shown(above[-1], held.top, held.machine), [point.row for point in above])
        return
    beyond = [] if held.ring is None else [point for point, rate in fastest if rate.low > (held.ring.algbw or 0.0)]
    if held.ring is not None and beyond:
        shown = _shown(beyond[-1], held.ring, held.machine)
        yield ABOVE_RING.found(subject, shown, [point.row for point in beyond])


def check_known(material: Material) -> Iterator[Finding]:
    """Yields one info for a file of whose tables none could be held against a limit."""
    tables = [subject for subject in material.subjects if not subject.is_one_rank and rates(subject)]
    reasons = [_why_not(subject) for subject in tables]
    if tables and all(reasons):
        yield NOT_CHECKED.found(None, listed(list(dict.fromkeys(reasons)), 2), file=material.file)


def _why_not(subject: Subject) -> str:
    machine = machine_of(subject)
    if not machine.topologies:
        return machine.why
    known = [top.algbw is not None for one in machine.topologies for top in _limits(subject, one)]
    if known and all(known):
        return ""
    return f"the network, or the links, of {machine.called(machine.topologies[0])} are not known: --system"


def rates(subject: Subject) -> list[tuple[Point, Interval]]:
    """Returns the points with size/time, or what is printed as algbw, each with it."""
    skip = IN_PLACE if is_unchecked_artefact(subject) else None
    timed = measures_time(subject)
    found = []
    for point in subject.points:
        rate = (point.base if timed else None) or point.algbw
        if rate is not None and point.side.place != skip:
            found.append((point, rate))
    return found


def _limits(subject: Subject, topology: Topology) -> list[Limit]:
    """Returns the limit of the collective, or of each one that it may have been if the reader could not tell."""
    known = subject.table.collective
    names = (known,) if known in COLLECTIVES else subject.collectives
    return [highest(name, topology) for name in names]


def _ring(subject: Subject, topology: Topology) -> Limit | None:
    try:
        return limit(subject.table.collective or "", "Ring", topology, "nccl")
    except UsageError:
        return None


def _shown(point: Point, top: Limit, machine: str) -> str:
    rate = point.base or point.algbw
    assert rate is not None
    factor = bus_factor(top.collective, top.num_ranks)
    share = rate.middle / (top.algbw or 1.0)
    return (
        f"{size(point.row)}: busbw {gigabytes(rate.middle * factor)} is {figure(100 * share)} % of "
        f"{gigabytes((top.algbw or 0.0) * factor)} on {machine}: {top.arithmetic}"
    )


CHECK = TableCheck((ABOVE, ABOVE_RING), check)
KNOWN_CHECK = FileCheck((NOT_CHECKED,), check_known)
