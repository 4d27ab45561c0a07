"""A run against an earlier one: what is found, what is not, what can't be compared.

For: ringtree.lab.regression. Not for: the test behind it (test_stats_regression.py) or exit codes (test_cli_show.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from comparison_support import FAR, near_then_far, noise, placed_run
from lab_support import NEAR, make_plan, make_stored

from ringtree.errors import UsageError
from ringtree.lab.comparison import MIXED, Regressed, Regression
from ringtree.lab.regression import compare_with_baseline, regression_lines
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


def slower(regression: Regression) -> list[tuple[int, str]]:
    return [(cell.size_bytes, cell.arm) for cell in regression.cells if cell.verdict == "slower"]


def one(regression: Regression, size_bytes: int, arm: str, placement: str = "") -> Regressed:
    wanted = (size_bytes, arm, placement)
    return next(cell for cell in regression.cells if (cell.size_bytes, cell.arm, cell.placement) == wanted)


def test_the_same_again_is_no_regression() -> None:
    found = compare_with_baseline(run(lambda *_: 1.0), run(lambda *_: 1.0, run_id="then"))
    assert not found.regressed
    assert len(found.cells) == 4
    first, *_ = regression_lines(found)
    assert first.startswith(
        "no slowdown of more than 2 % against then is shown in 4 cells; the intervals leave room for 1.0"
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


def test_a_slower_machine_cancels_in_what_is_relative_and_is_said_of_the_reference() -> None:
    found = compare_with_baseline(run(lambda *_: 1.5), run(lambda *_: 1.0, run_id="then"))
    assert {arm for _, arm in slower(found)} == {"b"}, "only the reference itself is compared by its plain times"
    assert one(found, KB, "a").ratio == pytest.approx(1.0, rel=0.01)
    assert one(found, KB, "b").ratio == pytest.approx(1.5, rel=0.01)
    assert "b: plain times are compared, as it is the reference: a busier or slower machine shows there too" in (
        found.caveats
    )


def test_without_a_common_reference_plain_times_are_compared() -> None:
    now = run(lambda size, arm: 1.2 if arm == "a" else 1.0, arms=("b", "a"))
    found = compare_with_baseline(now, run(lambda *_: 1.0, run_id="then"))
    assert {cell.relative_to for cell in found.cells} == {None}
    assert {arm for _, arm in slower(found)} == {"a"}
    assert any("different references" in caveat for caveat in found.caveats)


def test_only_what_both_have_is_compared() -> None:
    now = run(lambda *_: 1.0, arms=("a", "new", "b"), sizes=(KB, 8 * KB))
    then = run(lambda *_: 1.0, run_id="then", sizes=(KB, 4 * KB))
    found = compare_with_baseline(now, then)
    assert [(cell.size_bytes, cell.arm) for cell in found.cells] == [(KB, "a"), (KB, "b")]
    assert "not in the baseline, so not compared: new, 8 KB" in found.caveats
    with pytest.raises(UsageError, match="then measured nothing"):
        compare_with_baseline(run(lambda *_: 1.0, sizes=(64,)), then)


def test_the_same_label_with_another_environment_is_another_arm() -> None:
    arms = [ArmPlan(label="a", name="a", environment={"OMP_NUM_THREADS": "2"}), ArmPlan(label="b", name="b")]
    now = run(lambda *_: 1.0, changes={"arms": arms})
    assert {cell.arm for cell in compare_with_baseline(now, run(lambda *_: 1.0, run_id="then")).cells} == {"b"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dtype": "float64"}, "dtype is float64, there float32"),
        ({"collective": "broadcast"}, "collective is broadcast, there all_reduce"),
        ({"num_ranks": 3}, "number of ranks is 3, there 2"),
        (
            {"emulation": EmulatedCluster(hosts=2, ranks_per_host=1, alpha=1e-3, beta=2e7)},
            "emulated cluster is 2x1, 0.001 s, 2e+07 bytes/s, there none",
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
            slow = far_factor if arm == "a" and round_ == 2 else 1.0
            return (1.0 if round_ < 2 else 4.0) * slow * noise(launch, arm, round_, run_id)

        return renamed(placed_run(plan, seconds, near_then_far), run_id)

    found = compare_with_baseline(placed(1.2, "now"), placed(1.0, "then"))
    assert [(cell.arm, cell.placement) for cell in found.cells if cell.verdict == "slower"] == [("a", "far")]
    assert one(found, KB, "a", "near").ratio == pytest.approx(1.0, rel=0.01)


def test_a_run_of_one_class_is_matched_by_its_hand_off() -> None:
    # The baseline saw near and far; the run now only far: it must not be held against the near times.
    plan = make_plan(num_launches=8, sizes=(KB,))

    def seconds(launch: int, size: int, arm: str, round_: int, run_id: str, far: bool) -> float:
        return (4.0 if far else 1.0) * noise(launch, arm, round_, run_id)

    then = placed_run(plan, lambda *what: seconds(*what, "then", what[3] >= 2), near_then_far)
    for handoff, far in ((FAR, True), (NEAR, False)):
        now = placed_run(plan, lambda *what, far=far: seconds(*what, "now", far), lambda *_, h=handoff: (h, h))
        found = compare_with_baseline(now, then)
        assert not found.regressed
        assert one(found, KB, "b").ratio == pytest.approx(1.0, rel=0.02)
        turned = compare_with_baseline(then, now)
        assert one(turned, KB, "b", "far" if far else "near").ratio == pytest.approx(1.0, rel=0.02)


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
            lambda launch, arm, round_: (rare, rare) if round_ == 2 and launch < 3 else (common, common),
        )

    found = compare_with_baseline(placed(NEAR, FAR), renamed(placed(FAR, NEAR), "then"))
    assert {cell.placement for cell in found.cells} == {MIXED}


def test_a_disqualified_cell_is_not_compared() -> None:
    now = run(lambda *_: 1.0)
    cells = [cell.model_copy(update={"verified": False}) if cell.arm == "a" else cell for cell in now.launches[0].cells]
    broken = [now.launches[0].model_copy(update={"cells": cells}), *now.launches[1:]]
    found = compare_with_baseline(StoredRun(now.path, now.run, broken, []), run(lambda *_: 1.0, run_id="then"))
    assert {cell.arm for cell in found.cells} == {"b"}


def test_a_disqualified_reference_is_not_compared_either() -> None:
    now = run(lambda *_: 1.0)
    wrong = [
        cell.model_copy(update={"verified": False}) if (cell.arm, cell.size_bytes) == ("b", KB) else cell
        for cell in now.launches[0].cells
    ]
    broken = [now.launches[0].model_copy(update={"cells": wrong}), *now.launches[1:]]
    found = compare_with_baseline(StoredRun(now.path, now.run, broken, []), run(lambda *_: 1.0, run_id="then"))
    assert [(cell.size_bytes, cell.arm) for cell in found.cells] == [(4 * KB, "a"), (4 * KB, "b")]


def test_a_record_does_not_contradict_itself() -> None:
    found = compare_with_baseline(run(lambda *_: 1.0), run(lambda *_: 1.0, run_id="then"))
    with pytest.raises(ValueError, match="regressed if and only if"):
        Regression.model_validate({**found.model_dump(), "regressed": True})
    assert Regression.model_validate_json(found.model_dump_json()) == found
