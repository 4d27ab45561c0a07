"""What all figures share: a card of its own, axes that read in the field's units, and a file that is the same again.

For: sizes on a binary axis, rates in GB/s, colours that the colour-blind can tell apart. Not for: what is drawn
(curves.py, heatmap.py, scaling.py, crossover.py).
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringtree.errors import RingtreeError, UsageError
from ringtree.lab.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")
HOW_TO_GET_MATPLOTLIB = "figures need matplotlib: pip install 'ringtree[report]'"
# Okabe & Ito's colours, which people with any kind of colour vision can tell apart; with a marker each all the same.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d1f")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK, FAINT, CARD = "#1b1f24", "#77777a", "#ffffff"
DPI = 200


def look(number: int) -> dict[str, Any]:
    """Returns colour and marker of the arm with this number."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def write(file: Path, panels: int, title: str, fill: Callable[[Figure, list[Axes]], None], identity: str) -> None:
    """Draws `panels` axes side by side and writes them. Raises UsageError for a file of another kind or without
    matplotlib, RingtreeError if it can't be written."""
    if file.suffix not in SUFFIXES:
        raise UsageError(f"{file} is no figure that can be drawn: name a file with {', '.join(SUFFIXES)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError(HOW_TO_GET_MATPLOTLIB)
    import matplotlib
    from matplotlib.figure import Figure

    # Text as text and ids from the data: small, and the same again.
    settings: dict[Any, Any] = {
        "svg.fonttype": "none",
        "pdf.fonttype": 42,
        "svg.hashsalt": identity,
        "font.size": 9,
        "text.color": INK,
    }
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(1.5 + 5.0 * panels, 4.2), layout="constrained", facecolor=CARD)
        axes = [figure.add_subplot(1, panels, number + 1) for number in range(panels)]
        fill(figure, axes)
        figure.suptitle(title, fontsize=10)
        when = {".svg": "Date", ".pdf": "CreationDate"}.get(file.suffix)
        try:
            figure.savefig(file, dpi=DPI, metadata={when: None} if when else None)
        except OSError as error:
            raise RingtreeError(f"can't write {file}: {error.strerror}") from error


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
