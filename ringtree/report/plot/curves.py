"""Time and bus bandwidth over size, with the intervals as bands.

For: `--kind time` and `--kind busbw`. Not for: differences (heatmap.py), who is ahead where (crossover.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ringtree.lab.comparison import CellSummary, Comparison, Interval
from ringtree.report.plot import figure
from ringtree.report.plot.words import panel_title, placements, subject
from ringtree.stats import busbw

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    ValueOf = Callable[[int, float], float]  # size in bytes, seconds -> what is drawn


def draw_time(runs: Sequence[Comparison], file: Path) -> None:
    """Draws microseconds a call over size."""
    _draw(runs[0], file, "time of a call, µs", lambda _, seconds: seconds * 1e6)


def draw_busbw(runs: Sequence[Comparison], file: Path) -> None:
    """Draws GB/s of bus bandwidth over size."""
    run = runs[0]

    def rate(size_bytes: int, seconds: float) -> float:
        return busbw(run.collective, size_bytes, seconds, run.num_ranks) / 1e9

    _draw(run, file, "bus bandwidth, GB/s", rate)


def _draw(run: Comparison, file: Path, ylabel: str, value: ValueOf) -> None:
    places = placements(run)

    def fill(drawn: Figure, axes: list[Axes]) -> None:
        for place, on in zip(places, axes, strict=True):
            for number, arm in enumerate(run.arms):
                _curve(on, _cells(run, arm.label, place), arm.label, number, value)
            _limit(on, run, place, value)
            figure.size_axis(on)
            figure.plain_numbers(on)
            on.set_ylabel(ylabel)
            on.set_title(panel_title(place), fontsize=9)
        handles, labels = axes[0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside right upper", fontsize=8)

    figure.write(file, len(places), subject(run), fill, run.run)


def _cells(run: Comparison, arm: str, place: str) -> list[tuple[CellSummary, Interval]]:
    shown = [row.size_bytes for row in run.shown_rows() if row.placement == place and row.size_bytes > 0]
    cells = [cell for size in shown if (cell := run.find(size, arm, place)) is not None]
    return [(cell, cell.time) for cell in cells if cell.time is not None and cell.disqualified is None]


def _curve(axes: Axes, cells: list[tuple[CellSummary, Interval]], label: str, number: int, value: ValueOf) -> None:
    if not cells:
        return
    sizes = [cell.size_bytes for cell, _ in cells]
    ends = [sorted((value(cell.size_bytes, time.low), value(cell.size_bytes, time.high))) for cell, time in cells]
    middles = [value(cell.size_bytes, time.median) for cell, time in cells]
    style = figure.look(number)
    axes.plot(sizes, middles, label=label, markersize=3.5, linewidth=1.2, **style)
    axes.fill_between(
        sizes, [low for low, _ in ends], [high for _, high in ends], color=style["color"], alpha=0.18, linewidth=0
    )


def _limit(axes: Axes, run: Comparison, place: str, value: ValueOf) -> None:
    """The least time that the machine allows, where it is known and the same for all arms of a size."""
    limits = {
        cell.size_bytes: cell.limit
        for cell in run.cells
        if cell.placement == place and cell.limit is not None and cell.limit > 0 and cell.size_bytes > 0
    }
    if len(limits) > 1:
        sizes = sorted(limits)
        axes.plot(
            sizes,
            [value(size, limits[size]) for size in sizes],
            linestyle=":",
            color=figure.FAINT,
            linewidth=1.2,
            label="the machine's limit",
        )
