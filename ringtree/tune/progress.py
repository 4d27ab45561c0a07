"""The live progress of a tuning, on standard error.

For: telling a person which stage runs and how long it will take. Not for: results.
"""

from __future__ import annotations

from rich.console import Console

from ringtree.measure.messages import ProgressReport
from ringtree.measure.progress import LaunchBar
from ringtree.tune.measured import TuneLaunch, TuneRequest
from ringtree.tune.plan import STAGES
from ringtree.units import format_duration


class TuneProgress(LaunchBar):
    """Of a tuning; its time is given, so that what is left follows from the stages that are over."""

    def __init__(self, console: Console, request: TuneRequest) -> None:
        super().__init__(console, 1.0)
        self._request = request

    def on_progress(self, launch: TuneLaunch, report: ProgressReport) -> None:
        """Called as rank 0 finishes cells."""
        stage = f"{launch.stage}, {launch.world.words}"
        share = self._share(launch, report.done / report.total)
        left = format_duration((1 - share) * self._request.budget)
        self.show(share, stage, report.text, left, launch.number, f"{stage}: {len(launch.cells)} sizes")

    def _share(self, launch: TuneLaunch, done: float) -> float:
        """Share of the time budget at this point of a launch, by what each stage was given."""
        worlds = self._request.worlds
        position = launch.number // len(worlds)
        before = sum(stage.share for stage in STAGES[:position])
        over = sum(world.weight for world in worlds[: launch.number % len(worlds)])
        weights = sum(world.weight for world in worlds)
        return before + STAGES[position].share * (over + done * launch.world.weight) / weights
