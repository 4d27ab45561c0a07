"""Time and bus bandwidth over size, with the intervals as bands.

For: `--kind time` and `--kind busbw`. Not for: differences (heatmap.py), who is ahead where (crossover.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ringtree.show.plot import figure
from ringtree.show.plot.words import panels_of, title_of
from ringtree.show.views import LimitLine, View, ViewCell

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DASHES = (":", "--", "-.")


class _Shown(NamedTuple):
    """What is drawn: its middle, the ends of its interval in either order (none of single runs), and a limit's."""

    label: str
    middle: Callable[[ViewCell], float | None]
    ends: Callable[[ViewCell], tuple[float, float] | None]
    limit: Callable[[tuple[int, float | None, float | None]], float | None]


def draw_time(views: Sequence[View], file: Path) -> None:
    """Draws the time of a call over size: in ms if no call takes less than one, else in µs."""
    times = [time for view in views for cell in view.cells if (time := _seconds(cell))]
    unit, scale = ("ms", 1e3) if min(times, default=0.0) >= 1e-3 else ("µs", 1e6)
    _draw(views, file, _Shown(f"time of a call, {unit}", _seconds, _interval, lambda point: point[1]), scale)


def draw_busbw(views: Sequence[View], file: Path) -> None:
    """Draws GB/s of bus bandwidth over size."""
    _draw(views, file, _Shown("bus bandwidth, GB/s", lambda cell: cell.busbw, _rates, lambda point: point[2]), 1e-9)


def _seconds(cell: ViewCell) -> float | None:
    return None if cell.time is None else cell.time.median


def _interval(cell: ViewCell) -> tuple[float, float] | None:
    time = cell.time
    return None if time is None or time.low is None or time.high is None else (time.low, time.high)


def _rates(cell: ViewCell) -> tuple[float, float] | None:
    ends = _interval(cell)
    if ends is None or cell.busbw is None or cell.time is None:
        return None
    return cell.busbw * cell.time.median / ends[1], cell.busbw * cell.time.median / ends[0]


def _draw(views: Sequence[View], file: Path, shown: _Shown, scale: float) -> None:
    panels = panels_of(views)

    def fill(drawn: Figure, axes: list[Axes]) -> None:
        for (view, place, title), on in zip(panels, axes, strict=True):
            for number, arm in enumerate(view.arms):
                _curve(on, _cells(view, arm, place, shown), number, shown, scale)
            for number, line in enumerate(line for line in view.limits if line.place in (None, place)):
                _limit(on, line, number, shown, scale)
            figure.size_axis(on)
            figure.plain_numbers(on)
            on.set_ylabel(shown.label)
            on.set_title(title, fontsize=9)
        figure.legend(drawn, axes, len(views))

    figure.write(file, len(panels), title_of(views), fill, views[0].id)


def _cells(view: View, arm: str, place: str, shown: _Shown) -> list[ViewCell]:
    sizes = set(view.sizes(place))
    cells = [cell for cell in view.cells if (cell.arm, cell.place) == (arm, place) and cell.wrong is None]
    found = [cell for cell in cells if cell.size in sizes and (cell.size or 0) > 0 and (shown.middle(cell) or 0) > 0]
    return sorted(found, key=lambda cell: cell.size or 0)


def _curve(axes: Axes, cells: list[ViewCell], number: int, shown: _Shown, scale: float) -> None:
    if not cells:
        return
    sizes = [cell.size or 0 for cell in cells]
    middles = [(shown.middle(cell) or 0.0) * scale for cell in cells]
    style = figure.look(number)
    axes.plot(sizes, middles, label=cells[0].arm, markersize=3.5, linewidth=1.2, **style)
    ends = [found for cell in cells if (found := shown.ends(cell)) is not None]
    if len(ends) == len(cells):
        low, high = ([scale * end[index] for end in ends] for index in (0, 1))
        axes.fill_between(sizes, low, high, color=style["color"], alpha=0.18, linewidth=0)


def _limit(axes: Axes, line: LimitLine, number: int, shown: _Shown, scale: float) -> None:
    points = [(point[0], value) for point in line.points if (value := shown.limit(point))]
    axes.plot(
        [size for size, _ in points],
        [value * scale for _, value in points],
        linestyle=DASHES[number % len(DASHES)],
        color=figure.FAINT,
        linewidth=1.2,
        label=line.name,
    )
