"""A stored run as observations.

For: whoever takes stored runs and logs alike. Not for: effects paired inside the run (cells.py, summary.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ringtree.judge.cells import RunCells, refuse_training
from ringtree.results import Cell, Launcher, Observation, Origin, StoredRun


def observations_of_run(
    stored: StoredRun, cells: RunCells | None = None, rows: Iterable[tuple[int, str]] | None = None
) -> Iterator[Observation]:
    """Yields an observation for each launch of each arm, by rows (size, placement); all of them where none are given.

    One without samples stands for an arm that has none in a row, and says why where something was wrong.
    """
    refuse_training(stored)
    plan, cells = stored.run.plan, cells or RunCells(stored)
    chosen = rows or [(size.size_bytes, place) for place in cells.placements for size in plan.sizes]
    origins = origins_of_run(stored)
    for size_bytes, place in chosen:
        for label, origin in origins.items():
            seen = cells.seen(size_bytes, label)
            told = (origin, size_bytes, place, plan.dtype, plan.op)
            wrong = cells.why_disqualified(size_bytes, label)
            pooled = cells.pooled(size_bytes, label, place)
            for block, samples in sorted(pooled.items()):
                executed = _executed(seen[block].cell)
                yield Observation(*told, samples=samples, launch=block, executed=executed, wrong=wrong)
            if seen and not pooled:
                yield Observation(*told, wrong=wrong)


def origins_of_run(stored: StoredRun) -> dict[str, Origin]:
    """Returns by label what all observations of an arm share."""
    plan, where = stored.run.plan, stored.run.provenance
    hosts = 1 if plan.hosts is None else len(set(plan.hosts))
    versions = {name: version for name, version in where.versions.items() if version is not None}
    facts = {
        "run": stored.run.run_id,
        "created": stored.run.created_utc,
        "host": where.host_name,
        "launcher": "" if where.launcher is None else _started_by(where.launcher),
        "processor": f"{where.cpu_model}, {where.num_cpus} cores",
        "GPUs": ", ".join(f"{number} × {name}" for name, number in Counter(where.gpus).items()),
        "kernel": where.kernel,
        "virtual machine": {True: "yes", False: "no", None: "not known"}[where.virtual],
        "load at the start": ", ".join(f"{one:.2f}" for one in where.load_average),
        "emulated": "yes" if where.emulated else "",
        "simulated": "" if plan.simulation is None else plan.simulation.called,
        **versions,
        "commit": where.git_commit or "not known",
        "command": " ".join(where.command),
        "seed": str(plan.seed),
        **dict(sorted(where.environment.items())),
    }
    return {
        arm.label: Origin(
            stored.run.run_id,
            stored.run.run_id,
            plan.collective,
            plan.num_ranks,
            plan.emulation.hosts if plan.emulation is not None else hosts,
            arm.label,
            facts={name: value for name, value in facts.items() if value},
            compared=("host", "processor", "GPUs", "emulated", "simulated", *versions),
        )
        for arm in plan.arms
    }


def _started_by(launcher: Launcher) -> str:
    """Names what started the processes: "Slurm job 71.0, 2 processes on n0, n1"."""
    job = "" if launcher.job is None else f" job {launcher.job}"
    return f"{launcher.name}{job}, {launcher.num_processes} processes on {', '.join(launcher.hosts)}"


def _executed(cell: Cell) -> str:
    """Returns what ran, as "ring/simple"; nothing where the arm does not tell."""
    told = cell.executed or {}
    return "/".join(str(told[name]) for name in ("algorithm", "protocol") if told.get(name))
