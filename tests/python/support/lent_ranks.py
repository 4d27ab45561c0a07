"""Launches of several plans in the same rank processes, one after the other.

For: tests of what ranks do with each collective or element type, which need no processes of their own: starting them
takes most of such a test. Not for: tests of how ranks start, end or die, or of what a launch makes of a plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ringtree.measure.messages import SetSpec, SetUp
from ringtree.measure.plan import planned_launches
from ringtree.measure.process_set import CellKey, Visited
from ringtree.measure.rank_set import RankSet, joined
from ringtree.measure.visit_loop import VisitLoop
from ringtree.results import ArmPlan, Boundary, Cell, Plan


class _Lent:
    """A process set of one plan's arms in ranks that run already, and go on afterwards."""

    restarts = 0

    def __init__(self, ranks: RankSet, plan: Plan) -> None:
        self._ranks, self._plan = ranks, plan
        self._prefix = f"{plan.collective} {plan.op} {plan.dtype} "  # apart from the same arms of other plans
        self.arms = [arm.label for arm in plan.arms]
        self.boundary, self.pids = ranks.boundary, ranks.pids

    def start(self) -> None:
        """They have started."""

    def ready(self) -> dict[str, str]:
        said = {arm.label: joined(self._ranks.ask(self._set_up(arm))).error for arm in self._plan.arms}
        return {arm: error for arm, error in said.items() if error is not None}

    def warm_up(self, cell: CellKey, budget: float) -> Visited:
        return self._ranks.warm_up(self._own(cell), budget)

    def visit(self, cell: CellKey, untimed: int, timed: int) -> Visited:
        return self._ranks.visit(self._own(cell), untimed, timed)

    def _set_up(self, arm: ArmPlan) -> SetUp:
        plan = self._plan
        label = self._prefix + arm.label
        return SetUp(arm=label, name=arm.name, collective=plan.collective, op=plan.op, dtype=plan.dtype)

    def _own(self, cell: CellKey) -> CellKey:
        return replace(cell, arm=self._prefix + cell.arm)

    def close(self) -> None:
        """Others may want them."""

    def kill(self) -> None:
        """As close(): who started them ends them."""


@contextmanager
def ranks_to_lend(num_ranks: int, boundary: Boundary) -> Iterator[RankSet]:
    """Starts ranks without an arm; ends them in order, or at once if one has failed."""
    ranks = RankSet([], SetSpec(num_ranks=num_ranks, seed=5, boundary=boundary))
    try:
        ranks.start()
        yield ranks
        ranks.close()
    finally:
        ranks.kill()


def cells_in(ranks: RankSet, plan: Plan) -> Sequence[Cell]:
    """Returns the cells of the plan's one launch, run in `ranks`."""
    [launch] = planned_launches(plan)
    return VisitLoop(plan, launch, [_Lent(ranks, plan)], lambda _: None).run()
