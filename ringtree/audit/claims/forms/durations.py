"""Form: so much data takes so long. "28 GB of gradients take 160 ms with Ring and 32 ms with Tree".

A time that the table has for the size is held against that. Else size over time is a rate: it is held against the
table's, and against what the GPUs' links permit any algorithm.
"""

from __future__ import annotations

import re

from ringtree.audit.claims import lookup, noise, physics, words
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part, Verdict
from ringtree.hardware import Limit

_SAYS = Says("time of a size")
_LASTS = re.compile(r"\b(?:takes?|took|lasts?|needs?|requires?|finish\w*)\b[^,;]*$", re.IGNORECASE)
# "takes 5 us more than": no time of the table, but the difference of two.
_DIFFERENCE = re.compile(
    r"\s*(?:of\b|per\b|each\b|a\s+(?:step|hop)\b|"
    r"(?:\w+\s+)?(?:more|less|longer|shorter|faster|slower|quicker|lower|higher|ahead|extra|saved)\b)",
    re.IGNORECASE,
)


def judge(claim: Claim) -> list[Part]:
    """One part for each time, if the sentence has one size and no rate."""
    sizes, times = claim.of_kind("size"), [one for one in claim.of_kind("time") if not claim.is_taken(one)]
    if len(sizes) != 1 or not times or claim.of_kind("rate") or claim.of_kind("count", "steps"):
        return []
    if not claim.says(r"\btakes?\b|\btook\b|\blasts?\b|\bneeds?\b|\brequires?\b|\bin\b|\bfinish\w*\b|\breduces?\b"):
        return []
    limit = physics.ceiling(claim, claim.collective or "all_reduce")
    found = []
    for time in times:
        part = _check(claim, sizes[0], time, limit)
        # A time that no links permit is none, also where the table has it.
        found.append(part if part.verdict is Verdict.FALLS else _among_times(claim, sizes[0], time) or part)
    return found


def _among_times(claim: Claim, size: Quantity, time: Quantity) -> Part | None:
    """The time against the one cell that the clause means; None where the table has no such cell."""
    grid = claim.grid
    before, after = claim.text[: time.span[0]], claim.text[time.span[1] :]
    if grid is None or not _LASTS.search(before) or _DIFFERENCE.match(after) or not grid.of_kind("time"):
        return None
    rows = lookup.rows_for(claim)
    if rows.unclear:
        return _SAYS.open(
            f"which rows of the table are meant can't be told: {rows.unclear}",
            "a sentence for each range of sizes, with sizes that the table has",
            covers=[size, time],
        )
    if size not in rows.used:
        return None
    clause = next(one for one in reversed(words.clauses(claim.text)) if one.start <= time.span[0])
    columns = lookup.columns_for(grid, clause.text, ("time",)) or lookup.columns_for(grid, claim.text, ("time",))
    if not columns and len(grid.of_kind("time")) == 1:
        columns = [one for one in grid.of_kind("time") if not one.subject]
    cells = [
        (row, column, value)
        for row in rows.rows
        for column in columns
        if (value := grid.value(row, column)) is not None
    ]
    if not cells:
        return None
    covers = [time, *rows.used]
    shown = "; ".join(
        f"{lookup.label_of(grid, row)}: {lookup.seconds(value)} ({column.name})" for row, column, value in cells[:3]
    )
    agreeing = [value for _, _, value in cells if time.agrees(value)]
    if len(agreeing) == len(cells):
        return _SAYS.holds(f"{time.text} stands in the table", shown, covers, noise.SETTLES)
    if not agreeing:
        return _SAYS.falls(f"the table has another time there, not {time.text}", shown, covers)
    return _SAYS.open(
        f"so it is in {len(agreeing)} of {len(cells)} cells of the table that can be meant",
        "which of them is meant",
        shown,
        covers,
    )


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
