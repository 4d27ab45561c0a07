"""A whole sweep as a person asks for it: pilot if there is a time budget, launches, progress.

For: what `ringtree train` does between its options and its output. Not for: plans (request.py), launches (launch.py).
"""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console

from ringtree.errors import UsageError
from ringtree.measure.budget import MOST_LAUNCHES
from ringtree.measure.crew import Crew
from ringtree.measure.environment import version_of
from ringtree.measure.plan import planned_launches
from ringtree.measure.progress import LiveProgress
from ringtree.measure.recording import LaunchBy, resume_comparison, run_comparison
from ringtree.results import Plan, StoredRun, find_run, read_run
from ringtree.stats import least_launches
from ringtree.train.launch import run_script_launch, run_training_launch
from ringtree.train.own_script import check_unchanged
from ringtree.units import count, format_duration


def run(plan: Plan, runs: Path, stderr: Console, crew: Crew | None = None) -> StoredRun:
    """Runs a sweep; progress goes to `stderr`. `crew`: as run_launch() of ringtree.measure."""
    if plan.time_budget is not None:
        plan = _spend(plan, plan.time_budget, runs, stderr, crew)
    with LiveProgress(stderr, plan) as progress:
        return run_comparison(plan, runs, progress.on_progress, crew=crew, launch_by=_launch_by(plan))


def resume(runs: Path, text: str, stderr: Console, crew: Crew | None = None) -> StoredRun:
    """Goes on with the stored run that `text` names."""
    path = find_run(runs, text)
    stored = read_run(path)
    plan = stored.run.plan
    if plan.training is None:
        raise UsageError(f"{stored.run.run_id} is not a training run: resume it with ringtree compare --resume {text}")
    for note in stored.notes:
        stderr.print(f"note: {note}", markup=False, highlight=False)
    check_unchanged(plan.training, stored.run.run_id)
    now = version_of("transformers")
    if plan.training.transformers not in (None, now):
        raise UsageError(
            f"{stored.run.run_id} can't go on here: transformers was {plan.training.transformers} and is {now}"
        )
    done = len(stored.launches)
    if done == len(planned_launches(plan)):
        stderr.print(f"{stored.run.run_id} is complete: nothing to run", markup=False, highlight=False)
    with LiveProgress(stderr, plan, done) as progress:
        return resume_comparison(path, progress.on_progress, crew, _launch_by(plan))


def _launch_by(plan: Plan) -> LaunchBy:
    assert plan.training is not None, "it is a training's plan"
    return run_script_launch if plan.training.strategy == "script" else run_training_launch


def _spend(plan: Plan, budget: float, runs: Path, stderr: Console, crew: Crew | None) -> Plan:
    """Returns the plan with as many launches as fit after a pilot of one, which is a run of its own."""
    started = time.monotonic()
    pilot = plan.model_copy(
        update={
            "purpose": "pilot",
            "num_launches": 1,
            "sizes": [size.model_copy(update={"num_launches": 1}) for size in plan.sizes],
        }
    )
    with LiveProgress(stderr, pilot) as progress:
        stored = run_comparison(pilot, runs, progress.on_progress, crew=crew, launch_by=_launch_by(plan))
    a_block = time.monotonic() - started
    affordable = min(MOST_LAUNCHES, int((budget - a_block) / a_block))
    least = least_launches(plan.level)
    if affordable < least:
        raise UsageError(
            f"--budget {format_duration(budget)} is too short: one launch of everything took "
            f"{format_duration(a_block)}, and a verdict needs {count(least, 'launch')}: allow "
            f"{format_duration((least + 1) * a_block)}, or train less"
        )
    sizes = [size.model_copy(update={"num_launches": affordable}) for size in plan.sizes]
    return plan.model_copy(update={"num_launches": affordable, "sizes": sizes, "pilot": stored.run.run_id})
