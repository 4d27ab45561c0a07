"""Rows of near and far: what is held apart, what is held together, what is left out.

For: which rows a comparison has, and that like is only compared with like. Not for: how many rounds a launch needs
(test_lab_cells.py), or figures and verdicts (test_lab_summary.py).
"""

from __future__ import annotations

import pytest
from comparison_support import FAR, NUM_NEAR, jitter, near_then_far, noise, placed_run
from lab_support import NEAR, make_plan

from ringtree.judge.comparison import MIXED
from ringtree.judge.summary import launches_that_decide, summarise


def test_near_and_far_are_rows_of_their_own() -> None:
    # Averaged together the ratios would look alike: half the time near, twice the time far.
    time = {("a", True): 1.0, ("b", True): 2.0, ("a", False): 6.0, ("b", False): 3.0}
    stored = placed_run(
        make_plan(sizes=(1024,), num_launches=8),
        lambda launch, size, arm, round_: time[arm, round_ < NUM_NEAR] * noise(launch, arm, round_),
        near_then_far,
    )
    comparison = summarise(stored)
    assert comparison.placements == ["near", "far"]
    assert [(row.placement, row.judged, row.num_visits) for row in comparison.rows] == [
        ("near", True, 64),
        ("far", True, 48),
    ]
    near, far = (comparison.cell(1024, "a", placement) for placement in ("near", "far"))
    assert near.time is not None
    assert far.time is not None
    assert near.time.median == pytest.approx(1.0, rel=0.01)
    assert far.time.median == pytest.approx(6.0, rel=0.01)
    assert near.versus_reference is not None
    assert far.versus_reference is not None
    assert (near.versus_reference.verdict, far.versus_reference.verdict) == ("faster", "slower")
    assert near.versus_reference.ratio == pytest.approx(0.5, rel=0.02)
    assert far.versus_reference.ratio == pytest.approx(2.0, rel=0.02)
    assert (near.num_iterations, far.num_iterations) == (32, 24)


