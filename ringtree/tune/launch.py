"""One launch of a tuning: fresh ranks that measure, and what they measured, line by line.

For: starting the ranks and handing on their reports. Not for: what is measured (plan.py) or stored (state.py).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from ringtree.lab.messages import ProgressReport
from ringtree.lab.rank_group import RANK_TIMEOUT, LaunchFailed, run_ranks
from ringtree.tune.records import Launch, Measured, Request, TuneReport, TuneSpec, reports

OnMeasured = Callable[[Measured | ProgressReport], None]
MeasureLaunch = Callable[[Request, Launch, int, OnMeasured], None]


def measure_launch(request: Request, launch: Launch, first_sweep: int, on_measured: OnMeasured) -> None:
    """Runs a launch; `on_measured` gets what rank 0 measures as soon as it has. Raises LaunchFailed."""
    session = secrets.token_hex(16)

    def make_spec(rank: int, process_group: int) -> TuneSpec:
        return TuneSpec(
            launch=launch,
            first_sweep=first_sweep,
            request=request,
            rank=rank,
            session=session,
            process_group=process_group,
            timeout=RANK_TIMEOUT,
        )

    def on_report(rank: int, report: TuneReport) -> None:
        on_measured(report)  # type: ignore[arg-type]  # how a rank ended is run_ranks' affair

    try:
        run_ranks("ringtree.tune.rank_process", launch.world.num_ranks, make_spec, reports, on_report)
    except LaunchFailed as failed:
        raise LaunchFailed(f"{launch.stage} with {launch.world.words} failed: {failed}") from None
