"""Form: scaling efficiency. "8-node scaling efficiency: Qwen 77.5%, Mixtral 91.7%".

Efficiency = throughput on N hosts / (N / N₀ · throughput on N₀ hosts), N₀ the fewest hosts of the table.
"""

from __future__ import annotations

from ringtree.audit.claims import lookup, noise
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.grid import Column, Grid
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part

_SAYS = Says("scaling efficiency")


def judge(claim: Claim) -> list[Part]:
    """One part for each percentage."""
    if not claim.says(r"\bscal(?:ing|es?|ability)\b") or not claim.says(r"efficien|\blinear\b|\bperfect"):
        return []
    percents = claim.of_kind("percent")
    if claim.grid is None:
        return [_SAYS.open("the throughputs are not there", "the table", covers=percents)] if percents else []
    return [_check(claim, claim.grid, percent, _words_for(claim, index)) for index, percent in enumerate(percents)]


def _words_for(claim: Claim, index: int) -> str:
    """The words nearest to a percentage: between it and the others, those before or after, whichever name a label."""
    percents = claim.of_kind("percent")
    here = percents[index]
    start = percents[index - 1].span[1] if index else 0
    end = percents[index + 1].span[0] if index + 1 < len(percents) else len(claim.text)
    before, after = claim.text[start : here.span[0]], claim.text[here.span[1] : end]
    # "77.5 % for Qwen and 91.7 % for Mixtral": then what follows belongs to the number.
    return after if after.lstrip().startswith(("for ", "with ", "of ", "(", "in ")) else before


def _check(claim: Claim, grid: Grid, percent: Quantity, words: str) -> Part:
    hosts = claim.of_kind("count", "hosts")
    covers = [percent, *hosts]
    if len(hosts) != 1 or not grid.of_kind("hosts"):
        return _SAYS.open("it is not said between which numbers of nodes", "both numbers of nodes", covers=covers)
    columns = lookup.columns_for(grid, claim.text, ("throughput", "rate")) or grid.of_kind("throughput", "rate")
    everywhere = lookup.rows_for(claim, f"{claim.text[:0]}{words}", [])
    for column in columns:
        values = {
            grid.count(row, "hosts"): value for row in everywhere.rows if (value := grid.value(row, column)) is not None
        }
        counts = sorted(count for count in values if count is not None)
        if (
            len(values) == len([row for row in everywhere.rows if grid.value(row, column) is not None])
            and hosts[0].count in values
            and counts
            and counts[0] < hosts[0].count
        ):
            return _efficiency(grid, column, percent, covers, values, counts[0], hosts[0].count, everywhere.rows)
    return _SAYS.open(
        "the table does not say it for one kind of run alone", "throughputs at both numbers of nodes", covers=covers
    )


def _few(grid: Grid, rows: tuple[int, ...]) -> str:
    return noise.runs(grid, rows).partition(",")[0]


def _efficiency(
    grid: Grid,
    column: Column,
    percent: Quantity,
    covers: list[Quantity],
    values: dict[int | None, float],
    fewest: int,
    most: int,
    rows: tuple[int, ...],
) -> Part:
    times = most / fewest
    value = values[most] / (times * values[fewest])
    label = lookup.label_of(grid, rows[0]).partition(",")[0]
    arithmetic = f"{label}: {values[most]:g} / ({times:g} · {values[fewest]:g}) = {100 * value:.1f} % ({column.name})"
    if percent.agrees(value):
        return _SAYS.holds(
            f"the table's throughputs give {100 * value:.1f} %; {_few(grid, rows)}, so its last digits mean nothing",
            arithmetic,
            covers,
            noise.SETTLES,
        )
    return _SAYS.falls(f"the table's throughputs give {100 * value:.1f} %", arithmetic, covers)
