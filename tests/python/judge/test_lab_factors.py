"""Factors of a run: effects that are known, credited to what made them, with their words.

For: ringtree.judge.factors and factor_words. Not for: the mathematics (test_stats_factorial.py), layout
(test_lab_table.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from comparison_support import FAR, Handoff, noise, placed_run
from factors_support import design_plan, design_run
from lab_support import NEAR

from ringtree.judge.cells import LEAST_ROUNDS
from ringtree.judge.comparison import MIXED, Comparison, FactorEffect
from ringtree.judge.factors import design_line
from ringtree.judge.summary import launches_that_decide, summarise
from ringtree.judge.words import verdict_lines
from ringtree.results import Launch, Plan, StoredRun

KB, MB = 1 << 10, 1 << 20


def effect(comparison: Comparison, name: str, size: int = KB) -> FactorEffect:
    (found,) = (one for one in comparison.effects if (one.effect, one.size_bytes) == (name, size))
    return found


def verdicts(comparison: Comparison, size: int = KB) -> dict[str, str]:
    return {one.effect: one.versus_reference.verdict for one in comparison.effects if one.size_bytes == size}


def sign(variables: Mapping[str, str], name: str) -> int:
    return 1 if variables[name] == "2" else -1


def interacting(plan_factors: tuple[str, ...] = ("A=1,2", "B=1,2"), fraction: str | None = None) -> Comparison:
    """B turns A's effect round: a log ratio of ∓0.2. Nothing else matters; 0.5 % of noise."""
    return summarise(
        design_run(
            design_plan(plan_factors, fraction),
            lambda launch, size, env: math.exp(0.1 * sign(env, "A") * sign(env, "B")) * noise(launch, *env.items()),
        )
    )


def test_effects_by_hand() -> None:
    times = {("1", "1"): 10.0, ("1", "2"): 12.0, ("2", "1"): 15.0, ("2", "2"): 21.0}
    comparison = summarise(
        design_run(design_plan(["A=1,2", "B=1,2"]), lambda launch, size, env: times[env["A"], env["B"]])
    )
    expected = {
        "A 1→2": math.sqrt((15 / 10) * (21 / 12)),
        "B 1→2": math.sqrt((12 / 10) * (21 / 15)),
        "A × B": math.sqrt((21 / 12) / (15 / 10)),
    }
    assert {one.effect: one.versus_reference.ratio for one in comparison.effects} == pytest.approx(expected)
    assert set(verdicts(comparison).values()) == {"slower"}
    one = effect(comparison, "A × B")
    assert (one.factors, one.values, one.aliases) == (["A", "B"], ["2", "2"], [])


def test_effects_are_those_of_the_ratios_in_the_table() -> None:
    comparison = summarise(
        design_run(
            design_plan(["A=1,2", "B=1,2"]),
            lambda launch, size, env: (1 + 0.3 * int(env["A"]) * int(env["B"])) * noise(launch, *env.items()),
        )
    )
    logs = {
        tuple(arm.environment.values()): math.log(versus.ratio) if versus is not None else 0.0
        for arm in comparison.arms
        for versus in [comparison.cell(KB, arm.label).versus_reference]
    }
    a = (logs["2", "1"] + logs["2", "2"] - logs["1", "1"] - logs["1", "2"]) / 2
    assert effect(comparison, "A 1→2").versus_reference.ratio == pytest.approx(math.exp(a))


def test_an_interaction_is_not_credited_to_a_factor() -> None:
    comparison = interacting()
    assert verdicts(comparison) == {"A 1→2": "equivalent", "B 1→2": "equivalent", "A × B": "slower"}
    # A does exp(-0.2) = 0.82 with B=1 and exp(0.2) = 1.22 with B=2; half of that difference is the interaction.
    lines = verdict_lines(comparison)
    assert lines[:2] == [f"{name} 1→2: equivalent within ±2 % at 1 KB" for name in "AB"]
    assert lines[2] == "interaction A × B: 1.22× slower at 1 KB"
    assert lines[3] == "A 1→2: -18% with B=1, +22% with B=2 at 1 KB"


def test_one_setting_changed_with_another_is_credited_to_the_right_one() -> None:
    """What published studies could not tell, as they changed two settings at once."""
    comparison = summarise(
        design_run(
            design_plan(["CHANNELS=8,32", "QPS=1,4"]),
            lambda launch, size, env: (0.7 if env["CHANNELS"] == "32" else 1.0) * noise(launch, *env.items()),
        )
    )
    assert verdicts(comparison) == {
        "CHANNELS 8→32": "faster",
        "QPS 1→4": "equivalent",
        "CHANNELS × QPS": "equivalent",
    }


def test_a_fraction_names_what_it_can_not_tell_apart() -> None:
    comparison = interacting(("A=1,2", "B=1,2", "C=1,2"), "1/2")
    # In this half C is at its second value where one of A and B is: C = -AB, and the interaction shows as C, turned.
    assert verdicts(comparison) == {"A 1→2": "equivalent", "B 1→2": "equivalent", "C 1→2": "faster"}
    assert effect(comparison, "C 1→2").aliases == ["−A × B"]
    lines = verdict_lines(comparison)
    assert lines[2].startswith("C 1→2: ")
    assert lines[2].endswith(" (could equally be −A × B)")
    whole = interacting(("A=1,2", "B=1,2", "C=1,2"))
    assert {name for name, word in verdicts(whole).items() if word != "equivalent"} == {"A × B"}
    said = (
        "a design of 3 factors, 1/2 of all combinations (resolution III): 4 arms; confounded: A 1→2 with "
        "−B × C; B 1→2 with −A × C; C 1→2 with −A × B"
    )
    assert said in comparison.caveats
    assert "a design of 3 factors, all combinations: 8 arms" in whole.caveats


