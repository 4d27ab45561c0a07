"""A predicted step held against one that was measured: a run of `ringtree train`.

For: whether the prediction (gain.py) lies inside of the training's interval, and what tells why not. Not for: verdicts
of either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ringtree.errors import UsageError
from ringtree.joblog.gain import Gain
from ringtree.joblog.summary import Summary
from ringtree.judge.training_records import TrainingCellSummary, TrainingSummary
from ringtree.units import format_change, format_change_range, format_share, format_size

SAME_JOB = 0.05  # of a step's bytes: a job's own all-reduce of a loss, or a mean over steps, is less
OWN = "ringtree:"  # before the engine's algorithms in a training's arms; compare's names have nothing there


def against_training(gains: Sequence[Gain], summary: Summary, training: TrainingSummary) -> list[str]:
    """Returns a line for each predicted arm that the training has on the trace's number of ranks, and lines on why they
    may differ. Raises UsageError if it has none of them, or compares with another arm than the prediction does."""
    now = gains[0].reference
    if training.reference not in _in_trainings(now):
        raise UsageError(
            f"the prediction uses {now} as its reference, {training.run} uses {training.reference}: add --reference "
            f"{training.reference.removeprefix(OWN)}, or name a training run whose reference is {now}"
        )
    lines = []
    for gain in gains:
        for cell in training.cells:
            if cell.num_ranks == summary.num_ranks and cell.arm in _in_trainings(gain.arm) and cell.versus_reference:
                lines += _held(gain, summary, training, cell)
    if not lines:
        arms = ", ".join(gain.arm for gain in gains)
        raise UsageError(f"{training.run} has no comparison of {arms} on {summary.num_ranks} ranks to compare with")
    return [*_of_other_jobs(summary, training), *lines]


def _of_other_jobs(summary: Summary, training: TrainingSummary) -> list[str]:
    """A line for each model whose step sends something else than the traced one: a prediction for one job is not held
    against another. Where a training's bytes are not known (a script's) nothing is said."""
    traced = Counter[str]()
    for row in summary.rows:
        if row.kind.collective != "barrier":
            traced[row.kind.collective] += round(row.bytes)
    lines = []
    for cell in training.cells:
        if (cell.num_ranks, cell.arm) != (summary.num_ranks, training.reference) or not cell.collectives:
            continue
        trained = Counter({one.collective: one.size_bytes for one in cell.collectives if one.collective != "barrier"})
        most = max(traced.total(), trained.total())
        if any(abs(traced[name] - trained[name]) > SAME_JOB * most for name in traced | trained):
            lines.append(
                f"note: a step of the trace sends {_sent(traced)}, a step of {cell.model} in {training.run} "
                f"{_sent(trained)}: they are different jobs, so the prediction may not hold"
            )
    return lines


def _sent(sizes: Counter[str]) -> str:
    told = [f"{format_size(size)} of {name}" for name, size in sorted(sizes.items()) if size]
    return ", ".join(told) or "nothing"


def _in_trainings(arm: str) -> tuple[str, ...]:
    """Returns what a benchmark's arm may be called in a training."""
    return arm, OWN + arm


def _held(gain: Gain, summary: Summary, training: TrainingSummary, cell: TrainingCellSummary) -> list[str]:
    versus = cell.versus_reference
    assert versus is not None, "it was chosen by that"
    where = f"{cell.arm} vs {training.reference}, {cell.model}"
    said = f"{where}: predicted step {format_change(gain.step.ratio)}, measured {format_change(versus.ratio)}"
    if versus.low is None or versus.high is None:
        return [f"{said}: one launch has no interval to compare it with"]
    span = f"({format_change_range(versus.low, versus.high)})"
    if versus.low <= gain.step.ratio <= versus.high:
        return [f"{said} {span}: inside"]
    overlap = gain.step.low is not None and gain.step.high is not None
    overlap = overlap and gain.step.low <= versus.high and versus.low <= gain.step.high  # type: ignore[operator]
    return [
        f"{said} {span}: outside" + (", the two intervals overlap" if overlap else ""),
        *_why(gain, summary, training, cell),
    ]


def _why(gain: Gain, summary: Summary, training: TrainingSummary, cell: TrainingCellSummary) -> list[str]:
    """What the two are known to differ in."""
    lines = []
    base = training.find(cell.model, cell.num_ranks, training.reference)
    if summary.share is not None and base is not None and base.exposed is not None and base.step is not None:
        share = base.exposed.median / base.step.median
        lines.append(
            f"  exposed: {format_share(summary.share)} of the step in the trace, {format_share(max(0.0, share))} in "
            "the training, each by its own definition: the prediction scales the first"
        )
    versus = cell.versus_reference
    if versus is not None and versus.low is not None and gain.step.ratio < versus.low:
        lines.append(
            "  the prediction counts all exposed time as the collectives' own: it includes waiting for a slower rank, "
            "or for a core, which no arm shortens (`ringtree replay` measures what is left)"
        )
    if gain.covered < 0.995:
        lines.append(
            f"  the benchmark measured {format_share(gain.covered)} of the exposed time; the rest counts as unchanged"
        )
    return lines