def test_visits_in_which_the_cores_moved_are_counted_and_in_no_figure() -> None:
    def handoff(launch: int, arm: str, round_: int) -> tuple[float, float]:
        return {0: (NEAR, NEAR), 1: (FAR, FAR), 2: (NEAR, FAR)}[round_ // 3]

    stored = placed_run(
        make_plan(sizes=(1024,)),
        lambda launch, size, arm, round_: 99.0 if round_ == 6 else 1.0,
        handoff,
        num_rounds=7,
    )
    comparison = summarise(stored)
    assert [row.num_moved for row in comparison.rows] == [12, 12]
    assert all(cell.time is not None and cell.time.high == 1.0 for cell in comparison.cells)
    assert any(caveat.startswith("cores moved during 12 of 84 visits") for caveat in comparison.caveats)


def test_rounds_pair_only_like_with_like() -> None:
    # In rounds 0 to 3 of every launch a ran near and b far: the ratio of 0.01 is the placement's, not the arm's. They
    # are more than the rounds that both ran near, 4 to 6, so their median would show it.
    def handoff(launch: int, arm: str, round_: int) -> tuple[float, float]:
        near = (arm == "a") if round_ < 4 else round_ < 7
        return (NEAR, NEAR) if near else (FAR, FAR)

    def seconds(launch: int, size: int, arm: str, round_: int) -> float:
        return 1.0 if arm == "b" else 0.01 if round_ < 4 else 2.0

    comparison = summarise(placed_run(make_plan(sizes=(1024,)), seconds, handoff, num_rounds=10))
    for placement in ("near", "far"):
        versus = comparison.cell(1024, "a", placement).versus_reference
        assert versus is not None
        assert versus.ratio == pytest.approx(2.0)


def test_without_enough_launches_under_any_placement_like_is_compared_with_like() -> None:
    # Three launches near, three far: neither is enough, together they are; the ratio is 3 under both.
    time = {("a", True): 3.0, ("b", True): 1.0, ("a", False): 30.0, ("b", False): 10.0}

    def handoff(launch: int, arm: str, round_: int) -> tuple[float, float]:
        return (NEAR, NEAR) if launch < 3 else (FAR, FAR)

    stored = placed_run(make_plan(), lambda launch, size, arm, round_: time[arm, launch < 3], handoff)
    comparison = summarise(stored)
    assert [(row.placement, row.judged) for row in comparison.rows] == [(MIXED, True), (MIXED, True)]
    versus = comparison.cell(1024, "a").versus_reference
    assert versus is not None
    assert (versus.num_launches, versus.verdict) == (6, "slower")
    assert versus.ratio == pytest.approx(3.0)
    assert any("pair near with near" in caveat and "1 KB, 4 KB" in caveat for caveat in comparison.caveats)


def test_mixed_rows_never_pair_near_with_far() -> None:
    # Launches 0 to 2 are near and 3 to 5 far, but after round 0 b is where a is not, and ten times as slow there.
    def handoff(launch: int, arm: str, round_: int) -> tuple[float, float]:
        near = (launch < 3) != (round_ > 0 and arm == "b")
        return (NEAR, NEAR) if near else (FAR, FAR)

    comparison = summarise(
        placed_run(
            make_plan(sizes=(1024,)),
            lambda launch, size, arm, round_: 2.0 if arm == "a" else 20.0 if round_ > 0 else 1.0,
            handoff,
            num_rounds=3,
        )
    )
    versus = comparison.cell(1024, "a", MIXED).versus_reference
    assert versus is not None
    assert (versus.low, versus.high) == (pytest.approx(2.0), pytest.approx(2.0))


def test_mixed_rows_leave_out_visits_in_which_the_cores_moved() -> None:
    def handoff(launch: int, arm: str, round_: int) -> tuple[float, float]:
        if round_ == 2:
            return (NEAR, FAR)
        return (NEAR, NEAR) if launch < 3 else (FAR, FAR)

    comparison = summarise(
        placed_run(
            make_plan(sizes=(1024,)), lambda launch, size, arm, r: 99.0 if r == 2 else 1.0, handoff, num_rounds=3
        )
    )
    cell = comparison.cell(1024, "a", MIXED)
    assert cell.time is not None
    assert (cell.time.high, cell.num_iterations) == (1.0, 12)


@pytest.mark.parametrize("num_near", [2, 3])
def test_where_no_placement_has_enough_the_row_with_most_launches_is_shown(num_near: int) -> None:
    comparison = summarise(
        placed_run(
            make_plan(sizes=(1024,), num_launches=5),
            lambda *_: 1.0,
            lambda launch, arm, round_: (NEAR, NEAR) if launch < num_near else (FAR, FAR),
        )
    )
    assert [(row.placement, row.judged, row.shown) for row in comparison.rows] == [(MIXED, False, True)]


def test_a_few_launches_of_a_few_rounds_still_show_their_times() -> None:
    comparison = summarise(
        placed_run(
            make_plan(sizes=(1024,), num_launches=3),
            lambda launch, size, arm, round_: 1.0 + 0.01 * launch * (arm == "a"),
            lambda launch, arm, round_: (NEAR, NEAR) if round_ < 2 else (FAR, FAR),
            num_rounds=4,
        )
    )
    assert [row.placement for row in comparison.rows] == [MIXED]
    assert all(cell.time is not None for cell in comparison.cells)
    assert launches_that_decide(comparison)[1024] is not None


def test_a_placement_with_too_few_rounds_is_named_and_not_passed_over() -> None:
    comparison = summarise(
        placed_run(
            make_plan(sizes=(1024,), num_launches=8),
            lambda *_: 1.0,
            lambda launch, arm, round_: (NEAR, NEAR) if round_ < 5 else (FAR, FAR),
        )
    )
    rows = {row.placement: (row.judged, row.shown, row.num_visits) for row in comparison.rows}
    assert rows == {"near": (True, True, 8 * 2 * 5), "far": (False, False, 8 * 2 * 2)}
    assert any("far cores at 1 KB: too few launches" in caveat for caveat in comparison.caveats)


def test_too_few_launches_stay_apart_and_unjudged() -> None:
    comparison = summarise(placed_run(make_plan(sizes=(1024,), num_launches=5), lambda *_: 1.0, near_then_far))
    assert [(row.placement, row.judged, row.shown) for row in comparison.rows] == [
        ("near", False, True),
        ("far", False, True),
    ]


def test_a_placement_that_is_not_judged_is_no_part_of_the_family() -> None:
    def handoff(launch: int, arm: str, round_: int) -> tuple[float, float]:
        return (FAR, FAR) if round_ >= NUM_NEAR and launch < 3 else (NEAR, NEAR)

    comparison = summarise(placed_run(make_plan(sizes=(1024,)), lambda launch, *_: jitter(launch), handoff))
    assert [(row.placement, row.judged, row.shown) for row in comparison.rows] == [
        ("near", True, True),
        ("far", False, False),
    ]
    assert comparison.cell(1024, "a", "far").versus_reference is None
    assert comparison.cell(1024, "a", "far").time is not None
    versus = comparison.cell(1024, "a", "near").versus_reference
    assert versus is not None
    assert versus.num_comparisons == 1
    assert (
        "far cores at 1 KB: too few launches with at least 3 rounds there, not judged (see --json)"
        in comparison.caveats
    )
