"""What else a run shows besides its verdicts: crossovers, the fastest arms, stragglers, outliers, drift.

For: choosing the samples for each of these and keeping what was found. Not for: the statistics (ringtree.stats), or the
sentences about them (words.py, notes.py).

Nothing here removes a sample. Each finding is judged on its own, apart from the verdicts' family: how often each may
err is said in its function.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ringtree.arms import kind_of
from ringtree.judge.cells import RunCells, effect_matrix
from ringtree.judge.comparison import Crossover, Drift, Fastest, Outlier, SizeRow, Straggler
from ringtree.results import Plan
from ringtree.stats import drift, find_crossovers, judge, median_interval, outliers, samples, stragglers

MOST_RIVALS = 4  # of one kind, whose pairs are looked at for crossovers


def crossovers_of(cells: RunCells, rows: Sequence[SizeRow]) -> list[Crossover]:
    """Returns where arms change places: each with the reference, and the first few rivals with each other.

    The error is 1 - level for each pair and placement, not for all of them together.
    """
    found = []
    for first, second in _pairs(cells):
        for placement in dict.fromkeys(row.placement for row in rows if row.judged):
            finding = _crossover(cells, first, second, [row for row in rows if row.placement == placement])
            if finding is not None:
                found.append(finding)
    return found


def fastest_of(cells: RunCells, rows: Sequence[SizeRow]) -> list[Fastest]:
    """Returns the arms of each judged row that no other arm was shown to beat; nothing for fewer than three arms.

    All pairs of arms in all rows are one family, apart from that of the verdicts: the chance that any arm is left out
    that should stand there is 1 - level at most.
    """
    labels = [arm.label for arm in cells.plan.arms]
    if len(labels) < 3:
        return []
    judged_rows = [row for row in rows if row.judged]
    effects = {
        (row.size_bytes, row.placement, first, second): found
        for row in judged_rows
        for first, second in combinations(labels, 2)
        if (found := cells.effects(row.size_bytes, first, second, row.placement))
    }
    if not effects:
        return []
    plan = cells.plan
    verdicts = judge(effect_matrix(list(effects.values())), margin=plan.margin, level=plan.level, seed=plan.seed)
    beaten = set()
    for (size_bytes, placement, first, second), judged in zip(effects, verdicts, strict=True):
        if judged.verdict in ("faster", "slower"):
            beaten.add((size_bytes, placement, second if judged.verdict == "faster" else first))
    fastest = []
    for row in judged_rows:
        timed = [label for label in labels if _is_timed(cells, row, label)]
        front = [label for label in timed if (row.size_bytes, row.placement, label) not in beaten]
        if len(timed) > 1:
            fastest.append(Fastest(size_bytes=row.size_bytes, placement=row.placement, arms=front))
    return fastest


def stragglers_of(cells: RunCells) -> list[Straggler]:
    """Returns the ranks that are slow with an arm; 5 % error for all ranks of an arm together.

    Iterations of all sizes count alike: each is divided by the median of its ranks first.
    """
    found = []
    for arm in cells.plan.arms:
        launches = _relative_times(cells, arm.label)
        if cells.plan.num_ranks < 2 or not launches:
            continue
        found += [
            Straggler(
                arm=arm.label,
                rank=one.rank,
                share_slowest=one.share,
                excess=math.expm1(one.excess),
                p=one.p,
            )
            for one in stragglers(launches)
            if one.flagged
        ]
    return found


def outliers_of(cells: RunCells, rows: Sequence[SizeRow]) -> list[Outlier]:
    """Returns the launches whose median of a cell lies beyond Tukey's outer fences; they stay in every figure."""
    found = []
    for row in rows:
        for arm in cells.plan.arms:
            if not _is_timed(cells, row, arm.label):
                continue
            medians = cells.medians(row.size_bytes, arm.label, row.placement)
            blocks, values = list(medians), list(medians.values())
            middle = median_interval(values).median
            found += [
                Outlier(
                    arm=arm.label,
                    size_bytes=row.size_bytes,
                    placement=row.placement,
                    launch=cells.seen(row.size_bytes, arm.label)[blocks[index]].launch,
                    ratio=values[index] / middle,
                )
                for index in outliers(values)
            ]
    return found


