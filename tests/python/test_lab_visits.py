"""How often and how long cells are visited, when they are warm, what all of it costs.

For: ringtree.lab.visits, warm_up and estimate. Not for: running (test_compare.py).
"""

from __future__ import annotations

import pytest
from lab_support import make_plan

from ringtree.lab.estimate import cell_budget, cell_seconds, cost_of, start_seconds
from ringtree.lab.plan import MIN_ROUNDS, size_plan
from ringtree.lab.progress import TimeLeft
from ringtree.lab.visits import is_visited, num_iterations, num_rewarming, num_rounds
from ringtree.lab.warm_up import LEAST, MOST, warm_up_ends


def test_quick_cells_are_visited_in_every_round_and_slow_ones_in_few() -> None:
    size = size_plan(1 << 10, 8)
    assert num_rounds(size, [1e-4, 1e-4], 0.3) == size.max_rounds
    assert num_rounds(size, [1.0, 1.0], 0.3) == MIN_ROUNDS
    # Two arms have 0.64 s together; a round takes 2 × 0.004 + 0.092 s, as only the quick one is warmed again.
    assert num_rounds(size, [0.004, 0.092], 0.32) == 6
    assert num_rounds(size, [], 0.3) == MIN_ROUNDS


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
    assert cost.rank_hours == pytest.approx(cost.seconds * 3 / 3600)
    assert cost_of(plan.model_copy(update={"num_launches": 10})).seconds > cost.seconds
    assert cell_seconds(plan, 1 << 30) > plan.cell_budget


def test_the_default_budget_fills_the_time_aimed_at() -> None:
    few, many = cell_budget(150, 18, 4, True), cell_budget(150, 60, 4, True)
    assert 0.05 <= many < few < 1.0
    assert few * 18 * 8 + 8 * start_seconds(4, True) == pytest.approx(150)
    assert cell_budget(1, 60, 4, True) == 0.05
    assert cell_budget(1e6, 1, 1, False) == 1.0


def test_time_left_begins_with_the_plan_and_ends_with_the_clock() -> None:
    left = TimeLeft(num_launches=10, expected=100.0)
    assert left.at(0, 0.0, 0.0) == pytest.approx(100.0)
    assert left.at(9, 1.0, 50.0) == pytest.approx(0.0)
    assert left.at(5, 0.0, 25.0) == pytest.approx(5 * (25 + 10) / 6)
    resumed = TimeLeft(num_launches=10, expected=100.0, num_done=8)
    assert resumed.at(8, 0.0, 0.0) == pytest.approx(20.0)
