"""How often and how long cells are visited, when they are warm, what all of it costs.

For: ringtree.measure.visits, warm_up and estimate. Not for: running (test_compare.py).
"""

from __future__ import annotations

import itertools

import pytest
from lab_support import make_plan

from ringtree.measure.estimate import cell_budget, cell_seconds, cost_of, start_of, start_seconds
from ringtree.measure.plan import MIN_ROUNDS, size_plan
from ringtree.measure.progress import TimeLeft
from ringtree.measure.visits import Rounds, is_visited, num_iterations, num_rewarming, share_rounds
from ringtree.measure.warm_up import LEAST, MOST, warm_up_ends


def test_quick_cells_are_visited_in_every_round_and_slow_ones_in_few() -> None:
    size = size_plan(1 << 10, 8)
    assert share_rounds(size, [1e-4, 1e-4], 0.3) == Rounds(size.max_rounds, (1, 1))
    assert share_rounds(size, [1.0, 1.0], 0.3) == Rounds(MIN_ROUNDS, (1, 1))
    assert share_rounds(size, [], 0.3).strides == ()
    # Two arms have 0.64 s together. A round with both takes 2 × 0.004 + 0.092 s, as only the quick one is warmed again:
    # 6 of them fit, or 16 of the quick one and 4 of the other.
    assert share_rounds(size, [0.004, 0.092], 0.32, reference=0) == Rounds(16, (1, 4))
    assert share_rounds(size, [0.004, 0.092], 0.32, reference=1) == Rounds(6, (1, 1)), "the reference is always there"


@pytest.mark.parametrize("seconds", [(1e-4, 0.02, 0.3), (0.3, 1e-4, 0.02), (0.04, 0.05, 0.06), (1e-6, 1e-6, 9.0)])
@pytest.mark.parametrize("budget", [0.05, 0.3, 1.0, 20.0])
def test_rounds_of_an_arm_are_among_those_of_the_reference_and_of_cheaper_arms(
    seconds: tuple[float, ...], budget: float
) -> None:
    size = size_plan(8 << 20, 8)
    shared = share_rounds(size, seconds, budget, reference=0)
    assert MIN_ROUNDS <= shared.number <= size.max_rounds
    rounds = [{r for r in range(16) if is_visited(r, shared.number, 16, stride)} for stride in shared.strides]
    assert [len(of_arm) for of_arm in rounds] == [shared.visits(arm) for arm in range(3)]
    assert min(map(len, rounds)) >= MIN_ROUNDS
    assert all(of_arm <= rounds[0] for of_arm in rounds)
    for one, other in itertools.permutations(range(3), 2):
        if seconds[one] <= seconds[other]:
            assert rounds[other] <= rounds[one] or other == 0
    spent = sum(shared.visits(arm) * cost for arm, cost in enumerate(seconds))
    assert spent <= 3 * budget or shared == Rounds(MIN_ROUNDS, (1, 1, 1))


def test_iterations_fill_the_budget_and_leave_room_for_warming() -> None:
    small, large = size_plan(1 << 10, 8), size_plan(64 << 20, 8)
    assert (num_rewarming(small, 0.001), num_rewarming(large, 0.001), num_rewarming(small, 0.01)) == (1, 0, 0)
    assert num_iterations(small, 0.001, 0.041, 8) == 5 - 1
    assert num_iterations(large, 0.001, 0.041, 8) == 5
    assert num_iterations(small, 0.01, 0.41, 8) == 5
    assert num_iterations(small, 1.0, 0.4, 3) == 1
    assert num_iterations(small, 1e-9, 0.4, 8) == small.max_iterations


@pytest.mark.parametrize("rounds", range(1, 17))
def test_visits_are_spread_over_the_launch(rounds: int) -> None:
    visited = [r for r in range(16) if is_visited(r, rounds, 16)]
    assert len(visited) == rounds
    assert visited[0] == 0
    gaps = [b - a for a, b in zip(visited, [*visited[1:], 16], strict=True)]
    assert max(gaps) - min(gaps) <= 1


def test_warm_up_ends_when_times_no_longer_fall_or_the_limits_are_reached() -> None:
    falling = [2.0**-i for i in range(MOST)]
    assert warm_up_ends(8, [1.0], 0.1, 0.0) == "limit", "there is no time for more"
    assert warm_up_ends(8, [1.0], 9.0, 1.0) is None, f"at least {LEAST}"
    assert warm_up_ends(64 << 20, [1.0], 9.0, 1.0) == "limit", "one iteration moves more than the caches hold"
    assert warm_up_ends(8, falling[:6], 0.0, 1.0) is None
    assert warm_up_ends(8, [*falling[:6], 0.03, 0.03, 0.03, 0.03, 0.03, 0.03], 0.0, 1.0) == "stable"
    assert warm_up_ends(8, falling, 0.0, 1.0) == "limit"
    assert warm_up_ends(8, falling[:3], 0.26, 1.0) == "limit"


def test_cost_counts_launches_cells_and_ranks() -> None:
    plan = make_plan(arms=("ring", "tree"), sizes=(1024, 4096), num_launches=5, num_ranks=3)
    cost = cost_of(plan)
    assert cost.num_launches == 5
    assert cost.seconds > 5 * 4 * plan.cell_budget
    assert cost_of(plan.model_copy(update={"num_launches": 10})).seconds > cost.seconds
    assert cell_seconds(plan, 1 << 30) > plan.cell_budget


def test_each_environment_starts_only_its_own_arms() -> None:
    plan = make_plan(arms=("openmpi4", "mpich4", "oneccl"), sizes=(1024,), num_launches=5, num_ranks=4)
    plan = plan.model_copy(update={"boundary": "native"})
    apart = [arm.model_copy(update={"environment": {"A": str(i)}}) for i, arm in enumerate(plan.arms)]
    one = start_seconds(4, "native", ["openmpi4"]) - start_seconds(0, "native")
    assert start_of(plan.model_copy(update={"arms": apart})) == pytest.approx(start_seconds(0, "native") + 3 * one)
    assert start_of(plan) < start_of(plan.model_copy(update={"arms": apart})), "interpreters are shared here"


def test_the_default_budget_fills_the_time_aimed_at() -> None:
    starting = start_seconds(4, "torch")
    few, many = cell_budget(150, 18, starting), cell_budget(150, 60, starting)
    assert 0.05 <= many < few < 1.0
    assert few * 18 * 8 + 8 * starting == pytest.approx(150)
    assert cell_budget(1, 60, starting) == 0.05
    assert cell_budget(1e6, 1, start_seconds(1, "numpy")) == 1.0


def test_time_left_begins_with_the_plan_and_ends_with_the_clock() -> None:
    left = TimeLeft(num_launches=10, expected=100.0)
    assert left.at(0, 0.0, 0.0) == pytest.approx(100.0)
    assert left.at(9, 1.0, 50.0) == pytest.approx(0.0)
    assert left.at(5, 0.0, 25.0) == pytest.approx(5 * (25 + 10) / 6)
    resumed = TimeLeft(num_launches=10, expected=100.0, num_done=8)
    assert resumed.at(8, 0.0, 0.0) == pytest.approx(20.0)
