"""The live progress of a comparison, on standard error.

For: telling a person what runs and how long it will take. Not for: results.

The time left is estimated from the launches that are over; before the first one is, from the plan's own estimate.
"""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ringtree.lab.estimate import cost_of
from ringtree.lab.messages import ProgressReport
from ringtree.lab.plan import PlannedLaunch, planned_launches
from ringtree.results import Plan


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


class LiveProgress:
    """A progress bar, redrawn as visits finish; on a stream that is no terminal only a line a launch."""

    def __init__(self, console: Console, plan: Plan, num_done: int = 0) -> None:
        self._num_launches, self._start = len(planned_launches(plan)), time.monotonic()
        self._left = TimeLeft(self._num_launches, cost_of(plan).seconds, num_done)
        self._console, self._what = console, "pilot " if plan.purpose == "pilot" else ""
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("launch {task.fields[launch]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("starting", total=self._num_launches, launch="", left="")
        self._launch = -1

    def __enter__(self) -> LiveProgress:
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def on_progress(self, launch: PlannedLaunch, report: ProgressReport) -> None:
        """Called with each finished visit."""
        share = report.done / report.total
        left = self._left.at(launch.launch, share, time.monotonic() - self._start)
        number = f"{launch.launch + 1}/{self._num_launches}"
        self._progress.update(
            self._task,
            completed=launch.launch + share,
            description=report.text,
            launch=f"{self._what}{number}",
            left=f"{_rounded(left)} left",
        )
        if launch.launch != self._launch and not self._console.is_terminal:
            self._console.print(f"{self._what}launch {launch.launch + 1} of {self._num_launches}")
        self._launch = launch.launch


def _rounded(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
