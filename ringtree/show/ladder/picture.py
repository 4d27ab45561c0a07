"""The waterfall of a ladder: for each size a panel, a row a rung, time on a logarithmic axis.

For: one figure, the same for the same data. Not for: numbers (table.py). Needs matplotlib
(`pip install 'ringtree[report]'`).

    ▮▮▮▮▮▮▮▮▮▮▮▮▮▮▮▮▮▮▮▮▮▮▮   the lowest rung's whole time
                  ▮▮▮▮▮▮▮▮▮   what the next rung took off it, with the interval of what is left
               ◇              the top without this one thing, with its interval
    ▮▮▮▮▮▮▮▮▮                 the whole time of the top
    :                         floor

It is drawn on a light card of its own, so that it can be read on pages of any colour.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ringtree.errors import UsageError
from ringtree.explain.ladder_record import Effect, Ladder, PanelRecord, RungRecord
from ringtree.show.ladder.words import place
from ringtree.show.plot.figure import save
from ringtree.units import count, format_factor, format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CARD, _INK, _FAINT, _GRID = "#fdfdfb", "#222222", "#777772", "#d9d9d4"
_COLOURS = {"faster": "#34803a", "slower": "#b3402f", "equivalent": "#b9b9b4", "inconclusive": "#b9b9b4"}
_WHOLE, _TAKEN, _FLOOR = "#2d5f9a", "#a85a17", "#555550"
_ROW_HEIGHT, _PANEL_WIDTH, _LABEL_WIDTH, _AROUND = 0.32, 3.1, 2.4, 1.1  # inches
_SHORT = 32  # letters of a reason
_BELOW = 0.34  # of a row: where what is taken away from the top stands


def write_picture(ladder: Ladder, file: Path) -> None:
    """Draws the ladder into `file`. Raises as figure.save() does."""
    style = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), _INK)
    save(file, lambda: _figure(ladder), ladder.run, 150, **style, **{"axes.edgecolor": _FAINT})


def _figure(ladder: Ladder) -> Figure:
    """A column a size, a row a placement of the cores."""
    from matplotlib.figure import Figure

    panels = [panel for panel in ladder.panels if any(rung.time is not None for rung in panel.rungs)]
    if not panels:
        raise UsageError("nothing is measured that could be drawn")
    sizes = sorted({panel.size_bytes for panel in panels})
    placements = list(dict.fromkeys(panel.placement for panel in panels))
    num_rows = max(len(panel.rungs) for panel in panels) + 1
    width = _LABEL_WIDTH + _PANEL_WIDTH * len(sizes)
    height = (_ROW_HEIGHT * num_rows + 0.5) * len(placements) + _AROUND
    figure = Figure(figsize=(width, height), facecolor=_CARD, layout="constrained")
    grid = figure.subplots(len(placements), len(sizes), squeeze=False)
    for axes in grid.flat:
        axes.set_visible(False)
    for panel in panels:
        column = sizes.index(panel.size_bytes)
        row = placements.index(panel.placement)
        is_first = not any(one.placement == panel.placement and one.size_bytes < panel.size_bytes for one in panels)
        _draw(grid[row][column], panel, labelled=is_first)
    figure.suptitle(
        f"{ladder.collective} {ladder.dtype}, {count(ladder.num_ranks, 'rank')}: what each change is worth",
        fontsize=11,
    )
    _explain_marks(figure)
    return figure


def _draw(axes: Axes, panel: PanelRecord, labelled: bool) -> None:
    axes.set_visible(True)
    axes.set_facecolor(_CARD)
    axes.set_xscale("log")
    axes.set_title(place(panel), fontsize=10)
    left, right = _span(panel)
    stands_on: tuple[int, float] | None = None
    top: float | None = None
    for row, rung in enumerate(panel.rungs):
        if rung.time is None:
            _say(axes, row, left, _short(rung))
            continue
        _draw_rung(axes, row, rung, stands_on, left)
        stands_on = stands_on if rung.aside else (row, rung.time.median)
        top = rung.time.median
    assert top is not None
    end = len(panel.rungs)
    axes.barh(end, top - left, left=left, height=0.5, color=_WHOLE, alpha=0.85)
    rows = {rung.key: row for row, rung in enumerate(panel.rungs)}
    for taking in panel.takings:
        if taking.worth is not None and taking.key in rows:
            _draw_taken(axes, rows[taking.key] + _BELOW, taking.worth, top)
    if panel.total is not None:
        _write_factor(axes, end, panel.total)
    if panel.floor is not None:
        axes.axvline(panel.floor, color=_FLOOR, linewidth=1, linestyle=":", zorder=0.4)
    axes.set_xlim(left, right)
    _mark_times(axes, left, right)
    axes.set_ylim(end + 0.6, -0.6)
    titles = [*(rung.title for rung in panel.rungs), "what is left"]
    axes.set_yticks(range(len(titles)), titles if labelled else [""] * len(titles))
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="x", which="major", color=_GRID, linewidth=0.6)
    axes.set_axisbelow(True)


def _span(panel: PanelRecord) -> tuple[float, float]:
    """The ends of the time axis: all that is drawn, and some room."""
    times = [time for rung in panel.rungs if rung.time is not None for time in (rung.time.low, rung.time.high)]
    return min([*times, *([] if panel.floor is None else [panel.floor])]) / 1.6, max(times) * 1.4


def _draw_rung(axes: Axes, row: int, rung: RungRecord, stands_on: tuple[int, float] | None, left: float) -> None:
    """The whole time of the first rung, or what a rung took off (or put on) the one that it stands on."""
    assert rung.time is not None
    time = rung.time.median
    if stands_on is None:
        ends, colour = (left, time), _WHOLE
    else:
        below, before = stands_on
        ends = (min(before, time), max(before, time))
        colour = _COLOURS[rung.step.verdict if rung.step is not None else "inconclusive"]
        axes.plot([before, before], [below, row], color=_FAINT, linewidth=0.6, zorder=0.5)
    axes.barh(row, ends[1] - ends[0], left=ends[0], height=0.5, color=colour, alpha=0.4 if rung.aside else 0.85)
    axes.plot([rung.time.low, rung.time.high], [row, row], color=_INK, linewidth=1.1)
    axes.plot([time], [row], marker="|", color=_INK, markersize=9, markeredgewidth=1.4)
    if rung.step is not None:
        _write_factor(axes, row, rung.step)


def _draw_taken(axes: Axes, at: float, worth: Effect, top: float) -> None:
    if worth.low is not None and worth.high is not None:
        axes.plot([top * worth.low, top * worth.high], [at, at], color=_TAKEN, linewidth=1.1)
    axes.plot([top * worth.factor], [at], marker="D", color=_TAKEN, markerfacecolor=_CARD, markersize=4.5)


def _write_factor(axes: Axes, row: int, effect: Effect) -> None:
    """Beside the panel, where nothing else stands."""
    text = f"{format_factor(effect.factor)}×"
    axes.text(1.015, row, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8)


def _say(axes: Axes, row: int, left: float, text: str) -> None:
    card = {"facecolor": _CARD, "edgecolor": "none", "pad": 1.0}
    axes.text(left * 1.08, row, text, color=_FAINT, fontsize=7.5, va="center", bbox=card)


def _mark_times(axes: Axes, left: float, right: float) -> None:
    """Ticks that people read: 1, 10, 100 µs; more where the axis is short."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    steps = (1.0,) if right / left > 60 else (1.0, 3.0) if right / left > 12 else (1.0, 2.0, 5.0)
    ticks = [step * 10.0**power for power in range(-9, 3) for step in steps if left <= step * 10.0**power <= right]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FixedFormatter([_tick(tick) for tick in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())


def _tick(seconds: float) -> str:
    number, unit = format_time(seconds * (1 + 1e-9)).split(" ")
    return f"{float(number):g} {unit}"


def _short(rung: RungRecord) -> str:
    """The reason in a few words; all of it stands in the table."""
    words = (rung.why or "not measured").partition(":")[0]
    return words if len(words) <= _SHORT else f"{words[:_SHORT]}…"


def _explain_marks(figure: Figure) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Line2D | Patch] = [
        Patch(color=_WHOLE, label="whole time"),
        Patch(color=_COLOURS["faster"], label="faster"),
        Patch(color=_COLOURS["slower"], label="slower"),
        Patch(color=_COLOURS["inconclusive"], label="no difference shown"),
        Line2D([], [], color=_INK, linewidth=1.1, label="interval"),
        Line2D([], [], color=_TAKEN, marker="D", markerfacecolor=_CARD, markersize=4.5, label="the top without this"),
        Line2D([], [], color=_FLOOR, linestyle=":", label="floor"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
