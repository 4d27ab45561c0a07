"""The verdict in plain words: which sizes are named together, what is claimed, what is not.

For: ringtree.judge.words on runs with known effects. Not for: the figures themselves (test_lab_summary.py).
"""

from __future__ import annotations

import math

import pytest
from comparison_support import FAR, NUM_NEAR, jitter, near_then_far, placed_run
from lab_support import NEAR, make_cell, make_launch, make_plan, make_run, make_stored

from ringtree.judge.comparison import Comparison, Crossover
from ringtree.judge.phrases import size_span
from ringtree.judge.summary import summarise
from ringtree.judge.words import crossover_lines, executed_lines, fastest_lines, verdict_lines
from ringtree.results import StoredRun

KB, MB = 1 << 10, 1 << 20


def compared(factor: dict[int, float], num_launches: int = 8, spread: float = 0.0) -> Comparison:
    """a takes `factor[size]` times the time of b, in every launch but for `spread` both ways."""
    plan = make_plan(sizes=tuple(factor), num_launches=num_launches)
    return summarise(
        make_stored(
            plan,
            lambda launch, size, arm: 1.0 if arm == "b" else factor[size] * math.exp(spread * (-1) ** launch),
        )
    )


def test_neighbouring_sizes_with_the_same_verdict_are_merged() -> None:
    comparison = compared({KB: 0.8, 4 * KB: 0.5, 16 * KB: 0.6, 64 * KB: 1.0, 256 * KB: 1.25, MB: 1.5})
    # 1/0.8 = 1.25 and 1/0.5 = 2.
    assert verdict_lines(comparison)[0] == (
        "a is 1.25–2.0× faster than b from 1 KB to 16 KB; equivalent within ±2 % at 64 KB; "
        "1.25–1.50× slower at 256 KB and 1 MB"
    )
    assert "equal" not in " ".join(comparison.verdicts)


def test_a_single_size_and_a_single_ratio() -> None:
    assert verdict_lines(compared({KB: 3.0}))[0] == "a is 3.0× slower than b at 1 KB"
    assert verdict_lines(compared({KB: 1.0}))[0] == "a is equivalent to b within ±2 % at 1 KB"


def test_what_is_inconclusive_says_how_many_launches_are_needed() -> None:
    comparison = compared({KB: 1.05, 4 * KB: 2.0}, spread=0.05)
    versus = comparison.cell(KB, "a").versus_reference
    assert versus is not None
    needed = versus.launches_needed
    assert needed is not None
    assert verdict_lines(comparison) == [
        f"a is 2.0× slower than b at 4 KB; inconclusive at 1 KB after 8 launches (about {needed} needed)",
    ]
    assert any(note.startswith("to use more launches, start a new run") for note in comparison.notes)


def test_the_launches_named_would_do_for_every_size() -> None:
    comparison = compared({KB: 1.05, 4 * KB: 1.06}, spread=0.06)
    needed = [cell.versus_reference.launches_needed for cell in comparison.cells if cell.versus_reference is not None]
    assert needed[0] is not None
    assert needed[1] is not None
    assert needed[0] > needed[1]
    assert f"at 1 KB and 4 KB after 8 launches (about {needed[0]} needed)" in verdict_lines(comparison)[0]


def test_a_hopeless_comparison_is_called_so() -> None:
    assert verdict_lines(compared({KB: 1.0}, spread=2.0)) == [
        "a vs b: inconclusive at 1 KB after 8 launches (more than 1,000 needed)"
    ]


@pytest.mark.parametrize(("num", "said"), [(1, "1 launch"), (5, "5 launches")])
def test_too_few_launches_give_no_verdict(num: int, said: str) -> None:
    comparison = compared({KB: 3.0, 4 * KB: 5.0}, num_launches=num)
    assert verdict_lines(comparison) == [
        f"a vs b: no verdict at 1 KB and 4 KB from {said} (at least 6 needed); measured time ratio 3.0–5.0"
    ]


