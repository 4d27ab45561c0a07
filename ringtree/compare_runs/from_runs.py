"""The series of a run that ringtree took.

For: launch medians by arm, size and placement. Not for: paired effects inside the run (ringtree.lab).
"""

from __future__ import annotations

from ringtree.compare_runs.series import Key, Series
from ringtree.lab.cells import RunCells
from ringtree.results import StoredRun


def series_of_run(stored: StoredRun, notes: list[str]) -> list[Series]:
    """Returns a series for each arm and placement; appends to `notes` what was left out."""
    plan, cells = stored.run.plan, RunCells(stored)
    where = stored.run.provenance
    found = []
    for arm in plan.arms:
        for placement in cells.placements:
            place = "" if not placement else f"{placement} cores"
            series = Series(
                Key(plan.collective, plan.num_ranks, plan.dtype, plan.op, place),
                arm.label,
                facts={
                    "host": where.host_name,
                    "processor": where.cpu_model,
                    "emulated": "yes" if where.emulated else "no",
                    **{name: version for name, version in where.versions.items() if version is not None},
                },
            )
            for size in plan.sizes:
                medians = cells.medians(size.size_bytes, arm.label, placement)
                cell = series.cell(size.size_bytes)
                cell.launches = [medians[block] for block in sorted(medians)]
                cell.wrong = cells.why_disqualified(size.size_bytes, arm.label)
            series.cells = {size: cell for size, cell in series.cells.items() if cell.launches or cell.wrong}
            if series.cells:
                found.append(series)
    notes.extend(f"{stored.run.run_id}: {note}" for note in stored.notes)
    return found
