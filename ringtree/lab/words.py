"""The verdict in plain words.

For: saying no more than each cell's own interval supports. Not for: statistics (ringtree.stats), layout (table.py).

"no difference shown" is never "equal": with few launches a difference may simply not have been seen.
"""

from __future__ import annotations

from itertools import groupby

from ringtree.lab.summary import CellSummary, Comparison
from ringtree.lab.units import format_factor, format_size

_WORDS = {
    "faster": "faster than {reference}",
    "slower": "slower than {reference}",
    "not shown": "no difference from {reference} shown",
    "no interval": "one launch, nothing can be said about {reference}",
}


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
    parts = []
    for word, group in groupby(cells, key=_word):
        together = list(group)
        text = word.format(reference=comparison.reference)
        parts.append(f"{text}{_by_how_much(together)} at {_size_span(together)}")
    return "; ".join(parts) or "not measured"


def _word(cell: CellSummary) -> str:
    if cell.disqualified is not None:
        return f"disqualified ({cell.disqualified})".replace("{", "{{").replace("}", "}}")
    if cell.versus_reference is None:
        return "nothing to compare with, as {reference} is disqualified,"
    return _WORDS[cell.versus_reference.verdict]


def _by_how_much(cells: list[CellSummary]) -> str:
    """ " 1.2–1.5×" over the cells' ratios, for verdicts that claim a difference."""
    ratios = [cell.versus_reference for cell in cells if cell.versus_reference is not None]
    if not ratios or ratios[0].verdict not in ("faster", "slower"):
        return ""
    factors = sorted(1 / r.ratio if r.verdict == "faster" else r.ratio for r in ratios)
    low, high = (format_factor(value) for value in (factors[0], factors[-1]))
    return f" ({low}×)" if low == high else f" ({low}–{high}×)"


def _size_span(cells: list[CellSummary]) -> str:
    first, last = format_size(cells[0].size_bytes), format_size(cells[-1].size_bytes)
    if len(cells) == 1:
        return first
    return f"{first}, {last}" if len(cells) == 2 else f"{first} to {last}"
