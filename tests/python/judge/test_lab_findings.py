"""What a run shows besides its verdicts: crossovers, the fastest, stragglers, outliers, drift, notes.

For: ringtree.judge.findings and notes on runs with known answers. Not for: the statistics themselves (test_stats_*.py).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from comparison_support import jitter, noise, stored_run
from lab_support import make_cell, make_launch, make_plan, make_stored

from ringtree.judge.summary import launches_that_decide, summarise
from ringtree.results import ArmPlan


def test_the_crossover_of_two_lines_is_where_they_meet() -> None:
    # 1 ms + s · 1 ns against 2 ms + s / 2 ns: they meet at 2,000,000 bytes.
    def seconds(launch: int, size: int, arm: str) -> float:
        return jitter(launch) * (1e-3 + size * 1e-9 if arm == "a" else 2e-3 + size * 0.5e-9)

    plan = make_plan(sizes=tuple(1 << bits for bits in range(18, 26)), num_launches=8)
    (found,) = summarise(make_stored(plan, seconds)).crossovers
    assert (found.kind, found.faster_below) == ("crossing", "a")
    assert found.estimate == pytest.approx(2e6)
    assert found.low == pytest.approx(2e6)
    assert found.high == pytest.approx(2e6)
    assert found.first_faster_at == [1 << 18, 1 << 19, 1 << 20]
    assert found.second_faster_at == [1 << bits for bits in range(21, 26)]


def test_crossovers_are_of_each_arm_with_the_reference_and_of_the_engines_pairs() -> None:
    plan = make_plan(arms=("ring", "tree", "send-recv:ring", "gloo"), num_launches=8)
    factor = {"ring": 1.0, "tree": 2.0, "send-recv:ring": 3.0, "gloo": 4.0}
    comparison = summarise(make_stored(plan, lambda launch, size, arm: factor[arm] * jitter(launch)))
    assert [(one.first, one.second, one.kind, one.faster_below) for one in comparison.crossovers] == [
        ("ring", "gloo", "none", "ring"),
        ("tree", "gloo", "none", "tree"),
        ("send-recv:ring", "gloo", "none", "send-recv:ring"),
        ("ring", "tree", "none", "ring"),
    ]


def test_the_fastest_are_those_that_no_other_arm_was_shown_to_beat() -> None:
    def seconds(launch: int, size: int, arm: str) -> float:
        scatter = math.exp(0.3 * (-1) ** launch) if arm == "b" else 1.0
        return scatter * {"a": 1.0, "b": 1.01, "c": 9.0}[arm]

    comparison = summarise(make_stored(make_plan(arms=("a", "b", "c"), sizes=(1024,), num_launches=8), seconds))
    assert [(one.size_bytes, one.arms) for one in comparison.fastest] == [(1024, ["a", "b"])]
    two = summarise(make_stored(make_plan(num_launches=8), lambda launch, size, arm: 1.0 + (arm == "a")))
    assert two.fastest == []


def test_a_slow_rank_is_found() -> None:
    plan = make_plan(arms=("a",), sizes=(1024, 4096), num_launches=8, num_ranks=4)
    launches = []
    for launch in range(8):
        cells = []
        for size in (1024, 4096):
            base = size * 1e-6 * np.array([1.0, 1.001, 1.3, 0.999])
            cells.append(make_cell("a", size, 1.0, 4, times=np.outer(base, [1.0, 1.1, 0.9]).tolist()))
        launches.append(make_launch(launch, cells))
    (found,) = summarise(stored_run(plan, launches)).stragglers
    assert (found.arm, found.rank, found.share_slowest) == ("a", 2, 1.0)
    assert found.excess == pytest.approx(0.3, rel=0.01)
    assert not summarise(make_stored(plan, lambda *_: 1.0)).stragglers


def test_sizes_count_alike_in_what_is_said_of_a_rank() -> None:
    # Slow by a half at 1 KB, by a tenth at 4 KB, three iterations each: the median of these six ratios is 1.3.
    plan = make_plan(arms=("a",), sizes=(1024, 4096), num_launches=8, num_ranks=3)
    factors = {1024: 1.5, 4096: 1.1}
    cells = [
        make_cell("a", size, 1.0, 3, times=[[size * 1e-6] * 3, [size * 1e-6 * factor] * 3, [size * 1e-6] * 3])
        for size, factor in factors.items()
    ]
    (found,) = summarise(stored_run(plan, [make_launch(launch, cells) for launch in range(8)])).stragglers
    assert found.rank == 1
    assert found.excess == pytest.approx(0.3)


def test_an_outlier_is_flagged_and_kept() -> None:
    def seconds(launch: int, size: int, arm: str) -> float:
        return 5.0 if (launch, arm) == (4, "a") else 1.0 + 0.01 * launch

    comparison = summarise(make_stored(make_plan(sizes=(1024,), num_launches=8), seconds))
    (found,) = comparison.outliers
    # The others are 1.00 … 1.07 without 1.04: the median of all eight is 1.035 + 0.005.
    assert (found.arm, found.launch, found.placement) == ("a", 4, "")
    assert found.ratio == pytest.approx(5.0 / 1.04)
    time = comparison.cell(1024, "a").time
    assert time is not None
    assert time.high == 5.0


def test_drift_is_found_per_arm() -> None:
    def seconds(launch: int, size: int, arm: str) -> float:
        return size * (1.05**launch if arm == "a" else noise(launch, size))

    (found,) = summarise(make_stored(make_plan(num_launches=8), seconds)).drifts
    assert found.arm == "a"
    assert found.change == pytest.approx(1.05**7 - 1)


def test_sizes_that_some_launches_lack_make_no_drift() -> None:
    # The larger a size the fewer launches it has: means of plain times would fall from launch to launch.
    launches_of = {1024: 8, 4096: 6, 16384: 4, 65536: 2}
    launches = [
        make_launch(
            launch,
            [make_cell(arm, size, size * 1.0) for size, num in launches_of.items() if launch < num for arm in "ab"],
        )
        for launch in range(8)
    ]
    comparison = summarise(stored_run(make_plan(sizes=tuple(launches_of), num_launches=8), launches))
    assert comparison.drifts == []
    assert [row.judged for row in comparison.rows] == [True, True, False, False]


def test_launches_that_decide_each_size() -> None:
    # At 1 KB a takes twice as long in every launch; at 4 KB only more launches could tell. c is decided everywhere.
    def seconds(launch: int, size: int, arm: str) -> float:
        if arm != "a":
            return {"b": 1.0, "c": 4.0}[arm]
        return 2.0 if size == 1024 else math.exp(0.05 + 0.05 * (-1) ** launch)

    comparison = summarise(make_stored(make_plan(arms=("a", "c", "b"), num_launches=8), seconds))
    needs = launches_that_decide(comparison)
    open_ = comparison.cell(4096, "a").versus_reference
    assert open_ is not None
    assert needs == {1024: 6, 4096: open_.launches_needed}
    assert open_.launches_needed is not None
    assert open_.launches_needed > 8
    hopeless = make_stored(
        make_plan(sizes=(1024,)), lambda launch, size, arm: math.exp(3 * (-1) ** launch * (arm == "a"))
    )
    assert launches_that_decide(summarise(hopeless)) == {1024: None}


def test_notes_say_what_happened_in_the_launches() -> None:
    plan = make_plan(sizes=(1024,))
    cut = {"warm_up": {"num_iterations": 5, "ended": "limit"}}
    launches = [
        make_launch(i, [make_cell("a", 1024, 1.0, **cut), make_cell("b", 1024, 1.0)], stolen=0.1 if i == 5 else 0.02)
        for i in range(6)
    ]
    comparison = summarise(stored_run(plan, launches))
    assert "the hypervisor took 3.3% of the CPU time, 10% in the worst launch" in comparison.caveats
    assert "warm-up hit its limit before times were stable in 6 of 6 cells (a)" in comparison.notes
    pilot = summarise(make_stored(plan.model_copy(update={"purpose": "pilot"}), lambda *_: 1.0))
    assert pilot.caveats == ["a pilot run: it plans the launches of a comparison; do not use it as evidence"]


def test_the_same_arm_twice_is_said_to_measure_the_method() -> None:
    plan = make_plan(arms=("x", "x#2"))
    twice = plan.model_copy(update={"arms": [ArmPlan(label="x", name="x"), ArmPlan(label="x#2", name="x")]})
    said = "same arm twice (x): any difference shown is an error of the method"
    assert said in summarise(make_stored(twice, lambda *_: 1.0)).notes
    assert said not in summarise(make_stored(plan, lambda *_: 1.0)).notes


def test_a_library_as_reference_brings_the_hint_how_to_compare_the_engines_arms() -> None:
    def hints(*arms: str) -> list[str]:
        notes = summarise(make_stored(make_plan(arms=arms), lambda *_: 1.0)).notes
        return [note for note in notes if "--reference" in note]

    assert hints("ring", "tree", "gloo") == [
        "ring and tree are each compared with gloo; for one against the other: --reference ring"
    ]
    assert hints("gloo", "tree", "ring") == hints("ring", "gloo") == []


def test_the_method_and_its_error_are_told() -> None:
    notes = summarise(make_stored(make_plan(num_launches=8), lambda launch, *_: jitter(launch))).notes
    (method,) = (note for note in notes if note.startswith("verdicts"))
    assert "over all 2 comparisons together: at most 5 % of runs report a false difference" in method
    assert "margin 2 %" in method
    assert "0.0078" in method, "2^-7 with 8 launches"
    few = summarise(make_stored(make_plan(num_launches=3), lambda launch, *_: jitter(launch))).notes
    assert not any(note.startswith("verdicts") for note in few), "nothing was judged"
