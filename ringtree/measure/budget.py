"""Where a time budget decides most.

For: `--budget 10m`: a short pilot of every cell, then launches where they decide something. Not for: looking at a run's
own data to prolong it, which would inflate its error.

The pilot is a run of its own: its launches choose how many launches each size of the comparison gets, and are no
evidence themselves, so the comparison's error stays what it is. Every size gets the default number of launches; what
time is left goes to the sizes that need more, those that need least first. A size that no affordable number of launches
would decide gets no more than the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ringtree.errors import UsageError
from ringtree.measure.estimate import start_of
from ringtree.measure.plan import DEFAULT_LAUNCHES
from ringtree.results import Plan
from ringtree.units import format_duration

PILOT_LAUNCHES = 3
PILOT_SHARE = 0.2  # of the budget, at most
MOST_LAUNCHES = 64
_LEAST_CELL_BUDGET = 0.05
_MOST_CELL_BUDGET = 1.0
_FIRST_SHARE = 0.6  # of what the pilot leaves, for the default launches of every size; the rest decides the close calls


@dataclass(frozen=True)
class Need:
    """One size: seconds that a launch spends on it, and the launches that would decide it (None: no number would)."""

    size_bytes: int
    seconds: float
    launches: int | None

    def __post_init__(self) -> None:
        if self.seconds < 0 or (self.launches is not None and self.launches < 1):
            raise ValueError(f"a need is no less than nothing: {self}")


def pilot_plan(plan: Plan, budget: float) -> Plan:
    """Returns the plan of the pilot. Raises UsageError if the budget holds no comparison."""
    starting = start_of(plan)
    num_cells = len(plan.arms) * len(plan.sizes)
    least = (PILOT_LAUNCHES + DEFAULT_LAUNCHES) * (starting + num_cells * _LEAST_CELL_BUDGET)
    if budget < least:
        raise UsageError(
            f"--budget {format_duration(budget)} is too short: {num_cells} cells and {plan.num_ranks} ranks take at "
            f"least about {format_duration(least)}; compare fewer sizes or arms"
        )
    cell = (PILOT_SHARE * budget / PILOT_LAUNCHES - starting) / num_cells
    sizes = [size.model_copy(update={"num_launches": PILOT_LAUNCHES}) for size in plan.sizes]
    return plan.model_copy(
        update={
            "purpose": "pilot",
            "num_launches": PILOT_LAUNCHES,
            "sizes": sizes,
            "cell_budget": _bounded(cell),
            "time_budget": budget,
        }
    )


def budgeted_plan(plan: Plan, pilot_run: str, needs: Mapping[int, int | None], budget: float, spent: float) -> Plan:
    """Returns `plan` with the launches of each size chosen.

    `needs[size]`: launches that would decide the size by the pilot, None if no number would; `spent`: seconds that the
    pilot took.
    """
    left = budget - spent
    starting = start_of(plan)
    num_cells = len(plan.arms) * len(plan.sizes)
    cell = _bounded((_FIRST_SHARE * left / DEFAULT_LAUNCHES - starting) / num_cells)
    wanted = [Need(size.size_bytes, cell * len(plan.arms), needs.get(size.size_bytes)) for size in plan.sizes]
    launches = allocate(wanted, starting, left)
    sizes = [size.model_copy(update={"num_launches": launches[size.size_bytes]}) for size in plan.sizes]
    return plan.model_copy(
        update={
            "sizes": sizes,
            "num_launches": max(launches.values()),
            "cell_budget": cell,
            "time_budget": budget,
            "pilot": pilot_run,
        }
    )


def allocate(needs: list[Need], start: float, seconds: float) -> dict[int, int]:
    """Returns the launches of each size so that all of them take about `seconds`, each launch `start` seconds besides.

    Nobody gets less than the default; sizes that need more get what they need, the least needy first, as long as all of
    it fits. What a size needs beyond MOST_LAUNCHES is not affordable.
    """
    launches = {need.size_bytes: DEFAULT_LAUNCHES for need in needs}
    seconds_of = {need.size_bytes: need.seconds for need in needs}
    open_ = [need for need in needs if need.launches is not None and DEFAULT_LAUNCHES < need.launches <= MOST_LAUNCHES]
    for need in sorted(open_, key=lambda need: need.launches or 0):
        wanted = {**launches, need.size_bytes: need.launches or 0}
        cost = max(wanted.values()) * start + sum(number * seconds_of[size] for size, number in wanted.items())
        if cost <= seconds:
            launches = wanted
    return launches


def _bounded(cell_budget: float) -> float:
    return min(_MOST_CELL_BUDGET, max(_LEAST_CELL_BUDGET, cell_budget))
