"""From a stored training to what may be said about it.

For: figures of each arm, model and number of ranks, and verdicts over all of them as one family. Not for: formulas
(ringtree.stats), the record's shape (training_records.py), text (training_words.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from ringtree.judge.cells import ONE_CLASS, RunCells, effect_matrix
from ringtree.judge.comparison import Interval
from ringtree.judge.training_records import StepParts, TrainingCellSummary, TrainingSummary
from ringtree.judge.training_timeline import Division, divided, timeline
from ringtree.judge.training_views import WorkloadRun, workload_runs
from ringtree.judge.training_words import training_caveats, training_notes, training_verdicts
from ringtree.judge.versus import versus_record
from ringtree.results import Cell, RecordedStep, StoredRun
from ringtree.stats import judge, median_interval


def summarise_training(stored: StoredRun) -> TrainingSummary:
    """Returns what a training's run says; launches that are missing simply count less."""
    plan, runs = stored.run.plan, workload_runs(stored)
    training = plan.training
    assert training is not None
    arms = [arm for arm in plan.arms if arm.label != training.alone]
    of_runs = [(run, RunCells(run.stored)) for run in runs]
    effects = {
        (run.model.name, run.num_ranks, arm.label): found
        for run, cells in of_runs
        for arm in arms
        if arm.label != plan.reference
        and (found := cells.effects(run.size_bytes, arm.label, plan.reference, ONE_CLASS))
    }
    judged = {}
    if effects:
        verdicts = judge(effect_matrix(list(effects.values())), plan.margin, plan.level, plan.seed)
        judged = {key: versus_record(one, len(effects[key])) for key, one in zip(effects, verdicts, strict=True)}
    summaries = [
        _cell(run, cells, arm.label).model_copy(
            update={"versus_reference": judged.get((run.model.name, run.num_ranks, arm.label))}
        )
        for run, cells in of_runs
        for arm in arms
        if cells.seen(run.size_bytes, arm.label)
    ]
    summary = TrainingSummary.from_fields_of(
        plan,
        run=stored.run.run_id,
        run_path=str(stored.path),
        training=training,
        arms=arms,
        num_launches=len({launch.block for launch in stored.launches}),
        num_planned=plan.num_launches,
        cells=_with_efficiency(summaries),
        verdicts=[],
        caveats=training_caveats(stored),
        notes=[],
    )
    return summary.model_copy(update={"verdicts": training_verdicts(summary), "notes": training_notes(summary)})


def _cell(run: WorkloadRun, cells: RunCells, arm: str) -> TrainingCellSummary:
    plan, size = run.stored.run.plan, run.size_bytes
    training = plan.training
    assert training is not None
    base = TrainingCellSummary(
        model=run.model.name, num_ranks=run.num_ranks, arm=arm, disqualified=cells.why_disqualified(size, arm)
    )
    medians = cells.medians(size, arm, ONE_CLASS)
    if base.disqualified is not None or not medians:
        return base
    step = median_interval(list(medians.values()), plan.level)
    own, both = cells.seen(size, arm), _with_alone(run, cells, arm)
    exposed = [exposed_seconds(*pair) for pair in both.values()]
    recorded = recorded_steps([one.cell for one in own.values()])
    told = [one.cell.trained.collectives for one in own.values() if one.cell.trained]
    peaks = [peak for one in own.values() if one.cell.trained for peak in one.cell.trained.peak_bytes if peak]
    # A script tells tokens/s itself, and one "token" is then what it counts.
    rate = training.tokens_per_step * run.num_ranks / step.median
    return base.model_copy(
        update={
            "num_launches": len(medians),
            "step": Interval.from_fields_of(step),
            "tokens_per_second": rate,
            "tokens_per_second_a_rank": rate / run.num_ranks,
            "exposed": Interval.from_fields_of(median_interval(exposed, plan.level)) if exposed else None,
            "parts": step_parts(list(both.values())) if both else None,
            "timeline": timeline(recorded) if recorded else None,
            "collectives": next(filter(None, told), []),
            "peak_bytes": max(peaks, default=None),
        }
    )