def drifts_of(cells: RunCells, rows: Sequence[SizeRow]) -> list[Drift]:
    """Returns the arms whose times moved in one direction over the run; an arm errs with 1 %.

    A launch's value is the mean over cells of how far its median lies from that cell's middle, on a log scale, so that
    launches which lack some sizes can be held against the others.
    """
    found = []
    for arm in cells.plan.arms:
        centred: dict[int, list[float]] = {}
        for row in rows:
            if not _is_timed(cells, row, arm.label):
                continue
            medians = cells.medians(row.size_bytes, arm.label, row.placement)
            middle = float(np.median(np.log(list(medians.values()))))
            for block, median in medians.items():
                centred.setdefault(block, []).append(math.log(median) - middle)
        values = [math.exp(float(np.mean(centred[block]))) for block in sorted(centred)]
        if len(values) < 2:
            continue
        over_run = drift(values)
        if over_run.flagged:
            found.append(Drift(arm=arm.label, change=over_run.change - 1, p=over_run.p))
    return found


def rivals_of(plan: Plan) -> list[list[str]]:
    """Returns the labels of the arms that are choices of one library, as the engine's algorithms are, by kind."""
    rivals: dict[str, list[str]] = {}
    for arm in plan.arms:
        kind = kind_of(arm)
        if kind is not None and kind.rivals:
            rivals.setdefault(kind.name, []).append(arm.label)
    return list(rivals.values())


def _pairs(cells: RunCells) -> list[tuple[str, str]]:
    reference = cells.plan.reference
    with_reference = [(arm.label, reference) for arm in cells.plan.arms if arm.label != reference]
    pairs = [pair for rivals in rivals_of(cells.plan) for pair in combinations(rivals[:MOST_RIVALS], 2)]
    return [*with_reference, *(pair for pair in pairs if reference not in pair)]


def _crossover(cells: RunCells, first: str, second: str, rows: Sequence[SizeRow]) -> Crossover | None:
    """The finding over the sizes at which both arms are paired often enough; None for fewer than two sizes."""
    plan = cells.plan
    of_sizes = {
        row.size_bytes: found
        for row in rows
        if row.judged and (found := cells.effects(row.size_bytes, first, second, row.placement))
    }
    if len(of_sizes) < 2:
        return None
    sizes, placement = list(of_sizes), rows[0].placement
    times = [median_interval(list(cells.medians(size, second, placement).values())).median for size in sizes]
    finding = find_crossovers(sizes, effect_matrix(list(of_sizes.values())), times, level=plan.level, seed=plan.seed)
    return Crossover(
        first=first,
        second=second,
        placement=placement,
        kind=finding.kind,
        sizes=sizes,
        faster_below=None if finding.faster_below is None else {"A": first, "B": second}[finding.faster_below],
        estimate=finding.estimate,
        low=finding.low,
        high=finding.high,
        low_open=finding.low_open,
        high_open=finding.high_open,
        first_faster_at=list(finding.a_faster_at),
        second_faster_at=list(finding.b_faster_at),
        open_at=list(finding.open_at),
        label=finding.label,
    )


def _relative_times(cells: RunCells, arm: str) -> list[NDArray[np.float64]]:
    """Times of shape (ranks, iterations) for each block, every iteration divided by the median of its ranks."""
    launches: dict[int, list[NDArray[np.float64]]] = {}
    for size in cells.plan.sizes:
        if cells.why_disqualified(size.size_bytes, arm) is not None:
            continue
        for block, seen in cells.seen(size.size_bytes, arm).items():
            if seen.visits:
                samples(seen.cell.times, seen.cell.batch)  # refuses what is not a time
                times = np.asarray(seen.cell.times, dtype=np.float64)
                launches.setdefault(block, []).append(times / np.median(times, axis=0))
    return [np.concatenate(launches[block], axis=1) for block in sorted(launches)]


def _is_timed(cells: RunCells, row: SizeRow, arm: str) -> bool:
    return cells.why_disqualified(row.size_bytes, arm) is None and bool(
        cells.medians(row.size_bytes, arm, row.placement)
    )
