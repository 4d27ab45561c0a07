"""From a stored run to what may be said about it: the shape that `--json` prints and the table draws.

For: joining RESULT records with ringtree.stats. Not for: formulas (ringtree.stats) or text (table.py, words.py).

A cell that was wrong or failed in any launch is disqualified: it has no time here, only the reason.
"""

from __future__ import annotations

from pydantic import Field

from ringtree.lab.prediction import predicted_seconds
from ringtree.results import ArmPlan, Cell, EmulatedCluster, Plan, Record, StoredRun
from ringtree.stats import (
    MedianInterval,
    RatioInterval,
    Verdict,
    algbw,
    busbw,
    launch_median,
    median_interval,
    ratio_to_reference,
)

SUMMARY_FORMAT = "ringtree.comparison/1"


class Interval(Record):
    """Median over launches, seconds a call. `coverage`: what the interval really covers."""

    median: float
    low: float
    high: float
    coverage: float
    num_launches: int
    label: str


class Ratio(Record):
    """Geometric mean over launches of time(arm) / time(reference); below 1 the arm is faster."""

    ratio: float
    low: float | None
    high: float | None
    verdict: Verdict
    label: str


class CellSummary(Record):
    """One arm at one size over all launches. `algbw`, `busbw`: bytes/s at the median."""

    size_bytes: int
    arm: str
    verified: bool
    disqualified: str | None = None
    executed: list[str] = Field(
        default_factory=list,
        description="algorithms that were executed, over all launches; empty if the backend does not tell",
    )
    batch: int
    num_iterations: int
    time: Interval | None = None
    algbw: float | None = None
    busbw: float | None = None
    versus_reference: Ratio | None = None
    predicted: float | None = Field(
        default=None, description="seconds a call by the sliced recurrence; emulated clusters only"
    )


class Comparison(Record):
    """A run as it may be shown."""

    format: str = SUMMARY_FORMAT
    run: str
    run_path: str
    collective: str
    op: str
    dtype: str
    num_ranks: int
    usable_cores: int
    num_launches: int
    seed: int
    arms: list[ArmPlan]
    reference: str
    sizes: list[int]
    left_out: dict[str, str]
    emulated: EmulatedCluster | None
    preset: str | None
    cells: list[CellSummary]
    notes: list[str]

    def cell(self, size_bytes: int, arm: str) -> CellSummary:
        """Returns the cell of `arm` (a label) at `size_bytes`."""
        return next(cell for cell in self.cells if (cell.size_bytes, cell.arm) == (size_bytes, arm))


def summarise(stored: StoredRun) -> Comparison:
    """Returns the comparison of a stored run; launches that are missing simply count less."""
    plan, provenance = stored.run.plan, stored.run.provenance
    sizes = [size.size_bytes for size in plan.sizes]
    cells = []
    for size_bytes in sizes:
        reference = _cells_of(stored, size_bytes, plan.reference)
        for arm in plan.arms:
            own = _cells_of(stored, size_bytes, arm.label)
            if own:
                pair = None if arm.label == plan.reference else reference
                cells.append(_summarise_cell(own, pair, plan))
    num_ratios = sum(cell.versus_reference is not None for cell in cells)
    return Comparison(
        run=stored.run.run_id,
        run_path=str(stored.path),
        collective=plan.collective,
        op=plan.op,
        dtype=plan.dtype,
        num_ranks=plan.num_ranks,
        usable_cores=len(provenance.affinity),
        num_launches=len(stored.launches),
        seed=plan.seed,
        arms=plan.arms,
        reference=plan.reference,
        sizes=sizes,
        left_out=plan.left_out,
        emulated=plan.emulation,
        preset=plan.preset,
        cells=cells,
        notes=[*stored.notes, *_notes(stored, num_ratios)],
    )


def _cells_of(stored: StoredRun, size_bytes: int, arm: str) -> dict[int, Cell]:
    return {
        launch.launch: cell
        for launch in stored.launches
        for cell in launch.cells
        if (cell.size_bytes, cell.arm) == (size_bytes, arm)
    }


def _summarise_cell(own: dict[int, Cell], reference: dict[int, Cell] | None, plan: Plan) -> CellSummary:
    first = next(iter(own.values()))
    why = _why_disqualified(own)
    base = CellSummary(
        size_bytes=first.size_bytes,
        arm=first.arm,
        verified=why is None,
        disqualified=why,
        executed=_executed(own),
        batch=first.batch,
        num_iterations=sum(len(cell.times[0]) for cell in own.values() if cell.times),
    )
    if why is not None:
        return base
    medians = {launch: launch_median(cell.times, cell.batch) for launch, cell in own.items()}
    interval = median_interval(list(medians.values()))
    ratio = None
    if reference and _why_disqualified(reference) is None:
        both = sorted(medians.keys() & reference.keys())
        other = [launch_median(reference[launch].times, reference[launch].batch) for launch in both]
        ratio = ratio_to_reference([medians[launch] for launch in both], other) if both else None
    return base.model_copy(
        update={
            "time": _interval_record(interval),
            "algbw": algbw(first.size_bytes, interval.median),
            "busbw": busbw(plan.collective, first.size_bytes, interval.median, plan.num_ranks),
            "versus_reference": ratio and _ratio_record(ratio),
            "predicted": predicted_seconds(plan, base.executed, first.size_bytes),
        }
    )


def _executed(cells: dict[int, Cell]) -> list[str]:
    told = [cell.executed for cell in cells.values() if cell.executed is not None]
    return sorted({str(executed["algorithm"]) for executed in told if "algorithm" in executed})


def _why_disqualified(cells: dict[int, Cell]) -> str | None:
    for launch, cell in sorted(cells.items()):
        if cell.error is not None:
            return cell.error
        wrong = cell.first_wrong
        if wrong is not None:
            return (
                f"wrong result in launch {launch + 1}: rank {wrong.rank} has {wrong.found:g} instead of "
                f"{wrong.expected:g} at element {wrong.index}"
            )
        if not cell.verified:
            return f"not verified in launch {launch + 1}"
    return None


def _interval_record(interval: MedianInterval) -> Interval:
    return Interval(
        median=interval.median,
        low=interval.low,
        high=interval.high,
        coverage=interval.coverage,
        num_launches=interval.num_launches,
        label=interval.label,
    )


def _ratio_record(ratio: RatioInterval) -> Ratio:
    return Ratio(ratio=ratio.ratio, low=ratio.low, high=ratio.high, verdict=ratio.verdict, label=ratio.label)


def _notes(stored: StoredRun, num_ratios: int) -> list[str]:
    """What a reader must know before believing the figures."""
    plan, cores = stored.run.plan, len(stored.run.provenance.affinity)
    notes = []
    if plan.emulation is not None:
        shape = plan.emulation
        notes.append(
            f"emulated: {shape.hosts} hosts of {shape.ranks_per_host} ranks with {shape.alpha * 1e3:g} ms and "
            f"{shape.beta / 1e6:g} MB/s between hosts; no time here is this machine's own"
        )
    elif plan.num_ranks > cores:
        notes.append(f"{plan.num_ranks} ranks on {cores} cores: these times show the scheduler as well")
    notes += [f"{what} was left out: {reason}" for what, reason in plan.left_out.items()]
    if len(stored.launches) < plan.num_launches:
        notes.append(f"only {len(stored.launches)} of {plan.num_launches} launches are stored")
    if num_ratios > 1:
        notes.append(f"intervals are per cell, not adjusted for looking at {num_ratios} cells")
    return notes
