"""Bus bandwidth and efficiency over the number of ranks, from several runs.

For: `--kind scaling`. Not for: sizes (curves.py).

Efficiency is the bus bandwidth over that of the run with the fewest ranks: 1 means that each link carries as much as
there. Runs on other machines, or with other collectives, don't belong on one line and are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ringtree.errors import UsageError
from ringtree.judge.words import kind
from ringtree.show.plot import figure
from ringtree.show.views import View
from ringtree.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_scaling(runs: Sequence[View], file: Path) -> None:
    """Draws the largest size that all runs have. Raises UsageError for runs that can't be on one line."""
    size, curves = scaling(runs)
    first = runs[0]

    def fill(drawn: Figure, axes: list[Axes]) -> None:
        for number, (arm, points) in enumerate(curves.items()):
            ranks = [n for n, _ in points]
            style = figure.look(number)
            axes[0].plot(ranks, [rate / 1e9 for _, rate in points], label=arm, **style)
            axes[1].plot(ranks, [rate / points[0][1] for _, rate in points], label=arm, **style)
        for on, ylabel in zip(
            axes, ("bus bandwidth, GB/s", "bus bandwidth over that of the fewest ranks"), strict=True
        ):
            on.set_xticks(sorted({run.num_ranks or 0 for run in runs}))
            on.set_xlabel("ranks")
            on.set_ylabel(ylabel)
            on.set_ylim(bottom=0)
            on.grid(True, linewidth=0.3)
        axes[1].axhline(1.0, color=figure.FAINT, linewidth=0.8)
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)

    figure.write(file, 2, f"{first.collective} of {format_size(size)}, {kind(first)}", fill, first.id)


def scaling(runs: Sequence[View]) -> tuple[int, dict[str, list[tuple[int, float]]]]:
    """Returns the size, and of each arm (ranks, busbw in bytes/s), ascending.

    Raises UsageError unless there are runs with at least two numbers of ranks, of one collective, dtype and op, with a
    size in common.
    """
    questions = {(run.collective, run.dtype, run.op) for run in runs}
    if len(questions) > 1:
        raise UsageError("these runs measured different collectives, types or ops: they are not on one line")
    numbers = [run.num_ranks or 0 for run in runs]
    if len(set(numbers)) < 2 or len(set(numbers)) < len(numbers):
        raise UsageError(f"scaling needs runs with different numbers of ranks, one each, not {sorted(numbers)}")
    common = set.intersection(*({row.size for row in run.rows} for run in runs))
    if not common:
        raise UsageError("these runs have no size in common")
    size = max(common)
    curves: dict[str, list[tuple[int, float]]] = {}
    for run in sorted(runs, key=lambda run: run.num_ranks or 0):
        for arm in run.arms:
            cells = [run.cell(size, arm, place.name) for place in run.places]
            found = next((cell for cell in cells if cell is not None and cell.busbw and not cell.wrong), None)
            if found is not None and found.busbw:
                name = run.series.get(arm, arm) or "not forced"
                curves.setdefault(name, []).append((run.num_ranks or 0, found.busbw))
    return size, {arm: points for arm, points in curves.items() if len(points) > 1}
