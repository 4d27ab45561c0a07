"""Which differences between runs are shown, and which are one run against one run.

For: ratios, intervals and verdicts of runs that share nothing. Not for: formulas (ringtree.stats.regression).

Launches of different runs are not paired: whole launches are exchanged between the two, in all sizes of a series at
once, in either direction; each direction has half of the error. Below four launches a side nothing can be shown, and
with one launch a side nothing can be said about what another one would give, however many iterations it had.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ringtree.errors import UsageError
from ringtree.judge.runs.launches import judge_launches, matrix_of
from ringtree.judge.runs.runs_comparison import ComparedCell, ComparedSeries, Crossing, RunsComparison
from ringtree.judge.runs.series import Series, SeriesCell, pairs
from ringtree.judge.runs.sources import Contender
from ringtree.stats import median_interval

SINGLE = "single run: nothing can be claimed"


def compare(contenders: Sequence[Contender], *, margin: float = 0.02, level: float = 0.95) -> RunsComparison:
    """Returns each contender held against the first one. Raises UsageError if nothing of them is comparable."""
    first, *others = contenders
    found: list[ComparedSeries] = []
    left: list[str] = []
    for other in others:
        matched = list(pairs(first.series, other.series))
        for mine, theirs in matched:
            one = _compare_series(first.name, other.name, mine, theirs, margin, level)
            if one.cells:
                found.append(one)
            else:
                left.append(f"{_what(mine)}: {first.name} and {other.name} have no size in common")
        for name, side, index in ((first.name, first.series, 0), (other.name, other.series, 1)):
            used = {id(pair[index]) for pair in matched}
            left.extend(f"{_what(one)}: only in {name}" for one in side if id(one) not in used)
    if not found:
        raise UsageError("these runs have nothing in common that could be compared: " + "; ".join(dict.fromkeys(left)))
    return RunsComparison(
        margin=margin,
        level=level,
        series=found,
        not_compared=list(dict.fromkeys(left)),
        notes=[f"{one.name}: {note}" for one in contenders for note in one.notes],
        regressed=any(cell.verdict == "slower" for one in found for cell in one.cells),
    )


def _compare_series(
    first: str, second: str, mine: Series, theirs: Series, margin: float, level: float
) -> ComparedSeries:
    sizes = sorted(mine.cells.keys() & theirs.cells.keys())
    right = [size for size in sizes if _why_wrong(mine.cells[size], theirs.cells[size], first, second) is None]
    judged = [size for size in right if min(len(one.cells[size].launches) for one in (mine, theirs)) > 1]
    cells = {size: _single(size, mine.cells[size], theirs.cells[size], level) for size in right if size not in judged}
    cells.update(_judged(judged, mine, theirs, margin, level))
    for size in sizes:
        why = _why_wrong(mine.cells[size], theirs.cells[size], first, second)
        if why is not None and mine.cells[size].launches and theirs.cells[size].launches:
            cells[size] = _single(size, mine.cells[size], theirs.cells[size], level).model_copy(
                update={"verdict": "wrong", "because": why}
            )
    ordered = [cells[size] for size in sorted(cells)]
    return ComparedSeries(
        collective=mine.key.collective,
        num_ranks=mine.key.num_ranks,
        dtype=mine.key.dtype,
        op=mine.key.op,
        place=mine.key.place,
        baseline=first,
        other=second,
        label_baseline=mine.label,
        label_other=theirs.label,
        cells=ordered,
        crossovers=_crossings(ordered, first, second),
        differing={
            name: (mine.facts.get(name, ""), theirs.facts.get(name, ""))
            for name in dict.fromkeys([*mine.facts, *theirs.facts])
            if mine.facts.get(name, "") != theirs.facts.get(name, "")
        },
    )


def _judged(sizes: list[int], mine: Series, theirs: Series, margin: float, level: float) -> dict[int, ComparedCell]:
    if not sizes:
        return {}
    before, after = (matrix_of([one.cells[size].launches for size in sizes]) for one in (mine, theirs))
    cells = {}
    for size, (verdict, up, p_faster) in zip(sizes, judge_launches(before, after, margin, level), strict=True):
        cells[size] = ComparedCell(
            size_bytes=size,
            baseline=float(np.median(mine.cells[size].launches)),
            other=float(np.median(theirs.cells[size].launches)),
            ratio=up.ratio,
            low=up.low if up.coverage else None,
            high=up.high if up.coverage else None,
            coverage=up.coverage,
            p_slower=up.p,
            p_faster=p_faster,
            num_baseline=up.num_baseline,
            num_other=up.num_current,
            verdict=verdict,
            because=up.label,
        )
    return cells


def _single(size: int, mine: SeriesCell, theirs: SeriesCell, level: float) -> ComparedCell:
    before, after = (float(np.median(one.launches)) for one in (mine, theirs))
    spread = None
    if mine.iterations and theirs.iterations:
        # Each interval misses with half of the error, so their quotient covers at least `level` of this launch.
        a, b = (median_interval(one.iterations, (1 + level) / 2) for one in (mine, theirs))
        spread = (b.low / a.high, b.high / a.low)
    rounding = None
    if mine.derived is not None or theirs.derived is not None:
        (a_low, a_high), (b_low, b_high) = mine.derived or (before, before), theirs.derived or (after, after)
        rounding = (b_low / a_high, b_high / a_low)
    return ComparedCell(
        size_bytes=size,
        baseline=before,
        other=after,
        ratio=after / before,
        spread=spread,
        rounding=rounding,
        num_baseline=len(mine.launches),
        num_other=len(theirs.launches),
        verdict="single run",
        because=SINGLE,
    )


def _why_wrong(mine: SeriesCell, theirs: SeriesCell, first: str, second: str) -> str | None:
    for cell, name in ((mine, first), (theirs, second)):
        if cell.wrong is not None:
            return f"{name}: {cell.wrong}"
        if not cell.launches:
            return f"{name} has no time"
    return None


def _crossings(cells: Sequence[ComparedCell], first: str, second: str) -> list[Crossing]:
    """Returns where the faster one changes between neighbouring sizes; sizes at which both are equal are passed
    over."""
    found = []
    sides = [cell for cell in cells if cell.verdict != "wrong" and cell.ratio != 1.0]
    for below, above in itertools.pairwise(sides):
        if (below.ratio > 1) == (above.ratio > 1):
            continue
        names = (first, second) if below.ratio > 1 else (second, first)
        shown = {below.verdict, above.verdict} == {"slower", "faster"}
        found.append(
            Crossing(below=below.size_bytes, above=above.size_bytes, first=names[0], second=names[1], shown=shown)
        )
    return found


def _what(series: Series) -> str:
    key = series.key
    parts = [
        key.collective or "unnamed collective",
        f"{key.num_ranks} ranks" if key.num_ranks is not None else "ranks not stated",
        *(part for part in (key.dtype, key.op, key.place.replace("_", " "), series.label) if part),
    ]
    return ", ".join(parts)
