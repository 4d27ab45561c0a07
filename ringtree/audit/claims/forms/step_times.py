"""Form: a time is made of so many steps of so long. "15 sequential steps of ~120 us"."""

from __future__ import annotations

import re

from ringtree.audit.claims import counting, lookup
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part

_SAYS = Says("steps times the time of one")
_BETWEEN = re.compile(
    r"\s*(?:of|at|à|each|that (?:take|last)|taking|lasting|×|x|\*)\s*(?:[~≈]|about\s|some\s)?\s*", re.IGNORECASE
)


def judge(claim: Claim) -> list[Part]:
    """Checks the number of steps against the schedule, and the product against the table."""
    for count in claim.of_kind("count"):
        if count.noun not in ("steps", "hops"):
            continue
        for each in claim.of_kind("time"):
            between = claim.text[count.span[1] : each.span[0]]
            if count.span[1] <= each.span[0] and _BETWEEN.fullmatch(between):
                return _check(claim, count, each)
    return []


def _check(claim: Claim, count: Quantity, each: Quantity) -> list[Part]:
    total = count.count * each.value
    covers = [count, each]
    product = f"{count.count} × {lookup.seconds(each.value)} = {lookup.seconds(total)}"
    cell = lookup.time_of(claim)
    if cell is not None:
        product += f", in the table {lookup.seconds(cell.value)}"
        covers += cell.used
    before = [one for one in claim.algorithms if one.span[0] < count.span[0]]
    algorithm = before[-1] if before else claim.algorithms[0] if claim.algorithms else None
    num_ranks, collective = claim.num_ranks, claim.collective or "all_reduce"
    hops = counting.hops(collective, algorithm.name, num_ranks) if algorithm and num_ranks else None
    if hops is None or algorithm is None:
        return [_SAYS.open("the sentence does not say of which algorithm and how many ranks", "both", product, covers)]
    if not count.is_exactly(hops):
        time = cell.value if cell is not None else total
        half = counting.hops("reduce_scatter", algorithm.name, num_ranks or 0)
        return [
            _SAYS.falls(
                f"{algorithm.name} of {num_ranks} ranks makes {hops} steps one after the other, not {count.count}"
                + (", which is its reduce-scatter alone" if half is not None and count.is_exactly(half) else "")
                + f", so {lookup.seconds(time / hops)} each",
                f"{product}; {lookup.seconds(time)} / {hops} = {lookup.seconds(time / hops)}",
                covers,
            )
        ]
    if cell is None:
        return [
            _SAYS.open(
                "the number of steps is right; the time of one can't be checked",
                "the time of the call",
                product,
                covers,
            )
        ]
    if not each.agrees(cell.value / hops):
        return [
            _SAYS.falls(
                f"the table's {lookup.seconds(cell.value)} are {lookup.seconds(cell.value / hops)} a step",
                product,
                covers,
            )
        ]
    return [_SAYS.holds(f"{hops} steps, and their time adds up to the table's", product, covers)]
