"""What is said about a training: verdicts as one family, exposed time, efficiency, parts that add up, losses.

For: ringtree.judge's training modules on made-up times. Not for: running trainings (tests/python/train).
"""

from __future__ import annotations

import math

import pytest
from comparison_support import noise
from needed import needs
from train_support import plan_of, training_cell, training_run

from ringtree.errors import UsageError
from ringtree.judge.losses import first_difference, tolerance
from ringtree.judge.observations import observations_of_run
from ringtree.judge.summary import summarise
from ringtree.judge.training import exposed_seconds, step_parts, summarise_training
from ringtree.judge.training_words import worth_line
from ringtree.results import TrainedModel
from ringtree.train.arms import ALONE

pytest.importorskip("torch")
needs("transformers")

ARMS = "gloo,ringtree:ring,ringtree:auto"
MODEL = TrainedModel(name="m", parameters=1000, layers=2, width=64, vocabulary=64)


def steps(block: int, model: str, ranks: int, arm: str, rank: int) -> float:
    """gloo 100 ms on one rank and 125 on two; ring 10 % longer; auto as gloo; 20 ms less without communication."""
    base = {1: 0.100, 2: 0.125}[ranks] * noise(block, model, ranks, arm)
    return base - 0.02 if arm == ALONE else base * (1.1 if arm == "ringtree:ring" else 1.0)


def test_verdicts_are_one_family_over_models_and_ranks() -> None:
    plan = plan_of(models="qwen2.5,mixtral", arms=ARMS, ranks="1,2", launches=8)
    summary = summarise_training(training_run(plan, steps))
    slow = [cell.versus_reference for cell in summary.cells if cell.arm == "ringtree:ring"]
    same = [cell.versus_reference for cell in summary.cells if cell.arm == "ringtree:auto"]
    assert [one and one.verdict for one in slow] == ["slower"] * 4
    assert [one and one.verdict for one in same] == ["equivalent"] * 4
    assert {one.num_comparisons for one in (*slow, *same) if one} == {8}  # 2 models, 2 worlds, 2 arms
    assert [one and one.ratio for one in slow] == [pytest.approx(1.1, rel=0.01)] * 4  # each of two has ±0.5 % of noise
    assert sum("ringtree:ring vs gloo: slower" in line for line in summary.verdicts) == 4


def test_an_arm_against_itself_is_never_told_apart() -> None:
    plan = plan_of(arms="gloo,gloo", ranks="1,2", launches=6)
    summary = summarise_training(training_run(plan, steps))
    verdicts = {cell.versus_reference.verdict for cell in summary.cells if cell.versus_reference}
    assert verdicts <= {"equivalent", "inconclusive"}


def test_what_draws_single_collectives_says_that_it_is_a_training() -> None:
    run = training_run(plan_of(arms="gloo", launches=1), steps)
    with pytest.raises(UsageError, match="is a training"):
        summarise(run)
    with pytest.raises(UsageError, match="is a training"):
        list(observations_of_run(run))


def test_rates_and_efficiency() -> None:
    plan = plan_of(arms="gloo", ranks="1,2", launches=6)
    summary = summarise_training(training_run(plan, lambda *what: {1: 0.100, 2: 0.125}[what[2]]))
    one, two = (summary.find("qwen2.5 tiny", ranks, "gloo") for ranks in (1, 2))
    assert one is not None
    assert two is not None
    assert one.tokens_per_second == pytest.approx(512 / 0.1)
    assert two.tokens_per_second == pytest.approx(2 * 512 / 0.125)
    assert (one.efficiency, two.efficiency) == (pytest.approx(1), pytest.approx(0.8))


