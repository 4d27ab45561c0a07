"""Form: so much data takes so long. "28 GB of gradients take 160 ms with Ring and 32 ms with Tree".

Size over time is a rate: it is held against the table, and against what the GPUs' links permit any algorithm.
"""

from __future__ import annotations

from ringtree.audit.claims import lookup, physics
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part
from ringtree.hardware import Limit

_SAYS = Says("time of a size")


def judge(claim: Claim) -> list[Part]:
    """One part for each time, if the sentence has one size and no rate."""
    sizes, times = claim.of_kind("size"), [one for one in claim.of_kind("time") if not claim.is_taken(one)]
    if len(sizes) != 1 or not times or claim.of_kind("rate") or claim.of_kind("count", "steps"):
        return []
    if not claim.says(r"\btakes?\b|\btook\b|\blasts?\b|\bneeds?\b|\brequires?\b|\bin\b|\bfinish\w*\b|\breduces?\b"):
        return []
    limit = physics.ceiling(claim, claim.collective or "all_reduce")
    return [_check(claim, sizes[0], time, limit) for time in times]


def _check(claim: Claim, size: Quantity, time: Quantity, limit: Limit | None) -> Part:
    covers = [size, time, *claim.of_kind("count", "ranks")]
    # The least rate that the printed digits allow, in units of 1000: what then exceeds a limit does so in any reading.
    low = (size.low - size.place / 2) / (time.high + time.place / 2)
    implied = size.low / time.value
    arithmetic = f"{size.text} / {time.text} = {lookup.gigabytes(implied)} GB/s"
    in_table = _in_table(claim, implied)
    if in_table:
        arithmetic += f", {in_table}"
    if limit is None or limit.algbw is None:
        return _SAYS.open(
            "size over time is the rate of the table; whether the hardware permits it can't be told"
            if in_table
            else "neither the table nor known hardware says how long it takes",
            "the hardware, or the times of several runs",
            arithmetic,
            covers,
        )
    shortest = size.low / limit.algbw
    arithmetic += (
        f"; {limit.arithmetic}; at least {size.text} / {lookup.gigabytes(limit.algbw)} GB/s = "
        f"{lookup.seconds(shortest)}"
    )
    if low > limit.algbw:
        return _SAYS.falls(
            f"no algorithm can do it in {time.text}: the links need at least {lookup.seconds(shortest)}",
            arithmetic,
            covers,
        )
    if implied > 0.97 * limit.algbw:
        return _SAYS.open(
            f"{time.text} would be all that the links permit, with nothing lost anywhere",
            "the time of several runs, and what was measured as the size",
            arithmetic,
            covers,
        )
    return _SAYS.open(
        f"the links permit {time.text}; whether it takes that is a matter of measurement",
        "several runs of this size",
        arithmetic,
        covers,
    )


def _in_table(claim: Claim, rate: float) -> str:
    grid = claim.grid
    for row in range(len(grid.rows)) if grid is not None else ():
        assert grid is not None
        for column in grid.of_kind("rate"):
            value = grid.value(row, column)
            if value and abs(value - rate) <= 0.02 * value:
                return f"the table's {lookup.gigabytes(value)} GB/s ({lookup.label_of(grid, row)}, {column.name})"
    return ""
