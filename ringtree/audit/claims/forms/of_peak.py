"""Form: a share of a peak. "busbw ~355 GB/s, ~40 % of the theoretical 900 GB/s".

A busbw is what goes over a link in one direction; vendors print both directions of all links together. A rate held
against such a sum looks half as good as it is.
"""

from __future__ import annotations

import re

from ringtree.audit.claims import lookup, physics
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part

_SAYS = Says("share of a peak")
_OF = re.compile(r"\s*\)?\s*of\s+(?:[\w'’-]+\s+){0,6}$")


def judge(claim: Claim) -> list[Part]:
    """One part for each percentage of a rate."""
    found = []
    for percent in claim.of_kind("percent"):
        peak = next((one for one in claim.of_kind("rate") if one.span[0] >= percent.span[1]), None)
        rate = next((one for one in reversed(claim.of_kind("rate")) if one.span[1] <= percent.span[0]), None)
        if peak is None or rate is None or claim.is_taken(percent) or not peak.value:
            continue
        if _OF.fullmatch(claim.text[percent.span[1] : peak.span[0]].rstrip("~≈") + " "):
            found.append(_check(claim, rate, percent, peak))
    return found


def _check(claim: Claim, rate: Quantity, percent: Quantity, peak: Quantity) -> Part:
    share = rate.value / peak.value
    covers = [rate, percent, peak]
    arithmetic = f"{lookup.gigabytes(rate.value)}/{lookup.gigabytes(peak.value)} = {100 * share:.1f} %"
    if not percent.agrees(share):
        return _SAYS.falls(
            f"{lookup.gigabytes(rate.value)} of {lookup.gigabytes(peak.value)} GB/s are {100 * share:.1f} %",
            arithmetic,
            covers,
        )
    both_ways = claim.says(
        r"bi-?directional|both (?:directions|ways)|in each direction|per direction|one direction|each way"
    )
    for gpu, one_way in physics.both_ways_sums(peak.value, claim):
        arithmetic += f"; of {lookup.gigabytes(one_way)} per direction {100 * rate.value / one_way:.0f} %"
        if both_ways:
            return _SAYS.holds(
                f"it is said that {lookup.gigabytes(peak.value)} GB/s are both directions; a busbw uses one of them",
                arithmetic,
                covers,
            )
        return _SAYS.falls(
            f"{lookup.gigabytes(peak.value)} GB/s is what an {gpu} can send and receive together; a busbw counts one "
            "direction, of which there are "
            f"{lookup.gigabytes(one_way)} GB/s, so it is {100 * rate.value / one_way:.0f} %",
            arithmetic,
            covers,
        )
    if physics.is_link_rate(peak.value, claim) or claim.says(r"line[- ]rate|per direction"):
        return _SAYS.holds("the share is right, of the rate of one direction", arithmetic, covers)
    return _SAYS.open(
        "the share is right, but it is not known what the peak is a peak of",
        "the hardware, or whether the peak is one direction or both",
        arithmetic,
        covers,
    )
