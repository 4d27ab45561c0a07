"""The kinds of figures by name.

For: `ringtree plot --kind`. Not for: drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ringtree.errors import UsageError
from ringtree.show.plot.crossover import draw_crossover
from ringtree.show.plot.curves import draw_busbw, draw_time
from ringtree.show.plot.heatmap import draw_heatmap
from ringtree.show.plot.scaling import draw_scaling
from ringtree.show.views import View

KINDS: dict[str, Callable[[Sequence[View], Path], None]] = {
    "busbw": draw_busbw,
    "time": draw_time,
    "heatmap": draw_heatmap,
    "scaling": draw_scaling,
    "crossover": draw_crossover,
}
_OF_DIFFERENCES = dict.fromkeys(("heatmap", "crossover"), ", as differences need two arms")


def draw(kind: str, views: Sequence[View], file: Path) -> None:
    """Draws a figure of views; each has panels of its own, but where they are what is compared. Raises UsageError for
    another kind, or where there is nothing to draw."""
    if kind not in KINDS:
        raise UsageError(f"invalid kind of figure {kind!r}: choose one of {', '.join(KINDS)}")
    least = 2 if kind in _OF_DIFFERENCES else 1
    drawn = [view for view in views if view.cells and len(view.arms) >= least]
    if not drawn:
        raise UsageError(f"nothing to draw{_OF_DIFFERENCES.get(kind, '')}: {'; '.join(view.heading for view in views)}")
    KINDS[kind](drawn, file)
