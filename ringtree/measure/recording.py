"""A comparison from plan to stored run.

For: running the launches of a plan one after another and storing each as soon as it is over, from the beginning or from
where a killed comparison stopped. Not for: printing (ringtree.show) or statistics (ringtree.judge).
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ringtree.arms.torch_nccl import KIND as TORCH_NCCL
from ringtree.arms.torch_nccl import lacks_torch_nccl, torch_nccl_version
from ringtree.errors import RingtreeError, UsageError
from ringtree.launchers import identify
from ringtree.measure.crew import Crew
from ringtree.measure.environment import CpuTimes, capture, difference
from ringtree.measure.launch import run_launch
from ringtree.measure.limits import probe_limits
from ringtree.measure.messages import ProgressReport
from ringtree.measure.plan import PlannedLaunch, command_of, data_seed, planned_launches
from ringtree.measure.rank_group import RANK_ENVIRONMENT
from ringtree.results import (
    FORMAT,
    ON_GPU,
    Cell,
    Launch,
    Launcher,
    Plan,
    Preflight,
    Provenance,
    Run,
    RunWriter,
    StoredRun,
    new_run_id,
    read_run,
)
from ringtree.units import count

OnProgress = Callable[[PlannedLaunch, ProgressReport], None]
LaunchBy = Callable[..., tuple[list[int], list[Cell]]]  # what runs a launch, called as run_launch()


class ComparisonFailed(RingtreeError):
    """A run that stopped; the message says why, and where what was stored is."""


def run_comparison(
    plan: Plan,
    runs: Path,
    on_progress: OnProgress,
    preflight: Preflight | None = None,
    crew: Crew | None = None,
    launch_by: LaunchBy = run_launch,
) -> StoredRun:
    """Runs all launches of `plan` and returns the stored run.

    `on_progress(launch, report)` is called as rank 0 finishes visits. `crew`: as run_launch(); `launch_by`: what stands
    in for it where processes are started in another way. Raises ComparisonFailed if a launch fails, or UsageError if it
    can't be stored; what was stored before stays. On Ctrl-C all processes are gone before KeyboardInterrupt leaves; its
    message, too, says where what was stored is and how to go on.
    """
    run = Run(
        format=FORMAT,
        run_id=new_run_id(),
        created_utc=_utc(),
        plan=plan,
        provenance=provenance_of(plan, crew),
        limits=probe_limits(plan),
        preflight=preflight,
    )
    with RunWriter(runs, run) as writer:
        _run_launches(plan, planned_launches(plan), [], writer, on_progress, partial(launch_by, crew=crew))
    return read_run(writer.path)


def resume_comparison(
    path: Path, on_progress: OnProgress, crew: Crew | None = None, launch_by: LaunchBy = run_launch
) -> StoredRun:
    """Runs the launches that the stored run in directory `path` still lacks, and returns it.

    Raises UsageError if this is another machine or another version than the run's: its launches must not be mixed.
    """
    stored = read_run(path)
    plan = stored.run.plan
    differences = difference(stored.run.provenance, provenance_of(plan, crew))
    if differences:
        raise UsageError(
            f"{stored.run.run_id} can't go on here, its launches would not be comparable: {'; '.join(differences)}"
        )
    with RunWriter.resume(path) as writer:
        missing = [launch for launch in planned_launches(plan) if launch.launch not in writer.stored]
        _run_launches(plan, missing, stored.launches, writer, on_progress, partial(launch_by, crew=crew))
    return read_run(path)


def _run_launches(
    plan: Plan,
    launches: list[PlannedLaunch],
    before: Sequence[Launch],
    writer: RunWriter,
    on_progress: OnProgress,
    launch_by: LaunchBy,
) -> None:
    stored = list(before)
    try:
        for launch in launches:
            run = partial(launch_by, plan, launch, partial(on_progress, launch), before=stored)
            stored.append(measure_launch(plan, launch, run))
            writer.append(stored[-1])
    except UsageError:
        raise
    except RingtreeError as failed:  # a launch failed, or an agent is lost
        raise ComparisonFailed(f"{failed}; {_kept(plan, len(writer.stored), writer.path)}") from None
    except KeyboardInterrupt as interrupt:  # Ctrl-C, or Terminated
        raise type(interrupt)(_kept(plan, len(writer.stored), writer.path)) from None


def measure_launch(plan: Plan, launch: PlannedLaunch, run: Callable[[], tuple[list[int], list[Cell]]]) -> Launch:
    """Returns the record of one launch; `run` runs it, as launch.py does. Raises what `run` raises."""
    started, clock, load = _utc(), time.monotonic(), os.getloadavg()[0]
    before = CpuTimes.now()
    pids, cells = run()
    after = CpuTimes.now()
    return Launch(
        launch=launch.launch,
        block=launch.block,
        arms=[arm.label for arm in launch.arms],
        workload=launch.workload,
        seed=data_seed(plan, launch.launch),
        pids=pids,
        started_utc=started,
        wall_seconds=time.monotonic() - clock,
        load_average=load,
        stolen=after.stolen_since(before) if before and after else None,
        cells=cells,
    )


def provenance_of(plan: Plan, crew: Crew | None) -> Provenance:
    """Returns the provenance of a run of the plan that starts now. `crew`: who starts its ranks, if a launcher did."""
    emulated = plan.emulation is not None
    on_gpu = plan.boundary in ON_GPU
    launcher, cores = (launcher_of_one(), None) if crew is None else (crew.described, crew.cores)
    nccl = torch_nccl_version() if on_gpu and _runs_pytorchs_nccl(plan) and lacks_torch_nccl() is None else None
    return capture(emulated, RANK_ENVIRONMENT, launcher=launcher, cores=cores, on_gpu=on_gpu, nccl=nccl)


def _runs_pytorchs_nccl(plan: Plan) -> bool:
    """Whether all arms do, and none the library that ringtree calls itself. A script may have another PyTorch."""
    if plan.training is not None:
        return plan.training.strategy != "script"
    return all(arm.kind == TORCH_NCCL.name for arm in plan.arms)


def launcher_of_one() -> Launcher | None:
    """The launcher that has started this process alone, None without one and where launchers disagree."""
    try:
        identity = identify()
    except UsageError:
        return None
    if identity is None or identity.world_size > 1:
        return None
    return Launcher(name=identity.launcher, job=identity.job, num_processes=1, hosts=[platform.node()])


def _kept(plan: Plan, num_launches: int, path: Path) -> str:
    kept = f"{count(num_launches, 'launch')} stored in {path}"
    return f"{kept}; continue with: ringtree {command_of(plan)} --resume {path}" if num_launches else kept


def _utc() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
