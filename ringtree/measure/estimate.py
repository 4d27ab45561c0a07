"""What a plan will cost before it has run: seconds, and hours of ranks.

For: `--dry-run`, the default time a cell gets, the progress bar's first guess. Not for: anything that is measured.

A launch starts its processes (importing PyTorch is most of it) and then visits its cells; a cell takes about its
budget, or the fewest visits if those take longer, which only a slow arm at a large size does. The constants were read
off launches on a 2-core virtual machine (2026-11); elsewhere they are off by the speed of the machine, and the estimate
is printed as "about".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ringtree.arms import boundary_of, find_kind
from ringtree.measure.plan import DEFAULT_LAUNCHES, MIN_ROUNDS, by_environment, planned_launches, sizes_of
from ringtree.measure.training_estimate import training_cost
from ringtree.results import ArmPlan, Boundary, Plan

_START = 0.5  # seconds of a launch, whatever runs in it
_START_A_RANK = 0.12  # interpreter, numpy, communicators; ranks share few cores
_START_TORCH_A_RANK = 0.9
_LEAST_VISITS = 2 * MIN_ROUNDS  # what warming and setting up take besides is about as much again
_SLOW_RATE = 1.2e9  # bytes/s of input that all ranks together write, reduce and check in an iteration


@dataclass(frozen=True)
class Cost:
    """About what a plan takes."""

    seconds: float
    num_launches: int


def start_seconds(num_ranks: int, boundary: Boundary, arms: Iterable[str] = ()) -> float:
    """Returns about how long a launch takes before its first cell and after its last.

    Most of it is what a rank imports to call arms by that boundary, whatever it then calls; `arms` add what their kinds
    take besides.
    """
    own = {kind.name: kind.start_seconds for name in arms if (kind := find_kind(name)) is not None}
    imports = _START_TORCH_A_RANK if boundary == "torch" else _START_A_RANK
    return _START + num_ranks * (imports + sum(own.values()))


def start_of_arms(num_ranks: int, boundary: Boundary, arms: Sequence[ArmPlan]) -> float:
    """As `start_seconds`, of a launch of these arms: each environment has processes of its own, which start the arms
    that share it and no others."""
    names = [[arm.name for arm in group] for group in by_environment(arms)]
    return _START + sum(start_seconds(num_ranks, boundary, group) - _START for group in names)


def start_of(plan: Plan) -> float:
    """As `start_seconds`, of a launch of `plan`."""
    return start_of_arms(plan.num_ranks, boundary_of(plan), plan.arms)


def cell_seconds(plan: Plan, size_bytes: int) -> float:
    """Returns about how long one arm at one size takes in a launch."""
    return max(plan.cell_budget, _LEAST_VISITS * size_bytes * plan.num_ranks / _SLOW_RATE)


def cost_of(plan: Plan) -> Cost:
    """Returns about what all launches of `plan` take."""
    if plan.training is not None:
        cost = training_cost(plan)
        return Cost(cost.seconds, cost.num_launches)
    launches = planned_launches(plan)
    seconds = 0.0
    for launch in launches:
        seconds += start_of_arms(plan.num_ranks, boundary_of(plan), launch.arms)
        seconds += sum(cell_seconds(plan, size.size_bytes) for size in sizes_of(plan, launch)) * len(launch.arms)
    return Cost(seconds, len(launches))


def cell_budget(total: float, num_cells: int, starting: float) -> float:
    """Returns the seconds that a cell may take in a launch so that the default launches take about `total` seconds, of
    which each needs `starting` for its start.

    At least 0.05 and at most 1: less measures nothing, more is better spent on further launches. It does not depend on
    the number of launches that was asked for: with more of them each must still be worth as much.
    """
    for_cells = total / DEFAULT_LAUNCHES - starting
    return min(1.0, max(0.05, for_cells / num_cells))
