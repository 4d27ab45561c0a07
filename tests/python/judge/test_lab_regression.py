"""A run against an earlier one: what is found, what is not, what can't be compared.

For: ringtree.judge.regression. Not for: the test behind it (test_stats_regression.py) or exit codes (test_cli_show.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from comparison_support import FAR, NUM_NEAR, near_then_far, noise, placed_run
from lab_support import NEAR, make_plan, make_stored

from ringtree.errors import UsageError
from ringtree.judge.comparison import MIXED, Regressed, Regression
from ringtree.judge.regression import compare_with_baseline, regression_lines
from ringtree.results import ArmPlan, EmulatedCluster, StoredRun

KB = 1 << 10


def run(
    factor: Callable[[int, str], float], *, run_id: str = "now", changes: dict[str, Any] | None = None, **plan: Any
) -> StoredRun:
    """Cells take factor(size, arm) seconds, scattered by ±0.5 % in another way for each run."""
    fields = {"num_launches": 8, **plan}
    planned = make_plan(**fields).model_copy(update=changes or {})
    stored = make_stored(planned, lambda launch, size, arm: factor(size, arm) * noise(launch, size, arm, run_id))
    return renamed(stored, run_id)


def renamed(stored: StoredRun, run_id: str) -> StoredRun:
    return StoredRun(stored.path, stored.run.model_copy(update={"run_id": run_id}), stored.launches, stored.notes)


def disqualified(stored: StoredRun, arm: str, *sizes: int) -> StoredRun:
    """The same run, but for a first launch in which the arm was not verified at these sizes."""
    first, *others = stored.launches
    cells = [
        cell.model_copy(update={"verified": False}) if cell.arm == arm and cell.size_bytes in sizes else cell
        for cell in first.cells
    ]
    return StoredRun(stored.path, stored.run, [first.model_copy(update={"cells": cells}), *others], stored.notes)


def slower(regression: Regression) -> list[tuple[int, str]]:
    return [(cell.size_bytes, cell.arm) for cell in regression.cells if cell.verdict == "slower"]


def one(regression: Regression, size_bytes: int, arm: str, placement: str = "") -> Regressed:
    wanted = (size_bytes, arm, placement)
    return next(cell for cell in regression.cells if (cell.size_bytes, cell.arm, cell.placement) == wanted)


def test_the_same_again_is_no_regression() -> None:
    found = compare_with_baseline(run(lambda *_: 1.0), run(lambda *_: 1.0, run_id="then"))
    assert not found.regressed
    assert [(cell.size_bytes, cell.arm) for cell in found.cells] == [(KB, "a"), (4 * KB, "a")]
    first, *_ = regression_lines(found)
    assert first.startswith(
        "no slowdown of more than 2 % against then is shown in 2 cells; the intervals allow for up to 1.0"
    )
    assert "equal" not in first


def test_an_arm_that_became_slower_is_found_where_it_did() -> None:
    now = run(lambda size, arm: 1.1 if (size, arm) == (4 * KB, "a") else 1.0)
    found = compare_with_baseline(now, run(lambda *_: 1.0, run_id="then"))
    assert found.regressed
    assert slower(found) == [(4 * KB, "a")]
    cell = one(found, 4 * KB, "a")
    assert cell.relative_to == "b"
    assert cell.ratio == pytest.approx(1.1, rel=0.01)
    line, *_ = regression_lines(found)
    assert line.startswith("slower than in then: a at 4 KB relative to b, 1.1")


def test_what_became_faster_is_no_regression() -> None:
    assert not compare_with_baseline(run(lambda *_: 0.5), run(lambda *_: 1.0, run_id="then")).regressed


def test_a_slower_machine_is_no_regression() -> None:
    found = compare_with_baseline(run(lambda *_: 1.5), run(lambda *_: 1.0, run_id="then"))
    assert not found.regressed
    assert {(cell.arm, cell.relative_to) for cell in found.cells} == {("a", "b")}
    assert one(found, KB, "a").ratio == pytest.approx(1.0, rel=0.01)
    assert (
        "times relative to b are compared and b itself is not: a slowdown of all arms alike would not show"
    ) in found.caveats


def test_an_arm_that_became_slower_is_found_on_a_slower_machine_too() -> None:
    now = run(lambda size, arm: 1.5 * (1.1 if arm == "a" else 1.0))
    found = compare_with_baseline(now, run(lambda *_: 1.0, run_id="then"))
    assert slower(found) == [(KB, "a"), (4 * KB, "a")]
    assert one(found, KB, "a").ratio == pytest.approx(1.1, rel=0.01)


def test_a_faster_reference_makes_the_others_slower_and_is_named() -> None:
    now = run(lambda size, arm: 0.8 if arm == "b" else 1.0)
    found = compare_with_baseline(now, run(lambda *_: 1.0, run_id="then"))
    assert one(found, KB, "a").ratio == pytest.approx(1 / 0.8, rel=0.01)
    assert all("relative to b" in line for line in regression_lines(found) if line.startswith("slower"))


def test_a_single_arm_is_compared_by_plain_times() -> None:
    now, then = run(lambda *_: 1.5, arms=("b",)), run(lambda *_: 1.0, run_id="then", arms=("b",))
    found = compare_with_baseline(now, then)
    assert slower(found) == [(KB, "b"), (4 * KB, "b")]
    assert {cell.relative_to for cell in found.cells} == {None}
    assert one(found, KB, "b").ratio == pytest.approx(1.5, rel=0.01)
    assert found.caveats == [
        "b: plain times are compared, as no other arm is in both runs: a busier or slower machine shows there too"
    ]


def test_a_reference_that_is_the_only_common_arm_is_compared_by_plain_times() -> None:
    # As with --arms ring,ring+10% against --arms ring,ring: the second arms are not the same.
    changes = {"reference": "ring"}
    now = run(lambda size, arm: 1.5, arms=("ring", "ring+10%"), changes=changes)
    then = run(lambda *_: 1.0, run_id="then", arms=("ring", "ring#2"), changes=changes)
    found = compare_with_baseline(now, then)
    assert {(cell.arm, cell.relative_to) for cell in found.cells} == {("ring", None)}
    assert one(found, KB, "ring").ratio == pytest.approx(1.5, rel=0.01)
    assert found.caveats == [
        "not in the baseline, so not compared: ring+10%",
        "ring: plain times are compared, as no other arm is in both runs: a busier or slower machine shows there too",
    ]


def test_without_a_common_reference_plain_times_are_compared() -> None:
    now = run(lambda size, arm: 1.2 if arm == "a" else 1.0, arms=("b", "a"))
    found = compare_with_baseline(now, run(lambda *_: 1.0, run_id="then"))
    assert {cell.relative_to for cell in found.cells} == {None}
    assert {arm for _, arm in slower(found)} == {"a"}
    assert found.caveats == [
        "b, a: plain times are compared, as the runs have different references: "
        "a busier or slower machine shows there too"
    ]


def test_only_what_both_have_is_compared() -> None:
    now = run(lambda *_: 1.0, arms=("a", "new", "b"), sizes=(KB, 8 * KB))
    then = run(lambda *_: 1.0, run_id="then", sizes=(KB, 4 * KB))
    found = compare_with_baseline(now, then)
    assert [(cell.size_bytes, cell.arm) for cell in found.cells] == [(KB, "a")]
    assert "not in the baseline, so not compared: new, 8 KB" in found.caveats
    with pytest.raises(UsageError, match="then measured nothing"):
        compare_with_baseline(run(lambda *_: 1.0, sizes=(64,)), then)


@pytest.mark.parametrize(
    ("changed", "kept", "why"),
    [("a", "b", "no other arm is in both runs"), ("b", "a", "the runs have different references")],
)
def test_the_same_label_with_another_environment_is_another_arm(changed: str, kept: str, why: str) -> None:
    arms = [ArmPlan(label=arm, name=arm, environment={"X": "2"} if arm == changed else {}) for arm in "ab"]
    found = compare_with_baseline(run(lambda *_: 1.0, changes={"arms": arms}), run(lambda *_: 1.0, run_id="then"))
    assert {(cell.arm, cell.relative_to) for cell in found.cells} == {(kept, None)}
    assert f"not in the baseline, so not compared: {changed}" in found.caveats
    assert any(f"{kept}: plain times are compared, as {why}" in caveat for caveat in found.caveats)


def test_a_reference_with_another_environment_is_no_common_reference() -> None:
    names = ("c", "a", "b")
    arms = [ArmPlan(label=arm, name=arm, environment={"X": "2"} if arm == "b" else {}) for arm in names]
    now = run(lambda *_: 1.0, arms=names, changes={"arms": arms})
    found = compare_with_baseline(now, run(lambda *_: 1.0, run_id="then", arms=names))
    assert {(cell.arm, cell.relative_to) for cell in found.cells} == {("c", None), ("a", None)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dtype": "float64"}, "dtype is float64, was float32"),
        ({"collective": "broadcast"}, "collective is broadcast, was all_reduce"),
        ({"num_ranks": 3}, "number of ranks is 3, was 2"),
        (
            {"emulation": EmulatedCluster(hosts=2, ranks_per_host=1, alpha=1e-3, beta=2e7)},
            "emulated cluster is 2x1, 0.001 s, 2e+07 bytes/s, was none",
        ),
    ],
)
def test_another_question_can_not_be_compared(changes: dict[str, Any], said: str) -> None:
    now, then = run(lambda *_: 1.0), run(lambda *_: 1.0, run_id="then")
    changed = now.run.model_copy(update={"plan": now.run.plan.model_copy(update=changes)})
    with pytest.raises(UsageError) as error:
        compare_with_baseline(StoredRun(now.path, changed, now.launches, []), then)
    assert str(error.value) == f"then measured something else: {said}"


def test_another_machine_is_said_and_another_commit_is_the_point() -> None:
    now, then = run(lambda *_: 1.0), run(lambda *_: 1.0, run_id="then")
    provenance = now.run.provenance.model_copy(update={"host_name": "other", "git_commit": "abc"})
    moved = StoredRun(now.path, now.run.model_copy(update={"provenance": provenance}), now.launches, [])
    caveats = compare_with_baseline(moved, then).caveats
    assert any("the host was" in caveat for caveat in caveats)
    assert not any("commit" in caveat for caveat in caveats)
    assert not any("host" in caveat for caveat in compare_with_baseline(now, then).caveats)


def test_placements_are_matched_by_name() -> None:
    plan = make_plan(num_launches=8, sizes=(KB,))

    def placed(far_factor: float, run_id: str) -> StoredRun:
        def seconds(launch: int, size: int, arm: str, round_: int) -> float:
            slow = far_factor if arm == "a" and round_ >= NUM_NEAR else 1.0
            return (1.0 if round_ < NUM_NEAR else 4.0) * slow * noise(launch, arm, round_, run_id)

        return renamed(placed_run(plan, seconds, near_then_far), run_id)

    found = compare_with_baseline(placed(1.2, "now"), placed(1.0, "then"))
    assert [(cell.arm, cell.placement) for cell in found.cells if cell.verdict == "slower"] == [("a", "far")]
    assert one(found, KB, "a", "near").ratio == pytest.approx(1.0, rel=0.01)


def test_a_run_of_one_class_is_matched_by_its_hand_off() -> None:
    # The baseline saw near and far; the run now only one: it must not be held against times of the other.
    plan = make_plan(num_launches=8, sizes=(KB,), arms=("b",))

    def seconds(launch: int, size: int, arm: str, round_: int, run_id: str, far: bool) -> float:
        return (4.0 if far else 1.0) * noise(launch, arm, round_, run_id)

    then = placed_run(plan, lambda *what: seconds(*what, "then", what[3] >= NUM_NEAR), near_then_far)
    for handoff, far in ((FAR, True), (NEAR, False)):
        now = placed_run(plan, lambda *what, far=far: seconds(*what, "now", far), lambda *_, h=handoff: (h, h))
        found = compare_with_baseline(now, then)
        assert not found.regressed
        assert one(found, KB, "b").ratio == pytest.approx(1.0, rel=0.02)
        turned = compare_with_baseline(then, now)
        assert one(turned, KB, "b", "far" if far else "near").ratio == pytest.approx(1.0, rel=0.02)


def test_ratios_of_a_run_of_one_class_are_matched_by_its_hand_off() -> None:
    # a takes twice as long as b on far cores and as long as b on near ones, then and now.
    plan = make_plan(num_launches=8, sizes=(KB,))

    def seconds(launch: int, size: int, arm: str, round_: int, run_id: str, far: bool) -> float:
        return (2.0 if far and arm == "a" else 1.0) * noise(launch, arm, round_, run_id)

    then = placed_run(plan, lambda *what: seconds(*what, "then", what[3] >= NUM_NEAR), near_then_far)
    for handoff, far in ((FAR, True), (NEAR, False)):
        now = placed_run(plan, lambda *what, far=far: seconds(*what, "now", far), lambda *_, h=handoff: (h, h))
        assert one(compare_with_baseline(now, then), KB, "a").ratio == pytest.approx(1.0, rel=0.02)


def test_like_is_compared_with_like_if_a_placement_is_too_rare() -> None:
    plan = make_plan(num_launches=8, sizes=(KB,))
    half = placed_run(
        plan,
        lambda launch, size, arm, round_: noise(launch, arm, round_),
        lambda launch, arm, round_: (NEAR, NEAR) if launch < 4 else (FAR, FAR),
    )
    found = compare_with_baseline(half, renamed(half, "then"))
    assert {cell.placement for cell in found.cells} == {MIXED}


def test_placements_that_the_other_run_lacks_are_compared_like_with_like() -> None:
    # Now mostly near, then mostly far: neither may be held against the other.
    plan = make_plan(num_launches=8, sizes=(KB,))

    def placed(common: float, rare: float) -> StoredRun:
        return placed_run(
            plan,
            lambda launch, size, arm, round_: noise(launch, arm, round_),
            lambda launch, arm, round_: (rare, rare) if round_ >= NUM_NEAR and launch < 3 else (common, common),
        )

    found = compare_with_baseline(placed(NEAR, FAR), renamed(placed(FAR, NEAR), "then"))
    assert {cell.placement for cell in found.cells} == {MIXED}


def test_a_disqualified_cell_is_not_compared() -> None:
    now, then = run(lambda *_: 1.0), run(lambda *_: 1.0, run_id="then")
    found = compare_with_baseline(disqualified(now, "a", KB), then)
    assert [(cell.size_bytes, cell.arm) for cell in found.cells] == [(4 * KB, "a")]
    assert "a is disqualified here at 1 KB, so it is not compared there" in found.caveats
    found = compare_with_baseline(now, disqualified(then, "a", KB))
    assert [(cell.size_bytes, cell.arm) for cell in found.cells] == [(4 * KB, "a")]
    assert "a is disqualified in the baseline at 1 KB, so it is not compared there" in found.caveats
    with pytest.raises(UsageError) as error:
        compare_with_baseline(disqualified(now, "a", KB, 4 * KB), then)
    assert str(error.value) == (
        "no cell can be compared with then: a is disqualified here at 1 KB, 4 KB, so it is not compared there"
    )


def test_a_disqualified_reference_leaves_nothing_to_compare() -> None:
    # Three times as long: plain times instead would show a regression that may be the machine's.
    now, then = run(lambda *_: 3.0), run(lambda *_: 1.0, run_id="then")
    for where, pair in (
        ("here", (disqualified(now, "b", KB), then)),
        ("in the baseline", (now, disqualified(then, "b", KB))),
    ):
        found = compare_with_baseline(*pair)
        assert not found.regressed
        assert [(cell.size_bytes, cell.arm, cell.relative_to) for cell in found.cells] == [(4 * KB, "a", "b")]
        assert f"b is disqualified {where} at 1 KB, so nothing is compared there" in found.caveats
    with pytest.raises(UsageError) as error:
        compare_with_baseline(now, disqualified(then, "b", KB, 4 * KB))
    assert str(error.value) == (
        "no cell can be compared with then: b is disqualified in the baseline at 1 KB, 4 KB, "
        "so nothing is compared there"
    )


def test_a_disqualified_single_arm_is_not_compared() -> None:
    now, then = run(lambda *_: 1.0, arms=("b",)), run(lambda *_: 1.0, run_id="then", arms=("b",))
    found = compare_with_baseline(disqualified(now, "b", KB), then)
    assert [(cell.size_bytes, cell.arm) for cell in found.cells] == [(4 * KB, "b")]
    assert "b is disqualified here at 1 KB, so it is not compared there" in found.caveats


def test_a_record_does_not_contradict_itself() -> None:
    found = compare_with_baseline(run(lambda *_: 1.0), run(lambda *_: 1.0, run_id="then"))
    with pytest.raises(ValueError, match="regressed if and only if"):
        Regression.model_validate({**found.model_dump(), "regressed": True})
    assert Regression.model_validate_json(found.model_dump_json()) == found
