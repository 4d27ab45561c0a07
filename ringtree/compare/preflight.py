"""Is this machine quiet enough for the question? Asked before the first launch.

For: one short launch of the reference arm against itself, and what its scatter means for the planned launches. Not for:
evidence: nothing of it enters a comparison.

The rounds of one launch tell how far a launch's effect would scatter if nothing but the rounds' noise made it; launches
differ by more than that (placement, neighbours), so the smallest difference found here is what the planned launches
could tell at best. A machine that is too noisy even so is refused, with what it could still tell.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from ringtree.compare.too_noisy import TooNoisy
from ringtree.measure.crew import Crew
from ringtree.measure.launch import run_launch
from ringtree.measure.messages import ProgressReport
from ringtree.measure.plan import planned_launches
from ringtree.results import Cell, Plan, Preflight
from ringtree.stats import launches_needed, least_launches, samples
from ringtree.units import count, format_size

LARGEST = 16 << 20
POWER = 0.8
_MOST_DETECTABLE = 100.0  # a difference of 100 times; beyond it nothing is worth telling apart
# The standard deviation of a median of n normal values is this times that of one, over the root of n, for large n.
_MEDIAN_LOSS = math.sqrt(math.pi / 2)


def wants_preflight(plan: Plan) -> bool:
    """False where it has no meaning: emulated links don't scatter, a host knows of itself only, and too few launches
    give no verdict anyway."""
    judged = max((size.num_launches for size in plan.sizes), default=0) >= least_launches(plan.level)
    return plan.emulation is None and plan.hosts is None and judged and len(plan.arms) > 1


def run_preflight(
    plan: Plan, asked: float, on_progress: Callable[[ProgressReport], None], crew: Crew | None = None
) -> Preflight:
    """Runs the launch. `asked`: the difference that is to be told, as a share; `crew`: as run_launch(). Raises
    LaunchFailed."""
    started = time.monotonic()
    trial = trial_plan(plan)
    launch = planned_launches(trial)[0]
    _, cells = run_launch(trial, launch, on_progress, crew=crew)
    scatter = {}
    for size in trial.sizes:
        one, other = (cell for cell in cells if cell.size_bytes == size.size_bytes)
        if one.times and other.times:
            scatter[size.size_bytes] = launch_scatter(one, other)
    num_cells = max(1, (len(plan.arms) - 1) * len(plan.sizes))
    typical = float(np.median(list(scatter.values()))) if scatter else 0.0
    return Preflight(
        arm=plan.reference,
        scatter=scatter,
        detectable=detectable(typical, plan, num_cells),
        asked=asked,
        wall_seconds=time.monotonic() - started,
    )


def trial_plan(plan: Plan) -> Plan:
    """The reference arm against itself at up to three of the plan's sizes, one launch."""
    sizes = [size for size in plan.sizes if size.size_bytes <= LARGEST] or plan.sizes[:1]
    chosen = {0, len(sizes) // 2, len(sizes) - 1}
    arm = next(arm for arm in plan.arms if arm.label == plan.reference)
    again = arm.model_copy(update={"label": f"{arm.label} again"})
    return plan.model_copy(
        update={"arms": [arm, again], "sizes": [sizes[i] for i in sorted(chosen)], "num_launches": 1}
    )


def launch_scatter(one: Cell, other: Cell) -> float:
    """Returns the standard deviation that the rounds' scatter gives a launch's log ratio (a median over rounds)."""
    medians = [_round_medians(cell) for cell in (one, other)]
    logs = [math.log(medians[0][key] / medians[1][key]) for key in medians[0].keys() & medians[1].keys()]
    if len(logs) < 2:
        return 0.0
    return float(np.std(logs, ddof=1)) * _MEDIAN_LOSS / math.sqrt(len(logs))


def detectable(scatter: float, plan: Plan, num_cells: int) -> float:
    """Returns the smallest difference, as a share, that the plan's launches would tell 4 times in 5; inf for none."""
    # The fewest launches tell a cell of a family only if no other gets in the way (stats.launches_needed), which is not
    # a matter of noise: at best, none does.
    num_cells = num_cells if plan.num_launches > least_launches(plan.level) else 1

    def is_told(share: float) -> bool:
        needed = launches_needed(math.log1p(share), scatter, plan.margin, plan.level, POWER, num_cells)
        return needed is not None and needed <= plan.num_launches

    low, high = plan.margin, _MOST_DETECTABLE
    if not is_told(high):
        return math.inf
    while high - low > 0.001 * (1 + low):
        middle = math.sqrt((1 + low) * (1 + high)) - 1
        low, high = (low, middle) if is_told(middle) else (middle, high)
    return high


def refuse_if_too_noisy(plan: Plan, preflight: Preflight) -> None:
    """Raises TooNoisy if what was asked can't be told."""
    if preflight.detectable <= preflight.asked:
        return
    worst = max(preflight.scatter, key=lambda size: preflight.scatter[size])
    told = (
        f"can detect {percent(preflight.detectable)} at best"
        if math.isfinite(preflight.detectable)
        else "can detect nothing"
    )
    raise TooNoisy(
        f"too noisy for differences of {percent(preflight.asked)}: {count(plan.num_launches, 'launch')} {told} "
        f"({preflight.arm} against itself scatters by {percent(preflight.scatter[worst])} a launch at "
        f"{format_size(worst)}). Use more --launches or a quieter machine, ask for less (--detect), "
        "or measure anyway with --no-preflight"
    )


def percent(share: float) -> str:
    """Returns "12 %", "3.4 %"."""
    return f"{100 * share:.2g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def _round_medians(cell: Cell) -> dict[int, float]:
    slowest, first, medians = samples(cell.times, cell.batch), 0, {}
    for visit in cell.visits:
        medians[visit.round] = float(np.median(slowest[first : first + visit.num_iterations]))
        first += visit.num_iterations
    return medians
