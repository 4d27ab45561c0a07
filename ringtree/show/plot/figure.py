"""What all figures share: a card of its own, axes that read in the field's units, and a file that is the same again.

For: sizes on a binary axis, rates in GB/s, colours that the colour-blind can tell apart. Not for: what is drawn
(curves.py, heatmap.py, scaling.py, crossover.py).
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringtree.errors import RingtreeError, UsageError, os_errors
from ringtree.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")
HOW_TO_GET_MATPLOTLIB = "figures need matplotlib: pip install 'ringtree[report]', or `make test` in a clone"
# Okabe & Ito's colours, which people with any kind of colour vision can tell apart; with a marker each all the same.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d1f")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK, FAINT, CARD = "#1b1f24", "#77777a", "#ffffff"
DPI = 200
COLUMNS = 4


def look(number: int) -> dict[str, Any]:
    """Returns colour and marker of the arm with this number."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def why_no_figure(file: Path | None = None, suffixes: Sequence[str] = SUFFIXES) -> str | None:
    """Returns why no figure can be drawn, or not into `file`; None if it can."""
    if file is not None and file.suffix not in suffixes:
        return f"{file} is not a figure that can be drawn: name a file with {', '.join(suffixes)}"
    return None if importlib.util.find_spec("matplotlib") is not None else HOW_TO_GET_MATPLOTLIB


def save(file: Path, make: Callable[[], Figure], identity: str, dpi: int = DPI, **style: str) -> None:
    """Writes the figure that `make` draws, the same again for the same `identity`. `style`: colours that are not usual.

    Raises UsageError for a file of another kind or without matplotlib, RingtreeError if it can't be written.
    """
    why = why_no_figure(file)
    if why is not None:
        raise UsageError(why)
    import matplotlib

    # Text as text and ids from the data: small, and the same again.
    settings: dict[Any, Any] = {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": identity, "font.size": 9}
    with matplotlib.rc_context(settings | {"text.color": INK} | style):
        figure = make()
        when = {".svg": "Date", ".pdf": "CreationDate"}.get(file.suffix)
        with os_errors(f"can't write {file}", kind=RingtreeError):
            figure.savefig(file, dpi=dpi, metadata={when: None} if when else None)


def write(file: Path, panels: int, title: str, fill: Callable[[Figure, list[Axes]], None], identity: str) -> None:
    """Draws `panels` axes, COLUMNS side by side, and saves them. Raises as save() does."""

    def make() -> Figure:
        from matplotlib.figure import Figure

        columns = min(panels, COLUMNS)
        rows = math.ceil(panels / columns)
        figure = Figure(figsize=(1.5 + 5.0 * columns, 4.2 * rows), layout="constrained", facecolor=CARD)
        axes = [figure.add_subplot(rows, columns, number + 1) for number in range(panels)]
        fill(figure, axes)
        figure.suptitle(title, fontsize=10)
        return figure

    save(file, make, identity)


def legend(figure: Figure, axes: Sequence[Axes], num_views: int) -> None:
    """Names the curves: beside the axes, or of several views, whose arms differ, on each."""
    if num_views == 1:
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)
        return
    for on in axes:
        on.legend(fontsize=6)


def size_axis(axes: Axes) -> None:
    """Makes x an axis of sizes: powers of two as "64 KB"."""
    from matplotlib.ticker import FuncFormatter

    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: format_size(round(size))))
    axes.tick_params(axis="x", labelrotation=30)
    axes.set_xlabel("size")
    axes.grid(True, which="major", linewidth=0.3)


def plain_numbers(axes: Axes) -> None:
    """Makes y logarithmic with plain numbers; a range below a decade has labels at its minor ticks, too, one below two
    decades at 2 and 5."""
    from matplotlib.ticker import FuncFormatter

    def minor(value: float, _: int | None) -> str:
        low, high = axes.get_ylim()
        digit = round(value / 10 ** math.floor(math.log10(value)))
        return f"{value:g}" if high / low < 10 or (high / low < 100 and digit in (2, 5)) else ""

    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(FuncFormatter(minor))
