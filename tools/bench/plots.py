"""Pictures of a page: time over size, and ratio over size with its intervals, near and far apart.

For: one SVG each, small and the same for the same data. Not for: numbers (tables.py). Needs matplotlib
(`pip install ringtree[report]`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bench.effects import Place, World, is_power_of_two
from ringtree.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CROWDED = 10.0  # a range of ratios from which on minor ticks have no labels
_STYLES = ("o-", "s-", "^-", "v-", "D-", "x-", "+-", "*-", "<-", ">-", "p-", "h-")


def plot_names(world: World, place: Place) -> tuple[str, str]:
    """Returns the files of the time plot and the ratio plot."""
    where = f"{world.name}-{place.name or place.column}".replace(" ", "-")
    return f"{where}-time.svg", f"{where}-ratio.svg"


def write_plots(world: World, place: Place, directory: Path) -> None:
    """Writes both plots of a part under a placement."""
    time, ratio = plot_names(world, place)
    _write(directory / time, f"{world.collective}: time of a call, µs", lambda axes: _times(axes, world, place))
    _write(
        directory / ratio, f"{world.collective}: time / time of the engine", lambda axes: _ratios(axes, world, place)
    )


def _times(axes: Axes, world: World, place: Place) -> None:
    for number, label in enumerate(world.labels):
        style, colour = _look(number)
        found = [(size, time.median * 1e6) for size in _sizes(world) if (time := world.time(size, label, place))]
        if found:
            axes.plot(
                [size for size, _ in found],
                [time for _, time in found],
                style,
                label=label,
                color=colour,
                markersize=3.0,
                linewidth=_width(world, label),
            )
    axes.set_yscale("log")


def _ratios(axes: Axes, world: World, place: Place) -> None:
    for number, label in enumerate(world.labels):
        style, colour = _look(number)
        found = [(size, judged) for size in _sizes(world) if (judged := world.judged(size, label, place))]
        if not found:
            continue
        ratios = [judged.ratio for _, judged in found]
        # One launch has no interval: no bar, rather than one without end.
        low = [judged.ratio - judged.low if judged.low > 0 else 0.0 for _, judged in found]
        high = [judged.high - judged.ratio if math.isfinite(judged.high) else 0.0 for _, judged in found]
        width = _width(world, label)
        axes.errorbar(
            [size for size, _ in found],
            ratios,
            [low, high],
            fmt=style,
            label=label,
            elinewidth=0.7,
            color=colour,
            markersize=3.0,
            linewidth=width,
        )
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_yscale("log")


def _sizes(world: World) -> list[int]:
    return [size for size in world.sizes if is_power_of_two(size)]


def _look(number: int) -> tuple[str, str]:
    """Marker and line, and colour, of the arm with this number: the same in both plots."""
    return _STYLES[number % len(_STYLES)], f"C{number % 10}"


def _width(world: World, label: str) -> float:
    return 2.0 if label == world.engine else 0.9


def _write(file: Path, ylabel: str, draw: Callable[[Axes], None]) -> None:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    # Text as text and ids from the data: small, and the same again.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": file.name}):
        figure = Figure(figsize=(8.0, 4.5), layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: format_size(round(size))))
        # Ratios span less than a decade, where only minor ticks stand: as plain numbers, not as powers of ten.
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        low, high = axes.get_ylim()
        if high / low < _CROWDED:
            axes.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("size")
        axes.set_ylabel(ylabel)
        axes.grid(True, which="major", linewidth=0.3)
        if axes.get_legend_handles_labels()[0]:
            figure.legend(loc="outside right upper", fontsize=8)
        figure.savefig(file, metadata={"Date": None})
