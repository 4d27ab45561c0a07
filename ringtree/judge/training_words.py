"""A training's verdicts in plain words, and what qualifies them.

For: sentences that say no more than the family's tests support. Not for: statistics, or layout.
"""

from __future__ import annotations

from ringtree.judge.comparison import Versus
from ringtree.judge.shared_gpus import shared_gpus
from ringtree.judge.training_records import TrainingCellSummary, TrainingSummary
from ringtree.measure.plan import planned_launches
from ringtree.results import NOT_KNOWN, StoredRun
from ringtree.units import count, format_change, format_change_range, format_duration, format_margin


def training_verdicts(summary: TrainingSummary) -> list[str]:
    """Returns a line for each cell beside the reference, and for each that is disqualified."""
    if not summary.num_launches:
        return ["no launch is stored: no verdict"]
    lines = []
    for cell in summary.cells:
        where = f"{cell.model}, {count(cell.num_ranks, 'rank')}"
        if cell.disqualified is not None:
            lines.append(f"{where}: {cell.arm} is disqualified: {cell.disqualified}")
        elif cell.versus_reference is not None:
            lines.append(f"{where}: {_verdict(cell, cell.versus_reference, summary)}")
    return lines


def worth(versus: Versus, reference_step: float, steps: int) -> tuple[float, float | None, float | None]:
    """Returns seconds saved over so many steps, with its interval; below 0: lost."""
    total = steps * reference_step
    return (
        total * (1 - versus.ratio),
        None if versus.high is None else total * (1 - versus.high),
        None if versus.low is None else total * (1 - versus.low),
    )


def worth_line(summary: TrainingSummary, cell: TrainingCellSummary, steps: int) -> str | None:
    """Returns what an arm is worth over a training of so many steps; None where there is nothing to say."""
    versus = cell.versus_reference
    base = summary.find(cell.model, cell.num_ranks, summary.reference)
    if versus is None or base is None or base.step is None:
        return None
    saved, low, high = worth(versus, base.step.median, steps)
    where = f"{cell.model}, {count(cell.num_ranks, 'rank')}: {cell.arm}"
    span = "" if low is None or high is None else f" ({_signed(low)} to {_signed(high)})"
    price = summary.training.price
    money = "" if price is None else f", {saved / 3600 * cell.num_ranks * price:+.2f} in money"
    shown = "" if versus.verdict in ("faster", "slower") else "; not shown to differ"
    return f"{where} saves {_signed(saved)}{span} over {steps:,} steps{money}{shown}"


def training_caveats(stored: StoredRun) -> list[str]:
    """Returns what makes every figure of the run mean less, or something else, than it seems to."""
    plan, cores = stored.run.plan, len(stored.run.provenance.affinity)
    caveats = [*stored.notes, *(f"{what} was left out: {reason}" for what, reason in plan.left_out.items())]
    if plan.purpose == "pilot":
        caveats.append("a pilot run: it plans the launches of a sweep; do not use it as evidence")
    if plan.boundary == "torch" and plan.hosts is None and plan.num_ranks > cores:
        caveats.append(f"{plan.num_ranks} ranks on {count(cores, 'core')}: timings include OS scheduling")
    caveats += shared_gpus(plan, stored.run.provenance)
    unproven = [arm.label for arm in plan.arms if _is_unproven(stored, arm.label)]
    if unproven:
        caveats.append(
            f"{', '.join(unproven)}: it is not known whether the script used this backend, as no process group of "
            "PyTorch's was seen; a script that ignores RINGTREE_TRAIN_BACKEND compares a backend with itself"
        )
    load = stored.run.provenance.load_average[:1]
    if load and load[0] > cores / 2:
        caveats.append(f"the machine was busy: load {load[0]:.1f} on {count(cores, 'core')} when it started")
    planned = len(planned_launches(plan))
    if len(stored.launches) < planned:
        caveats.append(
            f"only {len(stored.launches)} of {count(planned, 'launch')} are stored; to run the rest: "
            f"ringtree train --resume {stored.run.run_id}"
        )
    return caveats


def _is_unproven(stored: StoredRun, arm: str) -> bool:
    """Whether a launch of an arm did not tell which backend a script used, as ringtree.train.proof has it."""
    cells = (cell for launch in stored.launches for cell in launch.cells if cell.arm == arm)
    return any((cell.executed or {}).get("backend") == NOT_KNOWN for cell in cells)


def training_notes(summary: TrainingSummary) -> list[str]:
    """Returns how the verdicts came about, and what the columns are."""
    compared = [cell.versus_reference for cell in summary.cells if cell.versus_reference is not None]
    notes = []
    if compared:
        error = 100 * (1 - summary.level)
        family = f"all {len(compared)} comparisons together" if len(compared) > 1 else "one comparison"
        notes.append(
            f"verdicts: sign-flip max-T of whole launches over {family}: at most "
            f"{error:.2g} % of runs report a false difference; margin {format_margin(summary.margin)}; smallest "
            f"attainable p {2.0 ** (1 - max(versus.num_launches for versus in compared)):.2g}"
        )
    if summary.training.alone is not None:
        notes.append(
            "exposed: how much longer a step takes than the same step, in the same round, without communication; the "
            "parts of a step are means, and add up to the mean step"
        )
        notes.append(_how_divided(summary))
    if compared:
        notes.append(
            "Δ: the median over launches of the two arms' ratio in the same launch; it need not equal the ratio of the "
            "medians beside it, which also contain differences between launches"
        )
    if any(versus.verdict == "inconclusive" for versus in compared):
        notes.append("to use more launches, start a new run: adding launches after looking raises the error rate")
    return notes


def _how_divided(summary: TrainingSummary) -> str:
    """What tells imbalance from exposed communication."""
    if any(cell.parts is not None and cell.parts.recorded for cell in summary.cells):
        return (
            "imbalance and exposed time by collective: what a step takes beyond computing, divided like the idle time "
            "of an untimed step that each launch records (waiting for the slowest rank, waiting for communication)"
        )
    return (
        "no step was recorded (GPUs, whose collectives the host can't time, or no compiler): imbalance is that of the "
        "step without communication, the same for all arms, and exposed time is not divided by collective"
    )


def _verdict(cell: TrainingCellSummary, versus: Versus, summary: TrainingSummary) -> str:
    """Of tokens/s: a step that takes half the time does twice as many."""
    against = f"{cell.arm} vs {summary.reference}"
    change = format_change(1 / versus.ratio)
    span = ""
    if versus.low is not None and versus.high is not None:
        span = f" ({format_change_range(1 / versus.high, 1 / versus.low)})"
    if versus.verdict in ("faster", "slower"):
        return f"{against}: {versus.verdict}, {change} tokens/s{span}"
    if versus.verdict == "equivalent":
        return f"{against}: equivalent within ±{format_margin(summary.margin)}{span}"
    needed = {"out of reach": " (more than 1,000 needed)", "estimated": f" (about {versus.launches_needed} needed)"}
    after = f"inconclusive after {count(versus.num_launches, 'launch')}{needed.get(versus.outlook, '')}"
    return f"{against}: {after}: {change}{span}"


def _signed(seconds: float) -> str:
    return f"{'-' if seconds < 0 else ''}{format_duration(abs(seconds))}"
