"""The live progress of a study, on standard error.

For: telling a person what runs and how long it will take. Not for: results.

The time left is estimated from the launches that are over; before the first one is, from the plan's own estimate.
"""

from __future__ import annotations

import time
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ringtree.measure.estimate import cost_of
from ringtree.measure.messages import ProgressReport
from ringtree.measure.plan import PlannedLaunch, planned_launches
from ringtree.results import Plan

BarT = TypeVar("BarT", bound="LaunchBar")


class TimeLeft:
    """Estimates the seconds left from how far the launches are. Time is told, not taken: `now` is since the start."""

    def __init__(self, num_launches: int, expected: float, num_done: int = 0) -> None:
        """`expected`: seconds of all launches together by the plan; `num_done`: launches that were stored before."""
        self._num_launches, self._expected, self._num_before = num_launches, expected, num_done

    def at(self, launch: int, share: float, now: float) -> float:
        """Returns the seconds left when `share` of launch number `launch` (from 0) is done."""
        done = launch - self._num_before + share
        left = self._num_launches - launch - share
        a_launch = self._expected / self._num_launches
        if done > 0:
            # The plan's guess counts as one launch, so that the first visits do not make the estimate jump.
            a_launch = (now + a_launch) / (done + 1)
        return left * a_launch


class LaunchBar:
    """A bar over the launches of a study, redrawn as visits finish; without a terminal a line a launch."""

    def __init__(self, console: Console, total: float) -> None:
        self._console, self._launch = console, -1
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[beside]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=total, beside="", left="")

    def __enter__(self: BarT) -> BarT:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def show(self, completed: float, text: str, beside: str, left: str, launch: int, line: str) -> None:
        """Draws the bar between `text` and `beside`; `line` is what is printed once a `launch` instead."""
        self._bar.update(self._task, completed=completed, description=text, beside=beside, left=f"{left} left")
        if launch != self._launch and not self._console.is_terminal:
            self._console.print(line, markup=False, highlight=False)
        self._launch = launch


class LiveProgress(LaunchBar):
    """Of a comparison."""

    def __init__(self, console: Console, plan: Plan, num_done: int = 0) -> None:
        self._num_launches, self._start = len(planned_launches(plan)), time.monotonic()
        super().__init__(console, self._num_launches)
        self._left = TimeLeft(self._num_launches, cost_of(plan).seconds, num_done)
        self._what = "pilot " if plan.purpose == "pilot" else ""

    def on_progress(self, launch: PlannedLaunch, report: ProgressReport) -> None:
        """Called with each finished visit."""
        share = report.done / report.total
        left = self._left.at(launch.launch, share, time.monotonic() - self._start)
        number = launch.launch + 1
        self.show(
            launch.launch + share,
            report.text,
            f"launch {self._what}{number}/{self._num_launches}",
            _rounded(left),
            launch.launch,
            f"{self._what}launch {number} of {self._num_launches}",
        )


def _rounded(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
