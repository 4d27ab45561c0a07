"""The verdict in plain words.

For: saying no more than each cell's own interval supports. Not for: statistics (ringtree.stats), layout (table.py).

"no difference shown" is never "equal": with few launches a difference may simply not have been seen.
"""

from __future__ import annotations

from itertools import groupby

from ringtree.lab.summary import CellSummary, Comparison, Ratio
from ringtree.lab.units import count, format_at_least, format_factor, format_size
from ringtree.stats import MIN_LAUNCHES


def verdict_lines(comparison: Comparison) -> list[str]:
    """Returns one line an arm, each verdict with the sizes that it holds for; of the reference only what failed."""
    lines = []
    for arm in comparison.arms:
        cells = [cell for cell in comparison.cells if cell.arm == arm.label]
        if arm.label == comparison.reference:
            cells = [cell for cell in cells if cell.disqualified is not None]
        if cells or arm.label != comparison.reference:
            lines.append(f"{arm.label}: {_describe(comparison, cells)}")
    return lines


def fastest_line(comparison: Comparison) -> list[str]:
    """Returns one line that names the fastest arms for each range of sizes; none unless arms competed.

    Arms whose intervals overlap that of the smallest median are named with it: their order would be noise.
    """
    winners = []
    for size_bytes in comparison.sizes:
        timed = [
            (cell.time, cell) for cell in comparison.cells if cell.size_bytes == size_bytes and cell.time is not None
        ]
        if len(timed) > 1:
            best = min((time for time, _ in timed), key=lambda time: time.median)
            front = [cell for time, cell in timed if time.low <= best.high]
            winners.append((" or ".join(cell.arm for cell in front), front[0]))
    groups = [(arms, [cell for _, cell in group]) for arms, group in groupby(winners, key=lambda pair: pair[0])]
    told = "; ".join(f"{arms} at {_size_span(group, ' and ')}" for arms, group in groups)
    return [f"fastest: {told} (arms whose intervals overlap are named together)"] if told else []


def executed_lines(comparison: Comparison) -> list[str]:
    """Returns one line for each arm that executed something else than its name says, as "auto" does."""
    lines = []
    for arm in comparison.arms:
        cells = [cell for cell in comparison.cells if cell.arm == arm.label]
        if any(name not in arm.name.split(":") for cell in cells for name in cell.executed):
            groups = [
                (names, list(group)) for names, group in groupby(cells, key=lambda cell: " or ".join(cell.executed))
            ]
            told = "; ".join(f"{names or 'nothing'} at {_size_span(group)}" for names, group in groups)
            lines.append(f"{arm.label} executed {told}")
    return lines


def _describe(comparison: Comparison, cells: list[CellSummary]) -> str:
    parts, named = [], False
    for word, group in groupby(cells, key=lambda cell: _word(cell, comparison.reference)):
        together = list(group)
        ratios = [cell.versus_reference for cell in together if cell.versus_reference is not None]
        part = f"{word} at {_size_span(together)}"
        if ratios and ratios[0].verdict == "too few launches":
            part += f", only ratios as measured: {_point_ratios(ratios)} of {comparison.reference}'s time"
        elif ratios and ratios[0].verdict in ("faster", "slower"):
            # The interval is named once a line, at the first figure that rests on it.
            part += _by_at_least(ratios) + ("" if named else " (95 % t interval of each cell)")
            named = True
        parts.append(part)
    return "; ".join(parts) or "not measured"


def _word(cell: CellSummary, reference: str) -> str:
    ratio = cell.versus_reference
    if cell.disqualified is not None:
        return f"disqualified ({cell.disqualified})"
    if ratio is None:
        return f"nothing to compare with, as {reference} is disqualified,"
    if ratio.verdict == "too few launches":
        are = "is" if ratio.num_launches == 1 else "are"
        return f"{count(ratio.num_launches, 'launch')} {are} too few for a verdict ({MIN_LAUNCHES} are needed)"
    return (
        f"no difference from {reference} shown" if ratio.verdict == "not shown" else f"{ratio.verdict} than {reference}"
    )


def _by_at_least(ratios: list[Ratio]) -> str:
    """The smallest difference that the interval of each of these cells leaves possible."""
    bounds = [(r.low if r.verdict == "slower" else 1 / r.high) for r in ratios if r.low is not None and r.high]
    return f", by at least {format_at_least(min(bounds))}×"


def _point_ratios(ratios: list[Ratio]) -> str:
    low, high = (format_factor(end(ratio.ratio for ratio in ratios)) for end in (min, max))
    return f"{low}×" if low == high else f"{low} to {high}×"


def _size_span(cells: list[CellSummary], comma: str = ", ") -> str:
    first, last = format_size(cells[0].size_bytes), format_size(cells[-1].size_bytes)
    if len(cells) == 1:
        return first
    return f"{first}{comma}{last}" if len(cells) == 2 else f"{first} to {last}"