def test_placements_that_say_the_same_share_a_line() -> None:
    plan = make_plan(num_launches=8)
    alike = placed_run(
        plan,
        lambda launch, size, arm, round_: (1.0 if arm == "b" else 2.0 if round_ < NUM_NEAR else 4.0) * jitter(launch),
        near_then_far,
    )
    assert verdict_lines(summarise(alike))[0] == (
        "a is 2.0–4.0× slower than b at 1 KB and 4 KB on near and far cores alike"
    )


def test_placements_that_differ_get_their_own_lines() -> None:
    plan = make_plan(sizes=(KB,), num_launches=8)
    differing = placed_run(
        plan, lambda launch, size, arm, round_: 1.0 if arm == "b" else 2.0 if round_ < NUM_NEAR else 0.25, near_then_far
    )
    assert verdict_lines(summarise(differing)) == [
        "a is 2.0× slower than b at 1 KB on near cores",
        "a is 4.0× faster than b at 1 KB on far cores",
    ]


def test_mixed_placements_are_said_to_be_like_for_like() -> None:
    stored = placed_run(
        make_plan(sizes=(KB,), num_launches=8),
        lambda launch, size, arm, round_: 3.0 if arm == "a" else 1.0,
        lambda launch, arm, round_: (NEAR, NEAR) if launch < 4 else (FAR, FAR),
    )
    assert verdict_lines(summarise(stored)) == [
        "a is 3.0× slower than b at 1 KB on cores of any placement (like for like)"
    ]


def test_a_crossover_with_its_interval() -> None:
    def seconds(launch: int, size: int, arm: str) -> float:
        return jitter(launch) * (1e-3 + size * 1e-9 if arm == "ring" else 2e-3 + size * 0.5e-9)

    plan = make_plan(arms=("ring", "tree"), sizes=tuple(1 << bits for bits in range(18, 26)), num_launches=8)
    comparison = summarise(make_stored(plan, seconds))
    # 2,000,000 bytes are 1.907 MB, in every launch.
    assert crossover_lines(comparison) == [
        "crossover of ring and tree: 1.9 MB (95.3 % interval of 8 launches: 1.9 MB); ring is faster below, tree above"
    ]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"low": 1.2 * MB, "high": 2.3 * MB}, "1.7 MB (95 %: 1.2–2.3 MB); a is faster below, b above"),
        ({"low": 512 * KB, "high": 2.0 * MB}, "1.7 MB (95 %: 0.5–2.0 MB); a is faster below, b above"),
        (
            {"low": 1.0 * KB, "high": 2.3 * MB, "low_open": True},
            "1.7 MB (95 %: below 2.3 MB); a is faster below, b above",
        ),
        (
            {"low": 1.2 * MB, "high": 4.0 * MB, "high_open": True},
            "1.7 MB (95 %: above 1.2 MB); a is faster below, b above",
        ),
        (
            {"low": 1.0 * KB, "high": 4.0 * MB, "low_open": True, "high_open": True},
            "1.7 MB (95 %: the whole range and beyond); a is faster below, b above",
        ),
    ],
)
def test_ends_of_an_interval(fields: dict[str, float], said: str) -> None:
    one = Crossover.model_validate(
        {
            "first": "a",
            "second": "b",
            "placement": "",
            "kind": "crossing",
            "sizes": [KB, 4 * MB],
            "faster_below": "a",
            "estimate": 1.7 * MB,
            "label": "95 %",
            **fields,
        }
    )
    comparison = compared({KB: 1.0}).model_copy(update={"crossovers": [one]})
    assert crossover_lines(comparison) == [f"crossover of a and b: {said}"]


def test_no_crossover_is_a_finding_and_undecided_is_none() -> None:
    assert crossover_lines(compared({KB: 2.0, MB: 3.0})) == ["no crossover at 1 KB and 1 MB: a and b"]
    assert crossover_lines(compared({KB: 1.0, MB: 1.0}, spread=0.3)) == []


def test_several_crossovers_are_said_without_a_place() -> None:
    comparison = compared({KB: 2.0, 4 * KB: 0.5, 16 * KB: 2.0})
    assert crossover_lines(comparison) == ["a and b cross more than once from 1 KB to 16 KB"]


