"""How many rounds a launch must have under a placement to count there.

For: RunCells of ringtree.judge.cells, and which rows follow from it. Not for: verdicts or text (test_lab_summary.py).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from comparison_support import FAR, placed_run, stored_run
from lab_support import NEAR, make_cell, make_launch, make_plan, make_visits

from ringtree.judge.cells import RunCells
from ringtree.judge.comparison import MIXED
from ringtree.judge.summary import summarise
from ringtree.results import ArmPlan, StoredRun

KB, LAUNCHES = 1 << 10, set(range(6))
Near = Callable[[int, str, int], bool]


def placed(near: Near, num_rounds: int = 8) -> StoredRun:
    """Six launches of a and b at 1 KB; `near(launch, arm, round)`: else far. a takes twice the time of b everywhere,
    and both three times as long on far cores."""
    return placed_run(
        make_plan(sizes=(KB,)),
        lambda launch, size, arm, r: (2.0 if arm == "a" else 1.0) * (1.0 if near(launch, arm, r) else 3.0),
        lambda launch, arm, r: (NEAR, NEAR) if near(launch, arm, r) else (FAR, FAR),
        num_rounds,
    )


@pytest.mark.parametrize(("num_near", "near_launches"), [(2, LAUNCHES - {0}), (3, LAUNCHES)])
def test_a_placement_counts_from_three_rounds_on(num_near: int, near_launches: set[int]) -> None:
    # Launch 0 ran near in its first rounds only, the others in half of theirs.
    stored = placed(lambda launch, arm, r: r < (num_near if launch == 0 else 4))
    cells = RunCells(stored)
    for arm in "ab":
        assert set(cells.pooled(KB, arm, "near")) == set(cells.medians(KB, arm, "near")) == near_launches
        assert set(cells.medians(KB, arm, "far")) == LAUNCHES
    assert set(cells.effects(KB, "a", "b", "near")) == set(cells.effects(KB, "b", "a", "near")) == near_launches
    assert cells.effects(KB, "a", "b", "far") == pytest.approx(dict.fromkeys(LAUNCHES, np.log(2)))
    assert cells.effects(KB, "b", "a", "far") == pytest.approx(dict.fromkeys(LAUNCHES, -np.log(2)))
    # Six launches are the least for a verdict.
    assert [(row.placement, row.judged) for row in summarise(stored).rows] == [
        ("near", near_launches == LAUNCHES),
        ("far", True),
    ]
    near = summarise(stored).cell(KB, "a", "near")
    assert near.time is not None
    assert near.time.num_launches == len(near_launches)


def test_an_effect_needs_three_rounds_of_both_arms_together() -> None:
    # Both arms ran near three times in launch 0, but only twice in the same round.
    cells = RunCells(placed(lambda launch, arm, r: r < 4 if launch else r < 2 or r == (2 if arm == "a" else 3)))
    assert set(cells.medians(KB, "a", "near")) == set(cells.medians(KB, "b", "near")) == LAUNCHES
    assert set(cells.effects(KB, "a", "b", "near")) == LAUNCHES - {0}
    assert set(cells.effects(KB, "a", "b", "far")) == LAUNCHES


def test_like_for_like_one_round_suffices() -> None:
    # Both arms ran near in round 0, in round 1 one near and one far: neither placement has three rounds of anything.
    stored = placed(lambda launch, arm, r: r == 0 or arm == "a", num_rounds=2)
    cells = RunCells(stored)
    for placement in ("near", "far"):
        assert not cells.medians(KB, "a", placement)
        assert not cells.effects(KB, "a", "b", placement)
    assert cells.effects(KB, "a", "b", MIXED) == pytest.approx(dict.fromkeys(LAUNCHES, np.log(2)))
    assert set(cells.medians(KB, "a", MIXED)) == LAUNCHES
    assert [(row.placement, row.judged) for row in summarise(stored).rows] == [(MIXED, True)]


@pytest.mark.parametrize("handoff", [(NEAR, NEAR), (NEAR, 1.1 * NEAR), None])
def test_with_one_class_one_round_suffices(handoff: tuple[float, float] | None) -> None:
    stored = placed_run(
        make_plan(sizes=(KB,)),
        lambda launch, size, arm, r: 2.0 if arm == "a" else 1.0,
        lambda *_: handoff,
        num_rounds=1,
    )
    cells = RunCells(stored)
    assert cells.placements == ("",)
    assert cells.effects(KB, "a", "b", "") == pytest.approx(dict.fromkeys(LAUNCHES, np.log(2)))
    assert set(cells.medians(KB, "b", "")) == LAUNCHES
    assert [row.judged for row in summarise(stored).rows] == [True]


def own_launches(near: dict[str, int]) -> StoredRun:
    """Six blocks of a launch for each arm; in block 0 only `near[arm]` of its five visits are near, else three are."""
    arms = [ArmPlan(label=arm, name=arm, environment={"X": "1"} if arm == "a" else {}) for arm in "ab"]
    launches = []
    for block in range(6):
        for place, arm in enumerate("ab"):
            num_near = 3 if block else near[arm]
            visits = [
                visit.model_copy(update={"handoff": (NEAR, NEAR) if visit.round < num_near else (FAR, FAR)})
                for visit in make_visits(5)
            ]
            seconds = [(2.0 if arm == "a" else 1.0) * (1.0 if visit.round < num_near else 3.0) for visit in visits]
            cell = make_cell(arm, KB, 1.0, times=[seconds] * 2, visits=visits)
            launches.append(make_launch(2 * block + place, [cell], block=block, arms=[arm]))
    return stored_run(make_plan(sizes=(KB,)).model_copy(update={"arms": arms}), launches)


@pytest.mark.parametrize(
    ("near", "counts"), [({"a": 3, "b": 3}, True), ({"a": 2, "b": 3}, False), ({"a": 3, "b": 2}, False)]
)
def test_arms_with_launches_of_their_own_need_three_visits_each(near: dict[str, int], counts: bool) -> None:
    cells = RunCells(own_launches(near))
    assert set(cells.effects(KB, "a", "b", "near")) == (LAUNCHES if counts else LAUNCHES - {0})
    for arm, num_near in near.items():
        assert set(cells.medians(KB, arm, "near")) == (LAUNCHES if num_near == 3 else LAUNCHES - {0})


def test_arms_with_launches_of_their_own_need_one_visit_each_like_for_like() -> None:
    cells = RunCells(own_launches({"a": 1, "b": 1}))
    # Near with near and far with far, so the ratio is 2 however many visits there are of either.
    assert cells.effects(KB, "a", "b", MIXED) == pytest.approx(dict.fromkeys(LAUNCHES, np.log(2)))
    alone = RunCells(own_launches({"a": 5, "b": 1}))
    assert alone.effects(KB, "a", "b", MIXED)[0] == pytest.approx(np.log(2)), "five near visits against one"
