"""The live progress of a comparison, on standard error.

For: telling a person what runs and how long it will take. Not for: results.

The time left is estimated from cells like those to come: what a size took in earlier launches, else an even share.
"""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ringtree.lab.messages import CellReport
from ringtree.lab.plan import cell_order
from ringtree.lab.units import format_size
from ringtree.results import Plan


class TimeLeft:
    """Estimates the seconds left from the times at which cells were finished. A cell: (launch, size, arm)."""

    def __init__(self, plan: Plan) -> None:
        self._left = [(size, arm) for launch in range(plan.num_launches) for size, arm in cell_order(plan, launch)]
        self._seen: dict[tuple[int, str], float] = {}
        self._last = 0.0
        self._total = 0.0
        self._num_done = 0

    def finish(self, size_bytes: int, arm: str, now: float) -> float:
        """Takes note that the next cell is finished `now` seconds after the start; returns the seconds left."""
        self._left.remove((size_bytes, arm))
        # The gap between launches (processes start, communicators connect) is part of the first cell of a launch.
        self._seen[size_bytes, arm] = now - self._last
        self._total, self._last = now, now
        self._num_done += 1
        return sum(self._seen.get(cell, self._total / self._num_done) for cell in self._left)


class LiveProgress:
    """A progress bar, redrawn as cells finish; on a stream that is no terminal only a line a launch."""

    def __init__(self, console: Console, plan: Plan) -> None:
        self._plan, self._left, self._start = plan, TimeLeft(plan), time.monotonic()
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.completed}/{task.total} cells"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        total = sum(len(cell_order(plan, launch)) for launch in range(plan.num_launches))
        self._task = self._progress.add_task("starting", total=total, left="")
        self._launch = -1

    def __enter__(self) -> LiveProgress:
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def on_cell(self, launch: int, report: CellReport) -> None:
        """Called with each finished cell."""
        left = self._left.finish(report.size_bytes, report.arm, time.monotonic() - self._start)
        description = f"launch {launch + 1}/{self._plan.num_launches}  {report.arm} {format_size(report.size_bytes)}"
        self._progress.update(self._task, advance=1, description=description, left=f"{left:.0f} s left")
        if launch != self._launch and not self._console.is_terminal:
            self._console.print(f"launch {launch + 1} of {self._plan.num_launches}")
        self._launch = launch
