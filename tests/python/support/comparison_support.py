"""Helpers of the tests of what a comparison says: runs under several placements, and what was printed.

For: the tests of lab/summary, findings, words, table, regression, and of cli/show.
Not for: assertions.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path

from lab_support import NEAR, make_cell, make_launch, make_plan, make_run
from rich.console import Console

from ringtree.judge.comparison import Comparison
from ringtree.results import Launch, Plan, StoredRun, Visit
from ringtree.show.comparison_table import print_comparison

FAR = 1.5e-7  # hand-off between cores that share no cache, seconds
Handoff = tuple[float, float]
NUM_NEAR, NUM_FAR = 4, 3  # rounds of a launch under each placement: enough for either to count


def jitter(launch: int) -> float:
    """A factor near 1, another one for each launch."""
    return 1 + 0.01 * math.sin(launch)


def noise(launch: int, *what: object) -> float:
    """A factor within ±0.5 % of 1 that differs from cell to cell, the same in every run of the test."""
    return 1 + 0.005 * math.sin(12.9898 * launch + sum(ord(char) for char in repr(what)))


def stored_run(plan: Plan, launches: list[Launch]) -> StoredRun:
    """A run of these launches."""
    return StoredRun(Path("runs/example"), make_run(plan), launches, [])


def run_of_costs(costs: dict[str, tuple[float, float]]) -> StoredRun:
    """A run of arms that take (seconds, and seconds a byte), from 1 KB to 64 MB; the last one is the reference."""
    plan = make_plan(arms=list(costs), sizes=[1 << k for k in range(10, 27, 2)], num_ranks=2, num_launches=8)
    return stored_run(
        plan,
        [
            make_launch(
                launch,
                [
                    make_cell(arm, size.size_bytes, noise(launch, arm, size.size_bytes) * (a + b * size.size_bytes), 2)
                    for size in plan.sizes
                    for arm, (a, b) in costs.items()
                ],
            )
            for launch in range(8)
        ],
    )


# Of five arms each is the fastest somewhere, so that curves cross all over the figure; of two, near its left end.
CROSSING = {
    "ring": (6e-5, 4e-10),
    "tree": (2e-5, 7e-10),
    "gloo": (1e-4, 3e-10),
    "b": (1e-5, 2e-9),
    "c": (15e-6, 12e-10),
}
CROSSING_EARLY = {"ring": (2.1e-5, 4e-10), "tree": (2e-5, 7e-10)}


def placed_run(
    plan: Plan,
    seconds: Callable[[int, int, str, int], float],
    handoff: Callable[[int, str, int], Handoff | None],
    num_rounds: int = NUM_NEAR + NUM_FAR,
) -> StoredRun:
    """A run in which `seconds(launch, size, arm, round)` is the one sample of a visit and `handoff(launch, arm, round)`
    what was probed before and after it."""
    sizes = [size.model_copy(update={"max_rounds": num_rounds}) for size in plan.sizes]
    plan = plan.model_copy(update={"sizes": sizes})
    order = [(size.size_bytes, arm.label) for size in plan.sizes for arm in plan.arms]
    launches = []
    for launch in range(plan.num_launches):
        cells = []
        for place, (size, arm) in enumerate(order):
            visits = [
                Visit(round=r, position=place + r * len(order), num_iterations=1, handoff=handoff(launch, arm, r))
                for r in range(num_rounds)
            ]
            times = [[seconds(launch, size, arm, r) for r in range(num_rounds)]] * plan.num_ranks
            cells.append(make_cell(arm, size, 1.0, plan.num_ranks, times=times, visits=visits))
        launches.append(make_launch(launch, cells))
    return StoredRun(Path("runs/example"), make_run(plan), launches, [])


def near_then_far(launch: int, arm: str, round_: int) -> Handoff:
    """The first NUM_NEAR rounds near, the others far."""
    return (NEAR, NEAR) if round_ < NUM_NEAR else (FAR, FAR)


def printed(comparison: Comparison, width: int, verbose: bool = True) -> list[str]:
    """The lines that a terminal of `width` columns gets, without spaces at their ends."""
    console = Console(file=io.StringIO(), width=width)
    print_comparison(console, comparison, verbose)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]
