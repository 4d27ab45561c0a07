"""Helpers of the tests of factors: runs of designs whose times are made up.

For: test_lab_factors.py and the pages that show effects. Not for: assertions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lab_support import make_plan, make_stored

from ringtree.measure.factors import factorial_design
from ringtree.measure.plan import label_arms
from ringtree.results import Plan, StoredRun


def design_plan(
    factors: Sequence[str], fraction: str | None = None, sizes: Sequence[int] = (1024,), num_launches: int = 8
) -> Plan:
    """The plan of a design on the made-up arm "x"."""
    found = factorial_design(factors, fraction, "x")
    assert found is not None
    plan = make_plan(sizes=sizes, num_launches=num_launches)
    arms = label_arms(found[1])
    changes = {"arms": arms, "reference": arms[0].label, "design": found[0]}
    return Plan.model_validate(plan.model_dump() | changes)


def design_run(plan: Plan, seconds: Callable[[int, int, Mapping[str, str]], float]) -> StoredRun:
    """A run in which `seconds(launch, size, variables of the arm)` is every sample of a cell."""
    variables = {arm.label: arm.environment for arm in plan.arms}
    return make_stored(plan, lambda launch, size, arm: seconds(launch, size, variables[arm]))