def test_three_values_are_each_held_against_the_first() -> None:
    comparison = summarise(
        design_run(
            design_plan(["A=1,2,4", "B=x,y"]),
            lambda launch, size, env: int(env["A"]) * noise(launch, *env.items()),
        )
    )
    assert list(verdicts(comparison)) == ["A 1→2", "A 1→4", "B x→y", "A 1→2 × B", "A 1→4 × B"]
    assert effect(comparison, "A 1→2").versus_reference.ratio == pytest.approx(2.0, rel=0.02)
    assert effect(comparison, "A 1→4").versus_reference.ratio == pytest.approx(4.0, rel=0.02)


def test_all_effects_in_all_rows_are_one_family() -> None:
    plan = design_plan(["A=1,2", "B=1,2", "C=1,2"], sizes=(KB, MB))
    comparison = summarise(design_run(plan, lambda launch, size, env: noise(launch, size, *env.items())))
    assert len(comparison.effects) == 2 * 6
    assert {one.versus_reference.num_comparisons for one in comparison.effects} == {12}
    arms = [cell.versus_reference for cell in comparison.cells if cell.versus_reference is not None]
    assert {versus.num_comparisons for versus in arms} == {2 * 7}
    assert any(
        note.startswith("12 effects of factors are tested as another family, at 5 %") for note in comparison.notes
    )


def test_a_disqualified_arm_leaves_its_size_without_effects() -> None:
    plan = design_plan(["A=1,2", "B=1,2"], sizes=(KB, MB))
    whole = design_run(plan, lambda launch, size, env: 1.0)

    def spoilt(launch: Launch) -> Launch:
        cells = [
            cell.model_copy(update={"verified": False, "error": "it hung", "times": [], "visits": []})
            if (cell.size_bytes, cell.arm) == (MB, "x@A=2@B=1")
            else cell
            for cell in launch.cells
        ]
        return launch.model_copy(update={"cells": cells})

    comparison = summarise(StoredRun(whole.path, whole.run, [spoilt(one) for one in whole.launches], []))
    assert {one.size_bytes for one in comparison.effects} == {KB}
    lines = verdict_lines(comparison, short=True)
    assert "no effects at 1 MB: no block has correct times of every arm of the design" in lines
    assert "x@A=2@B=1 is disqualified at 1 MB: it hung" in lines


def test_a_block_that_lacks_an_arm_counts_for_no_effect() -> None:
    plan = design_plan(["A=1,2", "B=1,2"])
    whole = design_run(plan, lambda launch, size, env: 1.0)
    last = whole.launches[-1]
    cut = last.model_copy(update={"cells": last.cells[:-1], "arms": last.arms[:-1]})
    comparison = summarise(StoredRun(whole.path, whole.run, [*whole.launches[:-1], cut], []))
    assert {one.versus_reference.num_launches for one in comparison.effects} == {7}


def test_too_few_launches_give_no_verdict() -> None:
    plan = design_plan(["A=1,2", "B=1,2"], num_launches=2)
    comparison = summarise(design_run(plan, lambda launch, size, env: float(env["A"])))
    assert set(verdicts(comparison).values()) == {"inconclusive"}
    assert verdict_lines(comparison)[0] == (
        "A 1→2: no verdict at 1 KB from 2 launches (at least 6 needed); measured time ratio 2.0"
    )


def test_a_budget_is_spent_on_the_effects() -> None:
    # Three arms scatter together against the reference; of that each effect has half.
    plan = design_plan(["A=1,2", "B=1,2"])
    comparison = summarise(
        design_run(
            plan,
            lambda launch, size, env: 1.0 if set(env.values()) == {"1"} else math.exp(0.03 * (-1) ** launch),
        )
    )
    of_effects = launches_that_decide(comparison)[KB]
    of_arms = launches_that_decide(comparison.model_copy(update={"effects": []}))[KB]
    assert of_effects is not None
    assert of_arms is not None
    assert 6 <= of_effects < of_arms


def test_a_run_without_a_design_has_no_effects() -> None:
    whole = design_run(design_plan(["A=1,2"]), lambda launch, size, env: 1.0)
    plan = whole.run.plan.model_copy(update={"design": None})
    comparison = summarise(replace(whole, run=whole.run.model_copy(update={"plan": plan})))
    assert (comparison.effects, comparison.design, design_line(plan)) == ([], None, "")
    assert not any("design" in line for line in [*comparison.caveats, *comparison.notes, *comparison.verdicts])


def test_a_placement_counts_where_all_arms_of_a_block_had_it() -> None:
    """In each block another arm was far in most rounds: no block is complete on near cores, like for like each is."""
    plan = design_plan(["A=1,2", "B=1,2"], num_launches=9)
    others = [arm.label for arm in plan.arms[1:]]

    def handoff(launch: int, arm: str, round_: int) -> Handoff:
        far = arm == others[launch % 3] and round_ >= LEAST_ROUNDS - 1
        return (FAR, FAR) if far else (NEAR, NEAR)

    def judged(plan: Plan) -> Comparison:
        return summarise(placed_run(plan, lambda launch, size, arm, round_: 1.5 if "A=2" in arm else 1.0, handoff))

    comparison = judged(plan)
    assert [(row.placement, row.judged) for row in comparison.shown_rows()] == [(MIXED, True)]
    assert verdicts(comparison) == {"A 1→2": "slower", "B 1→2": "equivalent", "A × B": "equivalent"}
    # Arms alone need no complete blocks: each was near in 6 of 9 launches.
    alone = judged(plan.model_copy(update={"design": None}))
    assert [(row.placement, row.judged) for row in alone.shown_rows()] == [("near", True)]
