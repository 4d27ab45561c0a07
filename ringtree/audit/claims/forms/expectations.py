"""Form: what one should expect. "One should expect 80-90% of the advertised throughput at best".

A rule of thumb without the rate that it is a share of, and without what is measured, decides nothing.
"""

from __future__ import annotations

from ringtree.audit.claims import lookup, physics
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.records import Part

_SAYS = Says("rule of thumb")


def judge(claim: Claim) -> list[Part]:
    """One part for each percentage of an unnamed peak."""
    if claim.of_kind("rate") or not claim.says(
        r"\bexpect\w*\b|\btypical\w*\b|\busual\w*\b|\bnormal\w*\b|\brule of thumb\b|\bin practice\b|\bshould\b"
    ):
        return []
    if not claim.says(r"\badvertised\b|\btheoretical\b|\bnominal\b|\bpeak\b|\bline[- ]rate\b|\bmaximum\b|\bspec\w*\b"):
        return []
    percents = [one for one in claim.of_kind("percent") if not claim.is_taken(one)]
    return [
        _SAYS.open(
            "it is not said which advertised rate (one direction, or both together, which is twice as much), nor "
            "which measured one: a busbw "
            "counts one direction, and where a switch adds up (NVLS) it may exceed the link's rate",
            "the rate of one direction, the algorithm that ran, and busbw from several runs",
            _example(claim),
            [percent],
        )
        for percent in percents
    ]


def _example(claim: Claim) -> str:
    """The table's highest busbw against both readings of what is advertised for its GPUs."""
    grid = claim.grid
    if grid is None:
        return ""
    busbw = [
        value
        for column in grid.of_kind("rate")
        if "busbw" in column.subject
        for row in range(len(grid.rows))
        if (value := grid.value(row, column)) is not None
    ]
    rate = physics.one_way_rate(claim)
    if not busbw or rate is None:
        return ""
    top = max(busbw)
    return (
        f"the table's highest busbw is {lookup.gigabytes(top)} GB/s: {100 * top / (2 * rate):.0f} % of "
        f"{lookup.gigabytes(2 * rate)} (both directions), "
        f"{100 * top / rate:.0f} % of {lookup.gigabytes(rate)} (one)"
    )