def test_the_fastest_are_named_together_if_none_beats_the_others() -> None:
    factor = {("a", KB): 1.0, ("b", KB): 1.0, ("c", KB): 2.0, ("a", MB): 3.0, ("b", MB): 2.0, ("c", MB): 1.0}
    plan = make_plan(arms=("a", "b", "c"), sizes=(KB, MB), num_launches=8)
    comparison = summarise(make_stored(plan, lambda launch, size, arm: factor[arm, size]))
    assert fastest_lines(comparison) == ["fastest: a or b at 1 KB; c at 1 MB"]
    assert fastest_lines(compared({KB: 2.0})) == [], "the verdict says it already"


def test_a_disqualified_arm_is_no_fastest() -> None:
    error = {"times": [], "verified": False, "error": "broken"}
    cells = [make_cell("a", KB, 0.1, **error), make_cell("c", KB, 0.3), make_cell("b", KB, 0.2)]
    stored = StoredRun(
        make_stored(make_plan(), lambda *_: 1.0).path,
        make_run(make_plan(arms=("a", "c", "b"), sizes=(KB,), num_launches=8)),
        [make_launch(launch, cells) for launch in range(8)],
        [],
    )
    comparison = summarise(stored)
    assert fastest_lines(comparison) == ["fastest: b at 1 KB"]
    assert "a is disqualified at 1 KB: broken" in verdict_lines(comparison)


def test_a_disqualified_reference_leaves_nothing_to_compare_with() -> None:
    error = {"times": [], "verified": False, "error": "UsageError: no {gloo} here"}
    launches = [make_launch(i, [make_cell("a", KB, 0.1), make_cell("b", KB, 0.1, **error)]) for i in range(6)]
    plan = make_plan(sizes=(KB,))
    comparison = summarise(StoredRun(make_stored(plan, lambda *_: 1.0).path, make_run(plan), launches, []))
    assert verdict_lines(comparison) == [
        "a has no baseline at 1 KB: b is disqualified",
        "b is disqualified at 1 KB: UsageError: no {gloo} here",
    ]


def test_what_auto_executed_is_told() -> None:
    plan = make_plan(arms=("auto", "ring+10%", "gloo"))
    executed = {("auto", KB): "tree", ("auto", 4 * KB): "ring", ("ring+10%", KB): "ring", ("ring+10%", 4 * KB): "ring"}
    cells = [
        make_cell(arm, size, 1.0, executed={"algorithm": executed[arm, size]} if (arm, size) in executed else {})
        for size in (KB, 4 * KB)
        for arm in ("auto", "ring+10%", "gloo")
    ]
    launches = [make_launch(launch, cells) for launch in range(6)]
    comparison = summarise(StoredRun(make_stored(plan, lambda *_: 1.0).path, make_run(plan), launches, []))
    assert executed_lines(comparison) == ["auto executed tree at 1 KB; ring at 4 KB"]


def test_a_kernel_that_follows_no_algorithm_is_told_by_its_name() -> None:
    plan = make_plan(arms=("gloo", "auto", "ring"))
    told = {"gloo": {"algorithm": None, "kernel": None}, "auto": {"algorithm": None, "kernel": "AllReduce_AGxLL"}}
    cells = [make_cell(arm, KB, 1.0, executed=told.get(arm, {})) for arm in ("gloo", "auto", "ring")]
    launches = [make_launch(launch, cells) for launch in range(6)]
    comparison = summarise(StoredRun(make_stored(plan, lambda *_: 1.0).path, make_run(plan), launches, []))
    assert executed_lines(comparison) == ["auto executed AllReduce_AGxLL at 1 KB"]


def test_size_spans() -> None:
    assert size_span([KB]) == "at 1 KB"
    assert size_span([KB, 4 * KB]) == "at 1 KB and 4 KB"
    assert size_span([KB, 4 * KB, MB]) == "from 1 KB to 1 MB"
