"""A whole ladder: pilot, run, and reading both again.

For: what `ringtree explain` does between its options and its output. Not for: plans (plan.py) or launches
(ringtree.measure).
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from ringtree.errors import UsageError
from ringtree.explain.ladder_kinds import KINDS, kind_named, kind_of
from ringtree.explain.pilot import decide
from ringtree.explain.plan import Asked, ladder_plan, pilot_plan
from ringtree.measure.plan import fresh_seed
from ringtree.measure.progress import LiveProgress
from ringtree.measure.recording import run_comparison
from ringtree.results import Plan, StoredRun, find_run, read_run
from ringtree.units import parse_duration


def measure(asked: Asked, runs: Path, stderr: Console) -> tuple[StoredRun, StoredRun]:
    """Runs pilot and ladder; returns the stored run and its pilot. Raises as recording.run_comparison."""
    started = time.monotonic()
    asked = replace(asked, seed=fresh_seed() if asked.seed is None else asked.seed)
    pilot = _run(pilot_plan(asked), runs, stderr)
    left = parse_duration(asked.budget) - (time.monotonic() - started)
    plan = ladder_plan(asked, decide(pilot, kind_named(asked.ladder), asked.algorithm), pilot.run.run_id, left)
    return _run(plan, runs, stderr), pilot


def read_again(runs: Path, text: str) -> tuple[StoredRun, StoredRun]:
    """Returns the stored run that `text` names, and its pilot. Raises UsageError if one is missing or no ladder's."""
    stored = read_run(find_run(runs, text))
    pilot = stored.run.plan.pilot
    if stored.run.plan.preset in [kind.preset for kind in KINDS] and pilot is None:
        raise UsageError(f"{stored.run.run_id} is a pilot: name the run that followed it")
    kind_of(stored.run.plan)  # raises for what is not a ladder
    assert pilot is not None
    return stored, read_run(stored.path.parent / pilot)


def _run(plan: Plan, runs: Path, stderr: Console) -> StoredRun:
    with LiveProgress(stderr, plan) as progress:
        return run_comparison(plan, runs, progress.on_progress)
