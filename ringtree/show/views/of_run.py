"""The view of a stored run: its summary, verdict first, and what it rests on.

For: what ringtree.judge says of a run, beside its cells. Not for: the cells' figures (cells.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ringtree.judge.cells import RunCells
from ringtree.judge.comparison import Comparison
from ringtree.judge.observations import observations_of_run, origins_of_run
from ringtree.judge.phrases import placement_phrase
from ringtree.judge.summary import summarise
from ringtree.judge.words import kind
from ringtree.results import Observation, StoredRun
from ringtree.show.effects_table import effect_rows, headings
from ringtree.show.views.cells import cells_of
from ringtree.show.views.view import LimitLine, Place, Ratio, View, ViewCell, ViewRow
from ringtree.stats import busbw
from ringtree.units import count


def view_of_run(stored: StoredRun) -> View:
    """Returns the view of one run."""
    seen = RunCells(stored)
    run = summarise(stored, seen)
    places = list(dict.fromkeys(row.placement for row in run.shown_rows())) or [""]
    rows = [(row.size_bytes, row.placement) for row in run.rows if row.placement in places]
    judged = {(cell.size_bytes, cell.arm, cell.placement): cell for cell in run.cells}

    def complete(cell: ViewCell, one: Observation) -> None:
        found = judged[one.size_bytes or 0, cell.arm, cell.place]
        cell.share, versus = found.share_of_limit, found.versus_reference
        if versus is not None:
            cell.versus = Ratio(versus.ratio, versus.low, versus.high, versus.verdict, versus.label)

    origin = next(iter(origins_of_run(stored).values()))
    what = f"{run.collective}, {kind(run)}, {run.num_ranks} ranks"
    emulated = "" if run.emulated is None else " — emulated links: no time here is the machine's own"
    cluster = "" if run.emulated is None else f", emulated {run.emulated.hosts}x{run.emulated.ranks_per_host}"
    if run.simulated is not None:
        emulated, cluster = " — simulated: no time here was measured", f", simulated {run.simulated.called}"
    return View(
        "run",
        run.run,
        f"{what}, {count(run.num_launches, 'launch')}{emulated}",
        f"{what}, {run.num_launches} launches{cluster}",
        collective=run.collective,
        op=run.op,
        dtype=run.dtype,
        num_ranks=run.num_ranks,
        num_hosts=origin.num_hosts,
        emulated=run.emulated is not None,
        simulated=run.simulated is not None,
        margin=run.margin,
        reference=run.reference,
        arms=[arm.label for arm in run.arms],
        verdicts=run.verdicts,
        caveats=run.caveats,
        notes=run.notes,
        left_out=run.left_out,
        places=[Place(place, placement_phrase(place) if place else "all launches") for place in places],
        rows=[ViewRow(row.size_bytes, row.placement) for row in run.shown_rows()],
        cells=cells_of(observations_of_run(stored, seen, rows), complete, level=run.level),
        limits=[line for place in places if len((line := _limit(run, place)).points) > 1],
        effects=[headings(run), *effect_rows(run)] if run.effects else [],
        crossovers=run.crossovers,
        fastest=run.fastest,
        slowest_ranks=_slowest_ranks(stored),
        provenance=list(origin.facts.items()),
    )


def _limit(run: Comparison, place: str) -> LimitLine:
    """The least time that the machine allows; without points where nothing was probed."""
    points = {
        cell.size_bytes: (
            cell.size_bytes,
            cell.limit,
            busbw(run.collective, cell.size_bytes, cell.limit, run.num_ranks),
        )
        for cell in run.cells
        if cell.placement == place and cell.limit is not None and cell.limit > 0 and cell.size_bytes > 0
    }
    return LimitLine("the machine's limit", place, [points[size] for size in sorted(points)])


def _slowest_ranks(stored: StoredRun) -> dict[str, list[float]]:
    """Returns by arm the share of timed iterations in which each rank was the slowest."""
    counts: dict[str, NDArray[np.float64]] = {}
    for launch in stored.launches:
        for cell in launch.cells:
            if not cell.times or not cell.times[0] or len(cell.times) < 2:
                continue
            slowest = np.argmax(np.array(cell.times), axis=0)
            found = np.bincount(slowest, minlength=len(cell.times)).astype(np.float64)
            counts[cell.arm] = counts[cell.arm] + found if cell.arm in counts else found
    return {arm: [float(share) for share in found / found.sum()] for arm, found in counts.items()}
