"""Form: so many of a ring's hops cross the network. "With 2 nodes 2 of 16 ring hops cross InfiniBand (12.5%)".

A ring that is laid host by host enters each host once and leaves it once: H of its links join hosts, whatever the
ranks.
"""

from __future__ import annotations

from ringtree.audit.claims import counting
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part

_SAYS = Says("hops that cross the network")


def judge(claim: Claim) -> list[Part]:
    """One part for each number of hosts."""
    if not claim.says(r"\bcross\w*\b|\bleave\w*\b|\bgo(?:es)? over\b|\btravers\w+\b") or not claim.says(
        r"\bhops?\b|\blinks?\b|\bedges?\b|\bsteps?\b"
    ):
        return []
    found = []
    for segment in _segments(claim):
        part = _check(segment)
        if part is not None:
            found.append(part)
    return found


def _segments(claim: Claim) -> list[list[Quantity]]:
    """One list of quantities for each number of hosts: each ends with its percentage, or before the next hosts."""
    percents = claim.of_kind("percent")
    segments: list[list[Quantity]] = [[]]
    for one in claim.quantities:
        full = percents and segments[-1] and segments[-1][-1].kind == "percent"
        again = not percents and one.noun == "hosts" and any(other.noun == "hosts" for other in segments[-1])
        if full or again:
            segments.append([])
        segments[-1].append(one)
    return [segment for segment in segments if segment]


def _check(segment: list[Quantity]) -> Part | None:
    hosts = [one for one in segment if one.noun == "hosts"]
    numbers = [one for one in segment if one.kind == "number" or one.noun in ("hops", "links", "steps")]
    percents = [one for one in segment if one.kind == "percent"]
    if len(hosts) != 1 or len(numbers) != 2:
        return None
    across, total = sorted(one.count for one in numbers)
    covers = [*hosts, *numbers, *percents]
    counted = counting.crossings(total, hosts[0].count)
    if counted is None:
        return _SAYS.open(
            f"{total} ranks do not lie evenly on {hosts[0].count} hosts", "which rank is on which host", covers=covers
        )
    right, links = counted
    arithmetic = f"{hosts[0].count} hosts, n = {total}: {right} of {links} links cross, {100 * right / links:.3g} %"
    if across != right:
        return _SAYS.falls(
            f"a ring through {hosts[0].count} hosts enters and leaves each once: {right} of {links} hops cross "
            f"({100 * right / links:.3g} %), not {across}",
            arithmetic,
            covers,
        )
    if percents and not percents[0].agrees(right / links):
        return _SAYS.falls(
            f"{right} of {links} are {100 * right / links:.3g} %, not {percents[0].text}", arithmetic, covers
        )
    return _SAYS.holds(
        f"{right} of the ring's {links} links join two hosts, counted in the schedule", arithmetic, covers
    )
