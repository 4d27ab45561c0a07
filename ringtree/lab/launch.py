"""One launch of a comparison: its ranks, and the cells that they report.

For: what ranks are told, which of them said what, how far they were when a launch failed. Not for: processes
(rank_group.py), what ranks do (rank_process.py), or storing results (compare.py).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable

from ringtree.lab.crew import Crew, RankProgram
from ringtree.lab.environment import available_memory
from ringtree.lab.messages import CellReport, ProgressReport, RankSpec, Report, reports
from ringtree.lab.plan import PlannedLaunch, memory_to_keep
from ringtree.lab.rank_group import RANK_TIMEOUT, STALL_LIMIT, LaunchFailed, run_ranks
from ringtree.results import Plan

COMPARISON = RankProgram("ringtree.lab.rank_process", RankSpec, reports)


def run_launch(
    plan: Plan,
    launch: PlannedLaunch,
    on_progress: Callable[[ProgressReport], None],
    stall_limit: float = STALL_LIMIT,
    crew: Crew | None = None,
) -> tuple[list[int], list[list[CellReport]]]:
    """Runs one launch; returns the ranks' pids and, for each rank, its cells: sizes ascending, arms as in the plan.

    `on_progress` is called with each visit that rank 0 has finished. `crew`: who starts the ranks where they run on
    several hosts. Call it as `run_ranks`. Raises LaunchFailed if a rank dies, fails or stops to report.
    """
    cells: list[list[CellReport]] = [[] for _ in range(plan.num_ranks)]
    last: list[ProgressReport] = []
    session = secrets.token_hex(16)
    # Half of what is free: the other half is for what arms and libraries take besides.
    keep = memory_to_keep(plan, launch) <= available_memory() // 2
    store = os.memfd_create("ringtree-torch-store")
    environment = launch.arms[0].environment

    def make_spec(rank: int, process_group: int) -> RankSpec:
        return RankSpec(
            plan=plan,
            rank=rank,
            launch=launch.launch,
            keep_operands=keep,
            session=session,
            process_group=process_group,
            store=None if crew is None else crew.store,
            torch_store=f"/proc/self/fd/{store}" if crew is None else None,
            timeout=RANK_TIMEOUT,
        )

    def on_report(rank: int, report: Report) -> None:
        if isinstance(report, CellReport):
            cells[rank].append(report)
        elif isinstance(report, ProgressReport):
            last[:] = [report]
            on_progress(report)

    try:
        if crew is not None:
            return crew.run_launch(make_spec(0, 0), environment, on_report), cells
        pids = run_ranks(
            COMPARISON.module,
            plan.num_ranks,
            make_spec,
            COMPARISON.reports,
            on_report,
            environment=environment,
            inherited=[store],
            stall_limit=stall_limit,
        )
    except LaunchFailed as failed:
        raise LaunchFailed(f"launch {launch.launch + 1} failed {_where(last)}: {failed}") from None
    finally:
        os.close(store)
    return pids, cells


def _where(last: list[ProgressReport]) -> str:
    if not last:
        return "before its first cell"
    return "after its last cell" if last[0].done >= last[0].total else f"after {last[0].text}"
