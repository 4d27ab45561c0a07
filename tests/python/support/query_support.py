"""Two stored runs with random times, failures and a wrong element, and what Python computes of them.

For: test_results_query.py. Not for: assertions.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

from lab_support import make_cell, make_launch, make_plan, make_run

from ringtree.results import Cell, RunWriter, StoredRun, Visit, WarmUp, WrongElement

SEED = 11
IDS = ("20260101T000000Z-aaaaaa", "20260102T000000Z-bbbbbb")


def a_cell(chosen: random.Random, arm: str, size: int) -> Cell:
    visits = [
        Visit(
            round=round_,
            position=round_,
            num_iterations=chosen.randint(1, 4),
            handoff=None if round_ == 0 else (chosen.random(), chosen.random()),
        )
        for round_ in range(3)
    ]
    num_iterations = sum(visit.num_iterations for visit in visits)
    times = [[chosen.expovariate(1e4) for _ in range(num_iterations)] for _ in range(3)]
    warm_up = WarmUp(num_iterations=chosen.randint(1, 9), ended="stable")
    return make_cell(arm, size, 1.0, times=times, visits=visits, batch=chosen.choice((1, 10)), warm_up=warm_up)


def write_runs(path: Path) -> None:
    chosen = random.Random(SEED)
    wrong = WrongElement(rank=1, iteration=0, call=0, index=5, expected=3.0, found=math.nan)
    for run_id in IDS:
        with RunWriter(path, make_run(make_plan(arms=("it's", "b"), num_ranks=3), run_id=run_id)) as writer:
            for index in range(3):
                cells = [a_cell(chosen, arm, size) for size in (1024, 4096) for arm in ("it's", "b")]
                if index == 1:
                    cells[0] = make_cell("it's", 1024, 1.0, times=[], verified=False, error="boom")
                    cells[1] = make_cell("b", 1024, 1.0, 3, verified=False, first_wrong=wrong, executed=None)
                writer.append(make_launch(index, cells, stolen=0.25 if index else None))


def keyed_cells(stored: list[StoredRun]) -> Iterator[tuple[tuple[str, int, str, int], Cell]]:
    for run in stored:
        for launch in run.launches:
            for cell in launch.cells:
                yield (run.run.run_id, launch.launch, cell.arm, cell.size_bytes), cell


def samples_of(cell: Cell) -> list[float]:
    return [max(of_ranks) / cell.batch for of_ranks in zip(*cell.times, strict=True)]
