"""Runs of `ringtree compare` -> a bank.

    PYTHONPATH=tools python -m method.extract NAME docs/method-data/NAME.npz runs/<id> [runs/<id> …]

For: keeping what the method needs of real launches, a hundredth of the raw samples. Not for: judging them. Several runs
become one bank (their blocks one after the other) if they asked the same question; blocks with a cell that failed or
was not verified are left out, and counted in the header.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from method.bank import Bank, write_bank
from method.origin import origin_of
from ringtree.results import Cell, Launch, Run, StoredRun, read_run
from ringtree.stats import samples


def extract(name: str, stored: list[StoredRun]) -> Bank:
    """The bank of several runs. Raises ValueError if they asked different questions or hold no whole block."""
    questions = {_question(entry.run) for entry in stored}
    if len(questions) != 1:
        raise ValueError(f"{len(questions)} different questions can't become one bank: {sorted(map(str, questions))}")
    plan = stored[0].run.plan
    labels = [plan.reference, *(arm.label for arm in plan.arms if arm.label != plan.reference)]
    sizes = sorted(size.size_bytes for size in plan.sizes)
    num_rounds = max(size.max_rounds for size in plan.sizes)
    blocks, left_out = [], 0
    for entry in stored:
        by_block: dict[int, list[Launch]] = {}
        for launch in entry.launches:
            by_block.setdefault(launch.block, []).append(launch)
        for _, launches in sorted(by_block.items()):
            cells = [cell for launch in launches for cell in launch.cells]
            if {cell.arm for cell in cells} != set(labels) or not all(cell.verified for cell in cells):
                left_out += 1
                continue
            blocks.append(_block(cells, labels, sizes, num_rounds))
    if not blocks:
        raise ValueError(f"no block of {', '.join(entry.run.run_id for entry in stored)} is whole and verified")
    return Bank(
        name=name,
        kind="real",
        collective=plan.collective,
        num_ranks=plan.num_ranks,
        arms=tuple(labels),
        sizes=tuple(sizes),
        medians=np.stack([block[0] for block in blocks]),
        probes=np.stack([block[1] for block in blocks]),
        origin=_origin([entry.run for entry in stored], left_out),
    )


def _block(
    cells: list[Cell], labels: list[str], sizes: list[int], num_rounds: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Medians (sizes, arms, rounds) and probes (sizes, arms, rounds, 2) of one block."""
    medians = np.full((len(sizes), len(labels), num_rounds), np.nan, np.float32)
    probes = np.full((*medians.shape, 2), np.nan, np.float32)
    for cell in cells:
        values = samples(cell.times, cell.batch)
        start = 0
        for visit in cell.visits:
            place = (sizes.index(cell.size_bytes), labels.index(cell.arm), visit.round)
            medians[place] = np.median(values[start : start + visit.num_iterations])
            start += visit.num_iterations
            if visit.handoff is not None:
                probes[place] = visit.handoff
    return medians, probes


def _question(run: Run) -> tuple[Any, ...]:
    """What must agree between runs whose blocks are put together; the machine's name is not kept."""
    plan, origin = run.plan, run.provenance
    arms = tuple(sorted((arm.label, arm.name, tuple(sorted(arm.environment.items()))) for arm in plan.arms))
    sizes = tuple(sorted((size.size_bytes, size.batch) for size in plan.sizes))
    where = (origin.host_name, origin.cpu_model, tuple(origin.affinity), origin.git_commit)
    return (plan.collective, plan.op, plan.dtype, plan.num_ranks, arms, plan.reference, sizes, where)


def _origin(runs: list[Run], left_out: int) -> dict[str, Any]:
    return {
        **origin_of(min(runs, key=lambda run: run.created_utc)),
        "runs": [run.run_id for run in runs],
        "seeds": [run.plan.seed for run in runs],
        "blocks_left_out": left_out,
    }


if __name__ == "__main__":
    write_bank(Path(sys.argv[2]), extract(sys.argv[1], [read_run(Path(argument)) for argument in sys.argv[3:]]))
