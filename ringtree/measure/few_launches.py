"""Says before anything runs that a plan has too few launches to decide anything.

For: the line. Not for: how many launches a difference needs beyond the least (ringtree.stats, compare's preflight).
"""

from __future__ import annotations

from ringtree.results import Plan
from ringtree.stats import least_launches
from ringtree.units import count


def few_launches(plan: Plan) -> str | None:
    """Returns the line; None where launches suffice, a pilot decides on them, or nothing is compared."""
    planned, least = max((size.num_launches for size in plan.sizes), default=0), least_launches(plan.level)
    judged = [arm for arm in plan.arms if plan.training is None or arm.label != plan.training.alone]
    if planned >= least or plan.time_budget is not None or len(judged) < 2:
        return None
    return (
        f"{count(planned, 'launch')} can't decide any comparison: a verdict at {100 * plan.level:g} % needs "
        f"at least --launches {least}"
    )
