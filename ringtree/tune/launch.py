"""One launch of a tuning: fresh ranks that measure, and what they measured, line by line.

For: starting the ranks and handing on their reports. Not for: what is measured (plan.py) or stored (state.py).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from ringtree.lab.crew import Crew, RankProgram
from ringtree.lab.messages import ProgressReport
from ringtree.lab.rank_group import RANK_TIMEOUT, LaunchFailed, run_ranks
from ringtree.tune.records import Launch, Measured, Request, TuneReport, TuneSpec, reports

OnMeasured = Callable[[Measured | ProgressReport], None]
MeasureLaunch = Callable[[Request, Launch, int, OnMeasured], None]
TUNING = RankProgram("ringtree.tune.rank_process", TuneSpec, reports)


def measure_launch(
    request: Request, launch: Launch, first_sweep: int, on_measured: OnMeasured, crew: Crew | None = None
) -> None:
    """Runs a launch; `on_measured` gets what rank 0 measures as soon as it has. `crew`: who starts the ranks where they
    run on several hosts. Raises LaunchFailed."""
    session = secrets.token_hex(16)

    def make_spec(rank: int, process_group: int) -> TuneSpec:
        return TuneSpec(
            launch=launch,
            first_sweep=first_sweep,
            request=request,
            rank=rank,
            session=session,
            store=None if crew is None else crew.store,
            process_group=process_group,
            timeout=RANK_TIMEOUT,
        )

    def on_report(rank: int, report: TuneReport) -> None:
        on_measured(report)  # type: ignore[arg-type]  # how a rank ended is run_ranks' affair

    try:
        if crew is not None:
            crew.run_launch(make_spec(0, 0), {}, on_report)
        else:
            run_ranks(TUNING.module, launch.world.num_ranks, make_spec, TUNING.reports, on_report)
    except LaunchFailed as failed:
        raise LaunchFailed(f"{launch.stage} with {launch.world.words} failed: {failed}") from None
