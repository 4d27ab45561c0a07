"""The live progress of a tuning, on standard error.

For: telling a person which stage runs and how long it will take. Not for: results.
"""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ringtree.lab.messages import ProgressReport
from ringtree.lab.units import format_duration
from ringtree.tune.plan import STAGES
from ringtree.tune.records import Launch, Request


class TuneProgress:
    """A progress bar; on a stream that is no terminal a line a launch."""

    def __init__(self, console: Console, request: Request) -> None:
        self._console, self._request = console, request
        self._progress = Progress(
            TextColumn("{task.fields[stage]}"),
            BarColumn(bar_width=None),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("starting", total=1.0, stage="", left="")
        self._launch = -1

    def __enter__(self) -> TuneProgress:
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def on_progress(self, launch: Launch, report: ProgressReport) -> None:
        """Called as rank 0 finishes cells."""
        stage = f"{launch.stage}, {launch.world.words}"
        share = self._share(launch, report.done / report.total)
        left = format_duration((1 - share) * self._request.budget)
        self._progress.update(self._task, completed=share, description=report.text, stage=stage, left=f"{left} left")
        if launch.number != self._launch and not self._console.is_terminal:
            self._console.print(f"{stage}: {len(launch.cells)} sizes", markup=False, highlight=False)
        self._launch = launch.number

    def _share(self, launch: Launch, done: float) -> float:
        """Share of the time budget at this point of a launch, by what each stage was given."""
        worlds = self._request.worlds
        position = launch.number // len(worlds)
        before = sum(stage.share for stage in STAGES[:position])
        over = sum(world.weight for world in worlds[: launch.number % len(worlds)])
        weights = sum(world.weight for world in worlds)
        return before + STAGES[position].share * (over + done * launch.world.weight) / weights
