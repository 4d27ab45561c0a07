"""From what a person asked for to the two plans of a ladder: its pilot, and the run that is evidence.

For: defaults, how the time is spent, and checks before a process is started. Not for: running (ladder_run.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from ringtree.errors import UsageError
from ringtree.explain.ladder_kinds import DEFAULT, LadderKind, kind_named
from ringtree.explain.pilot import Decided
from ringtree.explain.rungs import Lacks, Rung, arms_of, without_lacking
from ringtree.measure.environment import usable_cores
from ringtree.measure.estimate import start_of, start_seconds
from ringtree.measure.plan import DEFAULT_LAUNCHES
from ringtree.measure.request import Request, make_plan
from ringtree.results import Plan
from ringtree.units import format_duration, parse_duration

DEFAULT_ALGORITHM = "ring"
DEFAULT_RANKS = 2
DEFAULT_SIZES = "4K,1M,64M"
DEFAULT_BUDGET = "3m"
PILOT_LAUNCHES = 2
PILOT_SHARE = 0.1  # of the time
CELL_SECONDS = 0.5  # of an arm at a size in a launch; what time is left goes to further launches
MOST_LAUNCHES = 32
_LEAST_CELL, _MOST_CELL = 0.05, 1.0


@dataclass(frozen=True)
class Asked:
    """What was asked for. `launches` None: as many as the budget allows, 8 at least. `seed` None: a fresh one."""

    ladder: str = DEFAULT
    algorithm: str = DEFAULT_ALGORITHM
    ranks: int = DEFAULT_RANKS
    sizes: str = DEFAULT_SIZES
    budget: str = DEFAULT_BUDGET
    launches: int | None = None
    seed: int | None = None


def pilot_plan(asked: Asked) -> Plan:
    """Returns the plan of the pilot. Raises UsageError for what can't be done."""
    kind = kind_named(asked.ladder)
    kind.check_algorithm(asked.algorithm)
    if asked.ranks < 2:
        raise UsageError(f"one rank has no peer to communicate with: --ranks must be at least 2, not {asked.ranks}")
    plan = _plan(asked, kind, kind.pilot_arms(asked.algorithm), PILOT_LAUNCHES)
    seconds = parse_duration(asked.budget) * PILOT_SHARE
    start, num_cells = start_of(plan), len(plan.arms) * len(plan.sizes)
    starting = start_seconds(asked.ranks, kind.boundary(asked.algorithm))
    least = DEFAULT_LAUNCHES * (starting + 10 * len(plan.sizes) * _LEAST_CELL)
    if asked.launches is None and parse_duration(asked.budget) < least:
        raise UsageError(
            f"--budget {asked.budget} is too short: {DEFAULT_LAUNCHES} launches take at least about "
            f"{format_duration(least)}; ask for more, for fewer --sizes, or for fewer --launches"
        )
    return plan.model_copy(
        update={"purpose": "pilot", "cell_budget": _bounded((seconds / PILOT_LAUNCHES - start) / num_cells)}
    )


def ladder_plan(asked: Asked, decided: Decided, pilot_run: str, seconds: float) -> Plan:
    """Returns the plan of the run that is evidence. `seconds`: that are left for it; `pilot_run`: the pilot's id."""
    kind = kind_named(asked.ladder)
    ladders, taken = ladders_of(kind, asked.algorithm, asked.ranks, usable_cores(), decided)
    arms = arms_of([*ladders.values(), *taken.values()])
    plan = _plan(asked, kind, arms, DEFAULT_LAUNCHES)
    start, num_cells = start_of(plan), len(plan.arms) * len(plan.sizes)
    affordable = int(seconds / (start + num_cells * CELL_SECONDS))
    num_launches = asked.launches or max(DEFAULT_LAUNCHES, min(MOST_LAUNCHES, affordable))
    return _plan(asked, kind, arms, num_launches).model_copy(
        update={
            "pilot": pilot_run,
            "time_budget": parse_duration(asked.budget),
            "cell_budget": _bounded((seconds / num_launches - start) / num_cells),
        }
    )


def ladders_of(
    kind: LadderKind,
    algorithm: str,
    num_ranks: int,
    num_cores: int,
    decided: Decided,
    lacks: Lacks = lambda arm: None,
) -> tuple[dict[int, list[Rung]], dict[int, list[Rung]]]:
    """Returns, by size, the rungs and what is taken away from the top, as the pilot decided."""
    ladders = {
        size: without_lacking(kind.rungs(algorithm, protocol, num_ranks, num_cores), lacks)
        for size, protocol in decided.protocols.items()
    }
    taken = {size: without_lacking(kind.takings(algorithm, size, top), lacks) for size, top in decided.tops.items()}
    return ladders, taken


def _plan(asked: Asked, kind: LadderKind, arms: list[str], num_launches: int) -> Plan:
    request = Request(
        ranks=asked.ranks,
        sizes=asked.sizes,
        arms=",".join(arms),
        launches=num_launches,
        seed=asked.seed,
    )
    return make_plan(request).model_copy(update={"preset": kind.preset})


def _bounded(cell_budget: float) -> float:
    return min(_MOST_CELL, max(_LEAST_CELL, cell_budget))
