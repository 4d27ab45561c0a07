"""A comparison from plan to stored run.

For: running the launches of a plan one after another and storing each as soon as it is over. Not for: printing
(table.py, progress.py) or statistics (summary.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import ringtree
from ringtree.backends import needs_torch
from ringtree.lab.environment import capture
from ringtree.lab.launch import RANK_ENVIRONMENT, LaunchFailed, run_launch
from ringtree.lab.messages import CellReport
from ringtree.lab.plan import cell_order, data_seed
from ringtree.lab.units import count
from ringtree.results import FORMAT, Cell, Launch, Plan, Run, RunWriter, StoredRun, new_run_id, read_run

OnCell = Callable[[int, CellReport], None]


class ComparisonFailed(ringtree.RingtreeError):
    """A run that stopped; the message says why, and where what was stored is."""


def run_comparison(plan: Plan, runs: Path, on_cell: OnCell) -> StoredRun:
    """Runs all launches of `plan` and returns the stored run.

    `on_cell(launch, report)` is called as rank 0 finishes cells. Raises ComparisonFailed if a launch fails or can't be
    stored; what was stored before stays. On Ctrl-C all processes are gone before KeyboardInterrupt leaves; its message,
    too, says where what was stored is.
    """
    provenance = capture(emulated=plan.emulation is not None, rank_defaults=RANK_ENVIRONMENT)
    run = Run(format=FORMAT, run_id=new_run_id(), created_utc=_utc(), plan=plan, provenance=provenance)
    writer = RunWriter(runs, run)
    use_torch = any(needs_torch(arm.name) for arm in plan.arms)
    num_stored = 0
    try:
        for launch in range(plan.num_launches):
            started, clock = _utc(), time.monotonic()
            pids, cells = run_launch(plan, launch, use_torch, partial(on_cell, launch))
            record = Launch(
                launch=launch,
                block=launch,
                seed=data_seed(plan, launch),
                order=cell_order(plan, launch),
                pids=pids,
                started_utc=started,
                wall_seconds=time.monotonic() - clock,
                cells=merge_ranks(plan, cells),
            )
            writer.append(record)
            num_stored += 1
    except LaunchFailed as failed:
        raise ComparisonFailed(f"{failed}; {_kept(num_stored, writer.path)}") from None
    except OSError as error:
        kept = _kept(num_stored, writer.path)
        raise ComparisonFailed(f"can't store launch {num_stored + 1}: {error}; {kept}") from error
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_kept(num_stored, writer.path)) from None
    return read_run(writer.path)


def merge_ranks(plan: Plan, reports: list[list[CellReport]]) -> list[Cell]:
    """Joins what the ranks say of each cell, `reports[rank][cell]`, into one Cell each.

    A cell is verified only if every rank found every element right and all executed the same algorithm.
    """
    batch_of = {size.size_bytes: size.batch for size in plan.sizes}
    cells = []
    for of_ranks in zip(*reports, strict=True):
        first = of_ranks[0]
        if any((report.arm, report.size_bytes) != (first.arm, first.size_bytes) for report in of_ranks):
            raise LaunchFailed(f"ranks reported different cells: {first.arm} at {first.size_bytes} bytes on rank 0")
        wrong = next((report.first_wrong for report in of_ranks if report.first_wrong is not None), None)
        error = next((report.error for report in of_ranks if report.error is not None), None)
        algorithms = {str((report.executed or {}).get("algorithm")) for report in of_ranks}
        if error is None and len(algorithms) > 1:
            error = f"ranks executed different algorithms: {', '.join(sorted(algorithms))}"
        times = [report.times for report in of_ranks] if all(report.times for report in of_ranks) else []
        cells.append(
            Cell(
                arm=first.arm,
                size_bytes=first.size_bytes,
                executed=first.executed,
                batch=batch_of[first.size_bytes],
                times=times,
                verified=error is None and wrong is None and bool(times),
                first_wrong=wrong,
                error=error,
            )
        )
    return cells


def _kept(num_launches: int, path: Path) -> str:
    return f"{count(num_launches, 'launch')} stored in {path}"


def _utc() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
