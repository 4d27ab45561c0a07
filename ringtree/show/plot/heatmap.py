"""Differences to the reference by size and arm; what is not shown to be a difference has no colour.

For: `--kind heatmap`. Not for: how fast anything is (curves.py).

Colour means a verdict. A cell whose verdict is open stays grey, however large its ratio was, and one that is shown to
be equivalent white: noise then looks like noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ringtree.show.plot import figure
from ringtree.show.plot.words import panels_of, title_of
from ringtree.show.views import View, ViewCell
from ringtree.units import format_change, format_factor, format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FASTER, SLOWER, OPEN, SAME = (0, 0.447, 0.698), (0.835, 0.369, 0), "#d9d9d9", "#ffffff"
_FULL = math.log(4)  # a factor of four has the full colour


def draw_heatmap(views: Sequence[View], file: Path) -> None:
    """Draws one panel a place: rows are arms, columns sizes."""
    panels = panels_of(views)

    def fill(_: Figure, axes: list[Axes]) -> None:
        for (view, place, title), on in zip(panels, axes, strict=True):
            arms = [arm for arm in view.arms if arm != view.reference]
            sizes = view.sizes(place)
            for y, arm in enumerate(arms):
                for x, size in enumerate(sizes):
                    _cell(on, x, y, view.cell(size, arm, place))
            on.set_xlim(-0.5, len(sizes) - 0.5)
            on.set_ylim(len(arms) - 0.5, -0.5)
            on.set_xticks(range(len(sizes)), [format_size(size) for size in sizes], rotation=60, ha="right")
            on.set_yticks(range(len(arms)), arms)
            on.set_title(title, fontsize=9)
            on.set_xlabel("blue: faster, orange: slower, white: equivalent, grey: not shown", fontsize=8)

    names = " and ".join(dict.fromkeys(view.reference for view in views))
    said = ": ".join(part for part in (f"time against {names}", title_of(views)) if part)
    figure.write(file, len(panels), said, fill, views[0].id)


def _cell(axes: Axes, x: int, y: int, cell: ViewCell | None) -> None:
    from matplotlib.patches import Rectangle

    versus = cell.versus if cell is not None else None
    text: str
    colour: str | tuple[float, float, float]
    if cell is None or versus is None:
        text, colour = ("wrong", "#ffffff") if cell is not None and cell.wrong else ("", "#ffffff")
    else:
        text, colour = change(versus.ratio), colour_of(versus.verdict, versus.ratio)
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="#ffffff"))
    axes.text(x, y, text, ha="center", va="center", fontsize=6.5)


def colour_of(verdict: str | None, ratio: float) -> str | tuple[float, float, float]:
    """Returns the colour of a verdict, None: of single runs; the further from 1 the ratio, the stronger."""
    if verdict in ("inconclusive", "equivalent", None):
        return SAME if verdict == "equivalent" else OPEN
    full = FASTER if verdict == "faster" else SLOWER
    share = 0.2 + 0.6 * min(1.0, abs(math.log(ratio)) / _FULL)
    red, green, blue = (1 - share * (1 - part) for part in full)
    return (red, green, blue)


def change(ratio: float) -> str:
    """Returns a ratio in a few characters: "+3.1%", "5.0×", and below a half "1/163"."""
    return f"1/{format_factor(1 / ratio)}" if ratio < 0.5 else format_change(ratio)
