"""Where a time budget is spent, and what a preflight refuses.

For: ringtree.measure.budget, ringtree.compare.preflight. Not for: running them (test_compare.py).
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from lab_support import make_cell, make_plan

from ringtree.compare.preflight import (
    detectable,
    launch_scatter,
    percent,
    refuse_if_too_noisy,
    trial_plan,
    wants_preflight,
)
from ringtree.compare.too_noisy import TooNoisy
from ringtree.errors import UsageError
from ringtree.measure.budget import MOST_LAUNCHES, PILOT_LAUNCHES, Need, allocate, budgeted_plan, pilot_plan
from ringtree.measure.plan import DEFAULT_LAUNCHES
from ringtree.results import Cell, EmulatedCluster, Preflight, Visit
from ringtree.stats import judge

SIZES = (1024, 4096, 1 << 16)


def test_spare_time_goes_to_the_sizes_that_need_it_least_needy_first() -> None:
    needs = [Need(1, 1.0, None), Need(2, 1.0, 30), Need(3, 1.0, 12), Need(4, 1.0, 5), Need(5, 1.0, MOST_LAUNCHES + 1)]
    base = DEFAULT_LAUNCHES
    assert allocate(needs, 0.0, 1e9) == {1: base, 2: 30, 3: 12, 4: base, 5: base}
    assert allocate(needs, 0.0, 5 * base + 4) == {1: base, 2: base, 3: 12, 4: base, 5: base}
    assert allocate(needs, 0.0, 5 * base + 3) == dict.fromkeys(range(1, 6), base)
    # Each further launch also starts its processes.
    assert allocate(needs, 10.0, 5 * base + 4 + 12 * 10) == {1: base, 2: base, 3: 12, 4: base, 5: base}
    assert allocate(needs, 10.0, 5 * base + 3 + 12 * 10) == dict.fromkeys(range(1, 6), base)


@pytest.mark.parametrize("seed", range(20))
def test_an_allocation_never_exceeds_the_time_unless_the_least_does(seed: int) -> None:
    dice = random.Random(seed)
    needs = [Need(i, dice.uniform(0.1, 2), dice.choice([None, dice.randint(1, 90)])) for i in range(6)]
    start, seconds = dice.uniform(0, 3), dice.uniform(1, 300)
    given = allocate(needs, start, seconds)
    cost = max(given.values()) * start + sum(given[need.size_bytes] * need.seconds for need in needs)
    least = DEFAULT_LAUNCHES * (start + sum(need.seconds for need in needs))
    assert min(given.values()) == DEFAULT_LAUNCHES or all(given.values())
    assert cost <= max(seconds, least) + 1e-9


def test_pilot_and_plan_share_the_budget() -> None:
    plan = make_plan(arms=("ring", "tree"), sizes=SIZES, num_launches=8)
    pilot = pilot_plan(plan, 300.0)
    assert (pilot.purpose, pilot.num_launches) == ("pilot", PILOT_LAUNCHES)
    assert {size.num_launches for size in pilot.sizes} == {PILOT_LAUNCHES}
    after = budgeted_plan(plan, "the-pilot", {1024: 20, 4096: None}, 300.0, 60.0)
    assert (after.purpose, after.pilot, after.time_budget) == ("comparison", "the-pilot", 300.0)
    assert [size.num_launches for size in after.sizes] == [20, DEFAULT_LAUNCHES, DEFAULT_LAUNCHES]
    assert after.num_launches == 20
    with pytest.raises(UsageError, match="too short"):
        pilot_plan(plan, 5.0)


def test_preflight_tries_the_reference_against_itself_at_three_sizes() -> None:
    plan = make_plan(arms=("ring", "tree"), sizes=(8, 16, 1024, 4096, 1 << 28), num_launches=8)
    trial = trial_plan(plan)
    assert [arm.name for arm in trial.arms] == ["tree", "tree"]
    assert [size.size_bytes for size in trial.sizes] == [8, 1024, 4096]
    assert wants_preflight(plan)
    assert not wants_preflight(make_plan(num_launches=5)), "no verdict anyway"
    assert not wants_preflight(make_plan(arms=("a",)))
    cluster = EmulatedCluster(hosts=2, ranks_per_host=1, alpha=1e-3, beta=1e8)
    assert not wants_preflight(make_plan(emulation=cluster))


def cell_of_rounds(medians: list[float]) -> Cell:
    visits = [Visit(round=i, position=i, num_iterations=1) for i in range(len(medians))]
    return make_cell("a", 8, 1.0, times=[medians], visits=visits)


def test_scatter_of_a_launch_from_its_rounds() -> None:
    quiet = cell_of_rounds([1.0] * 8)
    assert launch_scatter(quiet, quiet) == 0.0
    logs = [0.1, -0.1, 0.2, -0.2]
    noisy = cell_of_rounds([math.exp(log) for log in logs])
    deviation = math.sqrt(sum(log * log for log in logs) / 3)
    assert launch_scatter(noisy, cell_of_rounds([1.0] * 4)) == pytest.approx(deviation * 1.2533 / 2, rel=1e-4)


def test_what_can_be_told_grows_with_the_noise_and_shrinks_with_launches() -> None:
    plan = make_plan(num_launches=8)
    found = [detectable(scatter, plan, 4) for scatter in (0.01, 0.05, 0.2)]
    assert found == sorted(found)
    assert plan.margin < found[0] < 0.05
    assert detectable(0.05, make_plan(num_launches=40), 4) < found[1]
    assert detectable(50.0, plan, 4) == math.inf


def test_the_fewest_launches_are_not_taken_for_noise_in_a_family() -> None:
    plan = make_plan(num_launches=6)
    found = detectable(0.05, plan, 4)
    assert found < 0.5
    effects = np.random.default_rng(5).normal(math.log1p(2 * found), 0.05, (6, 4))
    assert [one.verdict for one in judge(effects)] == ["slower"] * 4
    assert detectable(50.0, plan, 4) == math.inf


def test_a_machine_that_is_too_noisy_is_refused_with_what_it_could_tell() -> None:
    plan = make_plan(num_launches=8)
    noisy = Preflight(arm="gloo", scatter={1024: 0.1, 4096: 0.3}, detectable=0.35, asked=0.1, wall_seconds=1.0)
    with pytest.raises(TooNoisy, match=r"differences of 10 %: 8 launches can detect 35 % at best") as error:
        refuse_if_too_noisy(plan, noisy)
    assert "30 % a launch at 4 KB" in str(error.value)
    assert "\n" not in str(error.value)
    refuse_if_too_noisy(plan, noisy.model_copy(update={"asked": 0.4}))
    hopeless = noisy.model_copy(update={"detectable": math.inf})
    with pytest.raises(TooNoisy, match="can detect nothing"):
        refuse_if_too_noisy(plan, hopeless)


def test_percent() -> None:
    assert [percent(share) for share in (0.034, 0.1, 0.35, 2.0)] == ["3.4 %", "10 %", "35 %", "200 %"]