def test_exposed_is_the_median_of_the_rounds_differences_of_the_slowest_ranks() -> None:
    plan = plan_of(arms="gloo")
    # Slowest ranks 5, 6, 9 and 3, 3, 3: differences 2, 3, 6.
    own = training_cell(plan, "gloo", 0, [[5.0, 1.0, 9.0], [4.0, 6.0, 1.0]], [])
    alone = training_cell(plan, ALONE, 0, [[3.0, 2.0, 3.0], [1.0, 3.0, 1.0]], [])
    assert exposed_seconds(own, alone) == 3.0


def test_the_parts_of_a_step_add_up_to_it() -> None:
    plan = plan_of(arms="gloo")
    own = training_cell(plan, "gloo", 0, [[6.0, 8.0], [7.0, 4.0]], [])  # slowest 7, 8: mean 7.5
    alone = training_cell(plan, ALONE, 0, [[2.0, 4.0], [4.0, 2.0]], [])  # slowest 4, 4; mean of ranks 3; input 0.3
    parts = step_parts([(own, alone)])
    assert (parts.step, parts.imbalance, parts.exposed) == (7.5, 1.0, 3.5)
    assert parts.input == pytest.approx(0.3)
    assert parts.compute == pytest.approx(2.7)
    assert parts.input + parts.compute + parts.imbalance + parts.exposed == pytest.approx(parts.step, rel=1e-15)


def test_what_a_gain_is_worth() -> None:
    plan = plan_of(arms="gloo,ringtree:auto", ranks="2", launches=6, price="2.50/gpu-hour")
    run = training_run(plan, lambda *what: 1.0 if what[3] == "gloo" else 0.5)
    cell = summarise_training(run).find("qwen2.5 tiny", 2, "ringtree:auto")
    assert cell is not None
    line = worth_line(summarise_training(run), cell, 7200)  # half of 7200 s: an hour of two ranks at 2.50
    assert line is not None
    assert "saves 60 min (60 min to 60 min) over 7,200 steps, +5.00 in money" in line


def test_the_tolerance_is_the_one_that_is_derived() -> None:
    u = 2.0**-24
    inside = math.sqrt(3 * 15 * 64) * u
    assert tolerance(4.0, 0, 4, MODEL, "float32") == pytest.approx(4 * inside)
    assert tolerance(4.0, 8, 4, MODEL, "float32") == pytest.approx(4 * (8 * 3 * 2 * u + 3 * inside))
    assert tolerance(4.0, 8, 4, MODEL, "bf16") > 1000 * tolerance(4.0, 8, 4, MODEL, "float32")


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ([[4.0, 3.9], [4.0, 3.9]], None),
        ([[4.0, 3.9 + 1e-6], [4.0, 3.9]], None),  # some units of float32's last place
        ([[4.0, 3.9], [4.0, 3.91]], "step 2 the loss of rank 1"),
        ([[4.0, math.nan], [4.0, 3.9]], "step 2 the loss of rank 0"),
        ([[4.0], [4.0]], "1 steps on rank 0"),
        ([[4.0, 3.9]], "1 ranks"),
    ],
)
def test_losses_that_leave_the_reference(losses: list[list[float]], said: str | None) -> None:
    found = first_difference(losses, [[4.0, 3.9], [4.0, 3.9]], MODEL, "float32")
    assert found is None if said is None else said in (found or "")


def test_an_arm_that_trained_another_model_is_disqualified() -> None:
    plan = plan_of(arms="gloo,ringtree:auto", ranks="2", launches=6)
    run = training_run(plan, steps)
    first = run.launches[0]
    wrong = training_cell(plan, "ringtree:auto", 0, [[0.1] * 5] * 2, [[4.0, 4.0, 4.0, 4.1, 4.1], [4.0] * 5])
    cells = [wrong if cell.arm == wrong.arm else cell for cell in first.cells]
    run.launches[0] = first.model_copy(update={"cells": cells})
    cell = summarise_training(run).find("qwen2.5 tiny", 2, "ringtree:auto")
    assert cell is not None
    assert "at step 4 the loss of rank 0 is 4.1" in (cell.disqualified or "")
    assert cell.step is None
    assert cell.versus_reference is None
