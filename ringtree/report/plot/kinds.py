"""The kinds of figures by name.

For: `ringtree plot --kind`. Not for: drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ringtree.errors import UsageError
from ringtree.lab.comparison import Comparison
from ringtree.report.plot.crossover import draw_crossover
from ringtree.report.plot.curves import draw_busbw, draw_time
from ringtree.report.plot.heatmap import draw_heatmap
from ringtree.report.plot.scaling import draw_scaling

KINDS: dict[str, Callable[[Sequence[Comparison], Path], None]] = {
    "busbw": draw_busbw,
    "time": draw_time,
    "heatmap": draw_heatmap,
    "scaling": draw_scaling,
    "crossover": draw_crossover,
}
OF_SEVERAL = frozenset(("scaling",))


def draw(kind: str, runs: Sequence[Comparison], file: Path) -> None:
    """Draws a figure of one run, or of several where the kind takes them. Raises UsageError for anything else."""
    if kind not in KINDS:
        raise UsageError(f"{kind!r} is no kind of figure: choose one of {', '.join(KINDS)}")
    if len(runs) > 1 and kind not in OF_SEVERAL:
        raise UsageError(f"a figure of kind {kind} is of one run, not of {len(runs)}")
    KINDS[kind](runs, file)
