"""A whole comparison as a person asks for it: preflight, pilot if there is a time budget, launches, progress.

For: what `ringtree compare` does between its options and its output. Not for: any one of these steps (preflight.py,
measure/budget.py, measure/recording.py).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ringtree.compare.preflight import percent, refuse_if_too_noisy, run_preflight, wants_preflight
from ringtree.errors import UsageError
from ringtree.judge.summary import launches_that_decide, summarise
from ringtree.measure.budget import budgeted_plan, pilot_plan
from ringtree.measure.crew import Crew
from ringtree.measure.plan import planned_launches
from ringtree.measure.progress import LiveProgress
from ringtree.measure.recording import resume_comparison, run_comparison
from ringtree.results import Plan, Preflight, StoredRun, find_run, read_run

# A machine that can't tell a factor of two is refused unless something else is asked.
DEFAULT_DETECT = 1.0


@dataclass(frozen=True)
class Question:
    """What is asked of the machine: the difference, as a share, that must be told; None: the default."""

    detect: float | None = None
    preflight: bool = True


def run(plan: Plan, runs: Path, question: Question, stderr: Console, crew: Crew | None = None) -> StoredRun:
    """Runs a comparison from its preflight to its last launch; progress goes to `stderr`. `crew`: as run_launch()."""
    started = time.monotonic()
    found = _look_ahead(plan, question, stderr, crew)
    if plan.time_budget is not None:
        plan = _spend(plan, plan.time_budget, runs, time.monotonic() - started, stderr, crew)
    with LiveProgress(stderr, plan) as progress:
        return run_comparison(plan, runs, progress.on_progress, found, crew)


def resume(runs: Path, text: str, stderr: Console, crew: Crew | None = None) -> StoredRun:
    """Goes on with the stored run that `text` names."""
    path = find_run(runs, text)
    stored = read_run(path)
    if stored.run.plan.training is not None:
        raise UsageError(f"{stored.run.run_id} is a training run: resume it with ringtree train --resume {text}")
    for note in stored.notes:
        stderr.print(f"note: {note}", markup=False, highlight=False)
    done = len(stored.launches)
    if done == len(planned_launches(stored.run.plan)):
        stderr.print(f"{stored.run.run_id} is complete: nothing to run", markup=False, highlight=False)
    with LiveProgress(stderr, stored.run.plan, done) as progress:
        return resume_comparison(path, progress.on_progress, crew)


def _look_ahead(plan: Plan, question: Question, stderr: Console, crew: Crew | None) -> Preflight | None:
    if not question.preflight or not wants_preflight(plan):
        return None
    with stderr.status("preflight: how noisy is this machine?"):
        found = run_preflight(plan, question.detect or DEFAULT_DETECT, lambda _: None, crew)
    told = f"differences of {percent(found.detectable)} at best" if math.isfinite(found.detectable) else "nothing"
    stderr.print(f"preflight: {plan.num_launches} launches can detect {told}", markup=False, highlight=False)
    refuse_if_too_noisy(plan, found)
    return found


def _spend(plan: Plan, budget: float, runs: Path, spent: float, stderr: Console, crew: Crew | None) -> Plan:
    started = time.monotonic()
    pilot = pilot_plan(plan, budget - spent)
    with LiveProgress(stderr, pilot) as progress:
        stored = run_comparison(pilot, runs, progress.on_progress, crew=crew)
    needs = launches_that_decide(summarise(stored))
    return budgeted_plan(plan, stored.run.run_id, needs, budget, spent + time.monotonic() - started)
