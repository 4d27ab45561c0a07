"""From a stored run to what may be said about it.

For: joining RESULT records with ringtree.stats into a Comparison. Not for: formulas (ringtree.stats), the record's
shape (comparison.py), findings besides the verdicts (findings.py), or text (words.py, ringtree.show).

A cell that was wrong or failed in any launch is disqualified: it has no time here, only the reason. All comparisons
that are shown (arm × size × placement) are one family: their verdicts together err with probability 1 - level at most.
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree.judge.cells import RunCells, effect_matrix, refuse_training, rows_of
from ringtree.judge.comparison import CellSummary, Comparison, Interval, SizeRow
from ringtree.judge.factors import effects_of
from ringtree.judge.findings import crossovers_of, drifts_of, fastest_of, outliers_of, stragglers_of
from ringtree.judge.notes import caveats_of, notes_of
from ringtree.judge.prediction import predicted_seconds
from ringtree.judge.simulated import simulated_lines
from ringtree.judge.versus import versus_record
from ringtree.judge.words import verdict_lines
from ringtree.measure.budget import MOST_LAUNCHES
from ringtree.measure.limits import time_limit
from ringtree.results import Run, StoredRun
from ringtree.stats import Judged, algbw, busbw, judge, least_launches, median_interval

__all__ = ["Comparison", "launches_that_decide", "summarise"]


def summarise(stored: StoredRun, cells: RunCells | None = None) -> Comparison:
    """Returns the comparison of a stored run; launches that are missing simply count less. Raises UsageError for a
    training, which is summarised elsewhere.

    `cells`: those of the run, from whoever has made them already.
    """
    refuse_training(stored)
    plan, cells = stored.run.plan, cells or RunCells(stored)
    sizes = [size.size_bytes for size in plan.sizes]
    rows = [row for size_bytes in sizes for row in rows_of(cells, size_bytes)]
    shown = [row for row in rows if row.shown]
    verdicts = _judge(cells, shown) if plan.simulation is None else {}
    comparison = Comparison.from_fields_of(
        plan,
        run=stored.run.run_id,
        run_path=str(stored.path),
        usable_cores=len(stored.run.provenance.affinity),
        num_launches=len(cells.blocks),
        num_planned=plan.num_launches,
        sizes=sizes,
        placements=list(cells.placements),
        emulated=plan.emulation,
        simulated=plan.simulation,
        rows=rows,
        cells=[
            _cell(cells, stored.run, row, arm.label, verdicts.get((row.size_bytes, row.placement, arm.label)))
            for row in rows
            for arm in plan.arms
            if cells.seen(row.size_bytes, arm.label)
        ],
        design=plan.design,
        effects=effects_of(cells, shown),
        crossovers=crossovers_of(cells, shown) if plan.simulation is None else [],
        fastest=fastest_of(cells, shown) if plan.simulation is None else [],
        stragglers=stragglers_of(cells) if plan.simulation is None else [],
        outliers=outliers_of(cells, shown),
        drifts=drifts_of(cells, shown),
        caveats=[],
        notes=[],
    )
    return comparison.model_copy(
        update={
            "verdicts": verdict_lines(comparison) if plan.simulation is None else simulated_lines(comparison),
            "caveats": caveats_of(stored, comparison),
            "notes": notes_of(stored, comparison),
        }
    )


def launches_that_decide(comparison: Comparison) -> dict[int, int | None]:
    """Returns for each size about how many launches would decide its comparisons; None: no number that one would run.

    Comparisons that only an unaffordable number would decide do not count, as long as others can be had. Of a design
    the effects of its factors are what is to be decided.
    """
    found: dict[int, int | None] = {}
    for size_bytes in comparison.sizes:
        needs = [
            least_launches(versus.level) if versus.verdict != "inconclusive" else versus.launches_needed
            for cell in comparison.effects or comparison.cells
            if cell.size_bytes == size_bytes and (versus := cell.versus_reference) is not None
        ]
        known = [need for need in needs if need is not None]
        affordable = [need for need in known if need <= MOST_LAUNCHES]
        found[size_bytes] = max(affordable) if affordable else min(known, default=None)
    return found


def _judge(cells: RunCells, rows: Sequence[SizeRow]) -> dict[tuple[int, str, str], Judged]:
    """Judges all comparisons that are shown together; keys are (size, placement, arm)."""
    plan = cells.plan
    effects = {
        (row.size_bytes, row.placement, arm.label): found
        for row in rows
        for arm in plan.arms
        if arm.label != plan.reference
        and (found := cells.effects(row.size_bytes, arm.label, plan.reference, row.placement))
    }
    if not effects:
        return {}
    judged = judge(effect_matrix(list(effects.values())), margin=plan.margin, level=plan.level, seed=plan.seed)
    return dict(zip(effects, judged, strict=True))


def _cell(cells: RunCells, run: Run, row: SizeRow, arm: str, judged: Judged | None) -> CellSummary:
    plan, size_bytes = run.plan, row.size_bytes
    seen = cells.seen(size_bytes, arm)
    why = cells.why_disqualified(size_bytes, arm)
    pooled = cells.pooled(size_bytes, arm, row.placement)
    told = [one.cell.executed for one in seen.values() if one.cell.executed is not None]
    base = CellSummary(
        size_bytes=size_bytes,
        placement=row.placement,
        arm=arm,
        verified=why is None,
        disqualified=why,
        # NCCL's symmetric kernels follow no algorithm by name, and old releases tell none.
        executed=sorted({str(name) for one in told if (name := one.get("algorithm") or one.get("kernel"))}),
        batch=next(iter(seen.values())).cell.batch,
        num_iterations=sum(len(of_block) for of_block in pooled.values()),
    )
    if why is not None or not pooled:
        return base
    interval = median_interval(list(cells.medians(size_bytes, arm, row.placement).values()), plan.level)
    limit = None
    if run.limits is not None and plan.emulation is None:
        limit = time_limit(run.limits, plan.collective, plan.num_ranks, size_bytes)
    return base.model_copy(
        update={
            "time": Interval.from_fields_of(interval),
            "algbw": algbw(size_bytes, interval.median),
            "busbw": busbw(plan.collective, size_bytes, interval.median, plan.num_ranks),
            "limit": limit,
            "share_of_limit": None if limit is None else limit / interval.median,
            "versus_reference": judged and versus_record(judged, len(seen)),
            "predicted": predicted_seconds(plan, base.executed, size_bytes),
        }
    )
