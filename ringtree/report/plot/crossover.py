"""Where arms change places: the ratio of each to the reference over size, and the crossovers that are shown.

For: `--kind crossover`. Not for: finding them (ringtree.stats.crossover).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ringtree.lab.comparison import Comparison
from ringtree.lab.units import format_size_range
from ringtree.report.plot import figure
from ringtree.report.plot.words import panel_title, placements, subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_crossover(runs: Sequence[Comparison], file: Path) -> None:
    """Draws a panel for each placement; a crossover is a band as wide as its interval."""
    run = runs[0]
    places = placements(run)

    def fill(drawn: Figure, axes: list[Axes]) -> None:
        for place, on in zip(places, axes, strict=True):
            on.axhspan(1 / (1 + run.margin), 1 + run.margin, color="#dddddd", linewidth=0)
            on.axhline(1.0, color=figure.INK, linewidth=0.8)
            for number, arm in enumerate(run.arms):
                if arm.label != run.reference:
                    _ratios(on, run, arm.label, place, number)
            _bands(on, run, place)
            figure.size_axis(on)
            figure.plain_numbers(on)
            on.set_ylabel(f"time / time of {run.reference}")
            on.set_title(panel_title(place), fontsize=9)
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)

    figure.write(file, len(places), subject(run), fill, run.run)


def _ratios(axes: Axes, run: Comparison, arm: str, place: str, number: int) -> None:
    points = []
    for row in run.shown_rows():
        cell = run.find(row.size_bytes, arm, place) if row.placement == place and row.size_bytes > 0 else None
        if cell is not None and cell.versus_reference is not None:
            points.append((row.size_bytes, cell.versus_reference))
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


def _bands(axes: Axes, run: Comparison, place: str) -> None:
    for one in run.crossovers:
        if one.kind != "crossing" or one.placement != place or one.low is None or one.high is None:
            continue
        axes.axvspan(max(one.low, 1.0), max(one.high, 1.0), color="#f0e442", alpha=0.35, linewidth=0)
        axes.annotate(
            f"{one.first} and {one.second}\n{format_size_range(one.low, one.high)}",
            (one.estimate or one.low, 1.0),
            textcoords="offset points",
            xytext=(4, 18),
            fontsize=7,
        )