def exposed_by_block(run: WorkloadRun, arm: str) -> dict[int, float]:
    """Returns block -> seconds of exposed communication of an arm; nothing for a script."""
    return {block: exposed_seconds(*pair) for block, pair in _with_alone(run, RunCells(run.stored), arm).items()}


def exposed_seconds(cell: Cell, alone: Cell) -> float:
    """Returns what a launch's steps take longer than those without communication: the median over rounds of the
    differences of the rounds' medians, as both are visited in every round; the slowest rank's times."""
    rounds = [[float(np.median(list(of_visit))) for of_visit in _by_visit(one)] for one in (cell, alone)]
    return float(np.median([ours - without for ours, without in zip(*rounds, strict=False)]))


def _with_alone(run: WorkloadRun, cells: RunCells, arm: str) -> dict[int, tuple[Cell, Cell]]:
    """Block -> the arm's cell and the one without communication, where there are both."""
    training = run.stored.run.plan.training
    assert training is not None
    own, alone = cells.seen(run.size_bytes, arm), cells.seen(run.size_bytes, training.alone or "")
    return {
        block: (own[block].cell, alone[block].cell)
        for block in own
        if block in alone and alone[block].cell.error is None
    }


def recorded_steps(cells: Sequence[Cell]) -> list[list[RecordedStep]]:
    """Returns the recorded steps of each cell of which all ranks have one."""
    found = []
    for cell in cells:
        of_ranks = [one for one in (cell.trained.recorded if cell.trained else []) if one is not None]
        if of_ranks and len(of_ranks) == len(cell.times):
            found.append(of_ranks)
    return found


def step_parts(pairs: Sequence[tuple[Cell, Cell]]) -> StepParts:
    """Returns the parts of a mean step; of cells with the same one without communication, launch by launch."""
    steps, inputs, computing, slowest = [], [], [], []
    for cell, alone in pairs:
        times = np.asarray(alone.times)
        steps.append(float(np.max(cell.times, axis=0).mean()))
        slowest.append(float(times.max(axis=0).mean()))
        computing.append(float(times.mean()))
        told = alone.trained.input_seconds if alone.trained else []
        inputs.append(float(np.mean(told)) if told else 0.0)
    step, alone_mean, slowest_mean, fetching = (float(np.mean(each)) for each in (steps, computing, slowest, inputs))
    parts = StepParts(
        step=step,
        input=fetching,
        compute=alone_mean - fetching,
        imbalance=slowest_mean - alone_mean,
        exposed=step - slowest_mean,
    )
    recorded = recorded_steps([cell for cell, _ in pairs])
    return _as_recorded(parts, divided(recorded)) if recorded else parts


def _as_recorded(parts: StepParts, found: Division) -> StepParts:
    """A recorded step is not timed, and one of a launch: what it tells is how the idle time of the others is shared."""
    idle, total = parts.imbalance + parts.exposed, found.total or 1.0
    imbalance = idle * found.waiting / total
    by_collective = {name: idle * seconds / total for name, seconds in found.exposed.items()}
    update = {"imbalance": imbalance, "exposed": idle - imbalance, "recorded": True, "by_collective": by_collective}
    return parts.model_copy(update=update)


def _by_visit(cell: Cell) -> list[list[float]]:
    slowest = iter(np.max(cell.times, axis=0).tolist())
    return [[next(slowest) for _ in range(visit.num_iterations)] for visit in cell.visits]


def _with_efficiency(cells: Sequence[TrainingCellSummary]) -> list[TrainingCellSummary]:
    """Each held against the arm's own on the smallest number of ranks, which has 1."""
    found = []
    by_model = groupby(cells, key=lambda cell: cell.model)
    for _, of_model in by_model:
        smallest: dict[str, float] = {}
        for cell in of_model:  # numbers of ranks ascend
            rate = cell.tokens_per_second_a_rank
            if rate is not None:
                base = smallest.setdefault(cell.arm, rate)
                cell = cell.model_copy(update={"efficiency": rate / base})
            found.append(cell)
    return found
