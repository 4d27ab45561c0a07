"""From a stored run to what may be said about it: the shape that `--json` prints and the table draws.

For: joining RESULT records with ringtree.stats. Not for: formulas (ringtree.stats) or text (table.py, words.py).

A cell that was wrong or failed in any launch is disqualified: it has no time here, only the reason.
"""

from __future__ import annotations

from pydantic import Field

from ringtree.lab.notes import caveats_of, notes_of
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
    """Geometric mean over launches of time(arm) / time(reference); below 1 the arm is faster.

    `low`, `high`: the interval that `label` names, this ratio's own. The verdict rests on `adjusted_low` and
    `adjusted_high`, which hold for all `num_ratios` ratios of the run together, and on `margin`.
    """

    ratio: float
    low: float | None
    high: float | None
    adjusted_low: float | None
    adjusted_high: float | None
    num_ratios: int
    margin: float
    num_launches: int
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
    caveats: list[str] = Field(description="what qualifies every figure, to be read before them")
    notes: list[str]

    def cell(self, size_bytes: int, arm: str) -> CellSummary:
        """Returns the cell of `arm` (a label) at `size_bytes`."""
        return next(cell for cell in self.cells if (cell.size_bytes, cell.arm) == (size_bytes, arm))


def summarise(stored: StoredRun) -> Comparison:
    """Returns the comparison of a stored run; launches that are missing simply count less."""
    plan, provenance = stored.run.plan, stored.run.provenance
    sizes = [size.size_bytes for size in plan.sizes]
    found = []
    for size_bytes in sizes:
        reference = _cells_of(stored, size_bytes, plan.reference)
        for arm in plan.arms:
            own = _cells_of(stored, size_bytes, arm.label)
            if own:
                found.append((own, _paired(own, {} if arm.label == plan.reference else reference)))
    # How wide an adjusted interval is depends on the number of ratios, so they are counted before any is taken.
    num_ratios = sum(bool(launches) for _, (launches, _) in found)
    cells = [_summarise_cell(own, pair, plan, num_ratios) for own, pair in found]
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
        caveats=caveats_of(stored),
        notes=notes_of(stored, num_ratios, any(map(_is_judged, cells))),
    )


def _cells_of(stored: StoredRun, size_bytes: int, arm: str) -> dict[int, Cell]:
    return {
        launch.launch: cell
        for launch in stored.launches
        for cell in launch.cells
        if (cell.size_bytes, cell.arm) == (size_bytes, arm)
    }


def _paired(own: dict[int, Cell], reference: dict[int, Cell]) -> tuple[list[float], list[float]]:
    """Launch medians in seconds of an arm and of the reference, in the launches that have both; maybe none."""
    if _why_disqualified(own) is not None or _why_disqualified(reference) is not None:
        return [], []
    both = sorted(own.keys() & reference.keys())
    first, second = ([launch_median(cells[i].times, cells[i].batch) for i in both] for cells in (own, reference))
    return first, second


def _summarise_cell(
    own: dict[int, Cell], pair: tuple[list[float], list[float]], plan: Plan, num_ratios: int
) -> CellSummary:
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
    interval = median_interval([launch_median(cell.times, cell.batch) for cell in own.values()])
    ratio = ratio_to_reference(*pair, num_ratios=num_ratios) if pair[0] else None
    return base.model_copy(
        update={
            "time": _interval_record(interval),
            "algbw": algbw(first.size_bytes, interval.median),
            "busbw": busbw(plan.collective, first.size_bytes, interval.median, plan.num_ranks),
            "versus_reference": ratio and _ratio_record(ratio),
            "predicted": predicted_seconds(plan, base.executed, first.size_bytes),
        }
    )


def _is_judged(cell: CellSummary) -> bool:
    return cell.versus_reference is not None and cell.versus_reference.verdict != "too few launches"


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
    return Ratio(
        ratio=ratio.ratio,
        low=ratio.low,
        high=ratio.high,
        adjusted_low=ratio.adjusted_low,
        adjusted_high=ratio.adjusted_high,
        num_ratios=ratio.num_ratios,
        margin=ratio.margin,
        num_launches=ratio.num_launches,
        verdict=ratio.verdict,
        label=ratio.label,
    )
