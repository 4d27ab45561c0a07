"""What an arm is predicted to gain in a job's step: the job's exposed times and a stored benchmark's ratios.

For: step time with the arm / step time now, with the interval of the benchmark's launches. Not for: what an arm can
change at all (worth.py), nor for what only training shows: how the new times overlap.

Of each row of the trace the exposed time is multiplied by the arm's time / the reference's time at the row's size, in
each launch of the benchmark by itself; between two sizes the log ratio is interpolated over the log of the size, below
the smallest and above the largest it stays. So each launch gives one ratio of the step, and the launches an interval.
Two things are taken for granted: exposed time changes as the call's time does, and a call costs in the job what it
costs in the benchmark. The scatter of the job's own steps is not in the interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ringtree.errors import UsageError
from ringtree.joblog.summary import Row, Summary
from ringtree.judge.cells import RunCells, rows_of
from ringtree.judge.comparison import Versus
from ringtree.judge.versus import versus_record
from ringtree.results import StoredRun
from ringtree.stats import judge
from ringtree.units import format_size


@dataclass(frozen=True)
class Gain:
    """What one arm is predicted to do to the step. `covered`: share of the exposed time that the benchmark measured;
    `reference`: the benchmark's arm that the job is taken to run with now."""

    arm: str
    step: Versus
    covered: float
    reference: str


def predict(summary: Summary, stored: StoredRun, reference: str | None = None) -> tuple[list[Gain], list[str]]:
    """Returns the prediction of each arm of the run but the reference, and notes on what it rests on.

    Raises UsageError for a trace without times, and for a run that has nothing to say of it.
    """
    plan = stored.run.plan
    now = reference or plan.reference
    labels = [arm.label for arm in plan.arms]
    if now not in labels:
        raise UsageError(f"the run has no arm {now!r}; it has: {', '.join(labels)}")
    if summary.exposed is None:
        raise UsageError("can't predict a gain: the trace has no exposed times (`ringtree trace` says why)")
    rows = [row for row in summary.rows if _fits(row, stored)]
    exposed = sum(row.exposed or 0.0 for row in rows)
    if not rows or not exposed:
        raise UsageError(
            f"the run measured {plan.collective} on {plan.num_ranks} ranks, for which the trace has no exposed time: "
            "name another run with --from"
        )
    cells = RunCells(stored)
    found: dict[str, dict[int, float]] = {}
    for label in labels:
        if label != now:
            curves = _ratios(cells, label, now)
            if curves:
                found[label] = {block: _step_ratio(summary, rows, curve) for block, curve in curves.items()}
    if not found:
        raise UsageError("no launch of the run timed both an arm and its reference: name another run with --from")
    gains = []
    blocks = sorted({block for by_block in found.values() for block in by_block})
    matrix = np.array([[found[label].get(block, math.nan) for label in found] for block in blocks])
    for label, judged in zip(found, judge(matrix, plan.margin, plan.level), strict=True):
        gains.append(Gain(label, versus_record(judged, judged.num_launches), exposed / summary.exposed, now))
    return gains, _notes(rows, stored, now)


def _fits(row: Row, stored: StoredRun) -> bool:
    plan = stored.run.plan
    return row.kind.collective == plan.collective and row.kind.group_size == plan.num_ranks


def _ratios(cells: RunCells, arm: str, now: str) -> dict[int, dict[int, float]]:
    """Launch -> size -> log(time of the arm / time now), of launches that have any size."""
    curves: dict[int, dict[int, float]] = {}
    for size in cells.plan.sizes:
        shown = next((row for row in rows_of(cells, size.size_bytes) if row.shown), None)
        if shown is not None:
            for block, ratio in cells.effects(size.size_bytes, arm, now, shown.placement).items():
                curves.setdefault(block, {})[size.size_bytes] = ratio
    return curves


def _step_ratio(summary: Summary, rows: Sequence[Row], curve: Mapping[int, float]) -> float:
    """log(step with the arm / step now) by one launch's ratios."""
    sizes = sorted(curve)
    at, ratios = np.log(np.array(sizes, dtype=np.float64)), np.array([curve[size] for size in sizes])
    change = sum(
        (row.exposed or 0.0) * math.expm1(float(np.interp(math.log(max(row.kind.size_bytes, 1)), at, ratios)))
        for row in rows
    )
    assert summary.timed_time is not None, "there are exposed times"
    return math.log1p(change / summary.timed_time)


def _notes(rows: Sequence[Row], stored: StoredRun, now: str) -> list[str]:
    plan = stored.run.plan
    sizes = [size.size_bytes for size in plan.sizes]
    notes = []
    outside = [row.kind.size_bytes for row in rows if not min(sizes) <= row.kind.size_bytes <= max(sizes)]
    if outside:
        notes.append(
            f"{', '.join(format_size(size) for size in sorted(set(outside)))} lies outside the benchmark's sizes: "
            "the nearest size's ratio stands for it"
        )
    if {row.kind.backend for row in rows} != {now.partition(":")[0]}:
        backends = ", ".join(sorted({row.kind.backend for row in rows}))
        notes.append(
            f"the job ran with {backends}, and {now} of the benchmark stands for it (--reference selects another)"
        )
    return notes
