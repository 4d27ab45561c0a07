"""Form: what a busbw means for each port of the network. "482 GB/s busbw on 2 nodes: each of 8 ports runs at 49 GB/s".

A ring sends through each of its links 2(n-1)/n times the size, so with P ports a node each carries busbw/P in each
direction. An algorithm that first adds up inside the node sends less over the network: between two nodes the vector
once each way, algbw/P. How much is counted in ringtree's schedules.
"""

from __future__ import annotations

import re

from ringtree.audit.claims import counting, lookup
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.columns import ALGBW, BUSBW
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.forms.table_values import label_of
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part
from ringtree.stats.bandwidth import bus_factor

_SAYS = Says("rate of each port")
_LINE_AFTER = re.compile(
    r"\s*(?:line[- ]rate|link[- ]rate|wire[- ]rate|ports?\b|per port|InfiniBand|nominal|a port)", re.IGNORECASE
)
_LINE_BEFORE = re.compile(
    r"(?:line[- ]rate|capacity|nominal rate|link[- ]rate)(?:\s+of)?\s*(?:the\s*)?$", re.IGNORECASE
)


def judge(claim: Claim) -> list[Part]:
    """Needs a labelled rate, a number of ports and a rate for each."""
    ports = claim.of_kind("count", "ports")
    rates = claim.of_kind("rate")
    totals = [one for one in rates if label_of(claim, one)]
    if len(ports) != 1 or len(totals) != 1 or not claim.says(r"\b(?:each|every|per|a)\b"):
        return []
    lines = [one for one in rates if one not in totals and _is_line(claim, one)]
    each = [one for one in rates if one not in totals and one not in lines]
    if len(each) != 1:
        return []
    return [_check(claim, totals[0], ports[0], each[0], lines[0] if lines else None)]


def _is_line(claim: Claim, rate: Quantity) -> bool:
    return bool(_LINE_AFTER.match(claim.text, rate.span[1]) or _LINE_BEFORE.search(claim.text[: rate.span[0]]))


def _check(claim: Claim, total: Quantity, ports: Quantity, each: Quantity, line: Quantity | None) -> Part:
    num_ports, num_hosts = ports.count, claim.num_hosts
    percents = claim.of_kind("percent")
    covers = [
        total,
        ports,
        each,
        *([line] if line else []),
        *percents,
        *claim.of_kind("count", "hosts"),
        *claim.of_kind("count", "ranks"),
    ]
    num_ranks = _num_ranks(claim, num_hosts, num_ports)
    if num_hosts is None or num_ranks is None or num_ports < 1 or num_hosts < 2:
        return _SAYS.open(
            "it is not said how many nodes and ranks take part", "the number of nodes and of ranks", covers=covers
        )
    factor = bus_factor("all_reduce", num_ranks)
    algbw = _algbw(claim, total, factor)
    bus = total.value if label_of(claim, total) == BUSBW.name else algbw * factor
    ring = bus / num_ports
    shared = counting.host_share("hierarchical_ring", num_hosts, max(1, min(8, num_ranks // num_hosts))) or 0.0
    least = algbw * shared / num_ports
    arithmetic = (
        f"ring: {lookup.gigabytes(bus)}/{num_ports} = {lookup.gigabytes(ring)} GB/s each way; adding up inside the "
        "node first: "
        f"{shared:.3g} · algbw/{num_ports} = {lookup.gigabytes(least)} GB/s"
    )
    top = line.value if line is not None else None
    if top:
        arithmetic += f", {100 * least / top:.0f} % of {lookup.gigabytes(top)}"
    too_fast = top is not None and ring > top * 1.005
    if each.agrees(ring) and not too_fast:
        return _percent(percents, ring, top) or _SAYS.holds("that is what a ring puts on each port", arithmetic, covers)
    if each.agrees(least):
        return _percent(percents, least, top) or _SAYS.holds(
            "that is what each port carries where each node adds up first", arithmetic, covers
        )
    reason = f"a ring would put {lookup.gigabytes(ring)} GB/s on each port"
    if too_fast and top is not None:
        reason += (
            f", more than its {lookup.gigabytes(top)}, so it was no ring; an algorithm that adds up inside the "
            f"node sends {lookup.gigabytes(least)}"
        )
    else:
        reason += f", an algorithm that adds up inside the node first {lookup.gigabytes(least)}"
    return _SAYS.falls(
        f"{reason}, and neither is {each.text}{_other_row(claim, each, num_ports)}",
        arithmetic,
        covers,
        "the algorithm that ran (NCCL_DEBUG_SUBSYS=TUNING) and the counters of the ports",
    )


def _percent(percents: list[Quantity], rate: float, top: float | None) -> Part | None:
    if len(percents) == 1 and top and not percents[0].agrees(rate / top):
        return _SAYS.falls(
            f"{lookup.gigabytes(rate)} of {lookup.gigabytes(top)} GB/s are {100 * rate / top:.0f} %",
            f"{lookup.gigabytes(rate)}/{lookup.gigabytes(top)} = {rate / top:.3f}",
            percents,
        )
    return None


def _num_ranks(claim: Claim, num_hosts: int | None, num_ports: int) -> int | None:
    """As stated; else one GPU a port, as hosts with a port for each GPU are built."""
    if claim.of_kind("count", "ranks"):
        return claim.num_ranks
    return num_hosts * (claim.around.ranks_per_host or num_ports) if num_hosts else None


def _algbw(claim: Claim, total: Quantity, factor: float) -> float:
    """From the row with this busbw if it has an algbw, else by the factor."""
    if label_of(claim, total) == ALGBW.name:
        return total.value
    grid = claim.grid
    for row in range(len(grid.rows)) if grid is not None else ():
        assert grid is not None
        values = {column: grid.value(row, column) for column in grid.of_kind("rate")}
        busbw = [value for column, value in values.items() if "busbw" in column.subject and value is not None]
        algbw = [value for column, value in values.items() if "algbw" in column.subject and value is not None]
        if busbw and algbw and total.agrees(busbw[0]):
            return algbw[0]
    return total.value / factor


def _other_row(claim: Claim, each: Quantity, num_ports: int) -> str:
    """Where the number may come from: another row of the same table."""
    grid = claim.grid
    if grid is None:
        return ""
    for row in range(len(grid.rows)):
        for column in grid.of_kind("rate"):
            value = grid.value(row, column)
            if value is not None and abs(value / num_ports - each.value) < each.place / 2:
                return (
                    f" ({lookup.gigabytes(value)}/{num_ports} = {lookup.gigabytes(value / num_ports)} is the row "
                    f"{lookup.label_of(grid, row)})"
                )
    return ""
