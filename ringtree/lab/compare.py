"""A comparison from plan to stored run.

For: running the launches of a plan one after another and storing each as soon as it is over, from the beginning or from
where a killed comparison stopped. Not for: printing (table.py, progress.py) or statistics (summary.py).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import ringtree
from ringtree.lab.crew import Crew
from ringtree.lab.environment import CpuTimes, capture, difference
from ringtree.lab.launch import run_launch
from ringtree.lab.limits import probe_limits
from ringtree.lab.messages import CellReport, ProgressReport
from ringtree.lab.plan import PlannedLaunch, data_seed, planned_launches
from ringtree.lab.rank_group import RANK_ENVIRONMENT, LaunchFailed
from ringtree.lab.units import count
from ringtree.results import (
    FORMAT,
    Cell,
    Launch,
    Plan,
    Preflight,
    Provenance,
    Run,
    RunWriter,
    StoredRun,
    new_run_id,
    read_run,
)

OnProgress = Callable[[PlannedLaunch, ProgressReport], None]


class ComparisonFailed(ringtree.RingtreeError):
    """A run that stopped; the message says why, and where what was stored is."""


def run_comparison(
    plan: Plan, runs: Path, on_progress: OnProgress, preflight: Preflight | None = None, crew: Crew | None = None
) -> StoredRun:
    """Runs all launches of `plan` and returns the stored run.

    `on_progress(launch, report)` is called as rank 0 finishes visits. `crew`: as run_launch(). Raises ComparisonFailed
    if a launch fails, or UsageError if it can't be stored; what was stored before stays. On Ctrl-C all processes are
    gone before KeyboardInterrupt leaves; its message, too, says where what was stored is and how to go on.
    """
    run = Run(
        format=FORMAT,
        run_id=new_run_id(),
        created_utc=_utc(),
        plan=plan,
        provenance=_provenance(plan),
        limits=probe_limits(plan),
        preflight=preflight,
    )
    with RunWriter(runs, run) as writer:
        _run_launches(plan, planned_launches(plan), 0, writer, on_progress, crew)
    return read_run(writer.path)


def resume_comparison(path: Path, on_progress: OnProgress, crew: Crew | None = None) -> StoredRun:
    """Runs the launches that the stored run in directory `path` still lacks, and returns it.

    Raises UsageError if this is another machine or another version than the run's: its launches must not be mixed.
    """
    stored = read_run(path)
    plan = stored.run.plan
    differences = difference(stored.run.provenance, _provenance(plan))
    if differences:
        raise ringtree.UsageError(
            f"{stored.run.run_id} can't go on here, its launches would not be comparable: {'; '.join(differences)}"
        )
    with RunWriter.resume(path) as writer:
        missing = [launch for launch in planned_launches(plan) if launch.launch not in writer.stored]
        _run_launches(plan, missing, len(writer.stored), writer, on_progress, crew)
    return read_run(path)


def _run_launches(
    plan: Plan,
    launches: list[PlannedLaunch],
    num_stored: int,
    writer: RunWriter,
    on_progress: OnProgress,
    crew: Crew | None,
) -> None:
    try:
        for launch in launches:
            writer.append(measure_launch(plan, launch, partial(on_progress, launch), crew))
            num_stored += 1
    except LaunchFailed as failed:
        raise ComparisonFailed(f"{failed}; {_kept(num_stored, writer.path)}") from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_kept(num_stored, writer.path)) from None


def measure_launch(
    plan: Plan, launch: PlannedLaunch, on_progress: Callable[[ProgressReport], None], crew: Crew | None = None
) -> Launch:
    """Runs one launch and returns its record. Raises LaunchFailed."""
    started, clock, load = _utc(), time.monotonic(), os.getloadavg()[0]
    before = CpuTimes.now()
    pids, reports = run_launch(plan, launch, on_progress, crew=crew)
    after = CpuTimes.now()
    return Launch(
        launch=launch.launch,
        block=launch.block,
        arms=[arm.label for arm in launch.arms],
        seed=data_seed(plan, launch.launch),
        pids=pids,
        started_utc=started,
        wall_seconds=time.monotonic() - clock,
        load_average=load,
        stolen=after.stolen_since(before) if before and after else None,
        cells=merge_ranks(plan, reports),
    )


def merge_ranks(plan: Plan, reports: list[list[CellReport]]) -> list[Cell]:
    """Joins what the ranks say of each cell, `reports[rank][cell]`, into one Cell each.

    A cell is verified only if every rank found every element right and all executed the same algorithm. Only rank 0
    probes, so the visits are its.
    """
    batch_of = {size.size_bytes: size.batch for size in plan.sizes}
    cells = []
    for of_ranks in zip(*reports, strict=True):
        first = of_ranks[0]
        if any((report.arm, report.size_bytes) != (first.arm, first.size_bytes) for report in of_ranks):
            raise LaunchFailed(f"ranks reported different cells: {first.arm} at {first.size_bytes} bytes on rank 0")
        wrong = next((report.first_wrong for report in of_ranks if report.first_wrong is not None), None)
        error = next((report.error for report in of_ranks if report.error is not None), None)
        algorithms = {str((report.executed or {}).get("algorithm")) for report in of_ranks}
        if error is None and len(algorithms) > 1:
            error = f"ranks executed different algorithms: {', '.join(sorted(algorithms))}"
        timed = all(report.times for report in of_ranks)
        cells.append(
            Cell(
                arm=first.arm,
                size_bytes=first.size_bytes,
                executed=first.executed,
                batch=batch_of[first.size_bytes],
                times=[report.times for report in of_ranks] if timed else [],
                visits=first.visits if timed else [],
                warm_up=first.warm_up,
                verified=error is None and wrong is None and timed,
                first_wrong=wrong,
                error=error,
            )
        )
    return cells


def _provenance(plan: Plan) -> Provenance:
    return capture(emulated=plan.emulation is not None, rank_defaults=RANK_ENVIRONMENT)


def _kept(num_launches: int, path: Path) -> str:
    kept = f"{count(num_launches, 'launch')} stored in {path}"
    return f"{kept}; go on with: ringtree compare --resume {path}" if num_launches else kept


def _utc() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
