"""Where arms change places: the ratio of each to the reference over size, and the crossovers that are shown.

For: `--kind crossover`. Not for: finding them (ringtree.stats.crossover).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ringtree.show.plot import figure
from ringtree.show.plot.words import panels_of, title_of
from ringtree.show.views import View
from ringtree.units import format_size_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, MOST_ROOM = 0.055, 0.6  # of the height of a panel, for the names of crossovers


def draw_crossover(views: Sequence[View], file: Path) -> None:
    """Draws a panel for each place; a crossover is a band as wide as its interval."""
    panels = panels_of(views)

    def fill(drawn: Figure, axes: list[Axes]) -> None:
        for (view, place, title), on in zip(panels, axes, strict=True):
            if view.margin is not None:
                on.axhspan(1 / (1 + view.margin), 1 + view.margin, color="#dddddd", linewidth=0)
            on.axhline(1.0, color=figure.INK, linewidth=0.8)
            for number, arm in enumerate(view.arms):
                if arm != view.reference:
                    _ratios(on, view, arm, place, number)
            figure.size_axis(on)
            figure.plain_numbers(on)
            _bands(on, view, place)
            on.set_ylabel(f"time / time of {view.reference}")
            on.set_title(title, fontsize=9)
        figure.legend(drawn, axes, len(views))

    figure.write(file, len(panels), title_of(views), fill, views[0].id)


def _ratios(axes: Axes, view: View, arm: str, place: str, number: int) -> None:
    cells = {size: view.cell(size, arm, place) for size in view.sizes(place) if size > 0}
    points = [(size, cell.versus) for size, cell in cells.items() if cell is not None and cell.versus is not None]
    if not points:
        return
    style = figure.look(number)
    axes.errorbar(
        [size for size, _ in points],
        [one.ratio for _, one in points],
        [
            [one.ratio - (one.low if one.low is not None else one.ratio) for _, one in points],
            [(one.high if one.high is not None else one.ratio) - one.ratio for _, one in points],
        ],
        label=arm,
        markersize=3.5,
        linewidth=1.0,
        elinewidth=0.8,
        capsize=2,
        **style,
    )


def _bands(axes: Axes, view: View, place: str) -> None:
    """Draws each crossover as a band and a line, and names it above all curves, a row for each."""
    found = [
        (one.estimate, one.low, one.high, f"{one.first} and {one.second}")
        for one in view.crossovers
        if one.kind == "crossing" and one.placement == place and one.estimate and one.low is not None and one.high
    ]
    low, high = axes.get_ylim()
    room = min(len(found) * ROW, MOST_ROOM)
    axes.set_ylim(low, high * (high / low) ** (room / (1 - room)))
    left, right = (math.log(end) for end in axes.get_xlim())
    for row, (estimate, least, most, names) in enumerate(sorted(found)):
        axes.axvspan(max(least, 1.0), max(most, 1.0), color="#f0e442", alpha=0.35, linewidth=0)
        axes.axvline(max(estimate, 1.0), color="#a89c00", linewidth=0.8, zorder=0.9)
        first_half = math.log(max(estimate, 1.0)) < (left + right) / 2
        axes.annotate(
            f"{names}: {format_size_range(least, most)}",
            (max(estimate, 1.0), 1 - room * (row + 0.5) / len(found)),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            xytext=(4 if first_half else -4, 0),
            ha="left" if first_half else "right",
            va="center",
            fontsize=7,
            bbox={"facecolor": figure.CARD, "linewidth": 0, "pad": 0.8},
        )
