"""The arithmetic of a ladder on runs with known answers: steps, worths, interactions, and what has no figure.

For: ringtree.explain's rungs, pilot and ladder. Not for: layout (test_explain_views.py), real runs
(test_explain_run.py).
"""

from __future__ import annotations

from typing import Any

import pytest
from comparison_support import near_then_far
from explain_support import PILOT_ID, SIZE, TIMES, TOP_RAN, made_up_pilot, made_up_run, times_of

from ringtree.cli.explain import is_wrong
from ringtree.errors import UsageError
from ringtree.explain.ladder import ladder_of
from ringtree.explain.ladder_kinds import KINDS
from ringtree.explain.ladder_record import TOO_FEW_ROUNDS, Ladder, PanelRecord, RungRecord, TakingRecord
from ringtree.explain.pilot import decide
from ringtree.explain.python_ladder import rungs, takings

PYTHON = KINDS[0]
NOISE = 0.02  # what the mean of the made-up launches may be off by


def only_panel(ladder: Ladder) -> PanelRecord:
    (panel,) = ladder.panels
    return panel


def rung(panel: PanelRecord, key: str) -> RungRecord:
    return next(one for one in panel.rungs if one.key == key)


def taking(panel: PanelRecord, key: str) -> TakingRecord:
    return next(one for one in panel.takings if one.key == key)


def factor(record: RungRecord) -> float:
    assert record.step is not None
    return record.step.factor


def test_steps_are_ratios_to_the_rung_below() -> None:
    panel = only_panel(ladder_of(made_up_run(), made_up_pilot()))
    expected = {"native": 4, "memory": 2, "waiting": 2.5, "fused": 1.25, "slices": 2, "algorithm": 1.25, "buffers": 2}
    for key, value in expected.items():
        found = rung(panel, key).step
        assert found is not None
        assert found.factor == pytest.approx(value, rel=NOISE), key
        assert found.verdict == "faster"
        assert found.low is not None
        assert found.high is not None
        assert found.low <= found.factor <= found.high
        assert found.high / found.low < 1 + NOISE
    assert panel.total is not None
    assert panel.total.factor == pytest.approx(8e-3 / 6.4e-5, rel=NOISE)
    assert [one.below for one in panel.rungs if one.arm is not None] == [None, *list(TIMES)[:7]]


def test_worth_and_interaction_are_those_of_the_top() -> None:
    panel = only_panel(ladder_of(made_up_run(), made_up_pilot()))
    for key, worth, interaction, verdict in (
        ("fused", 1.05, 1.25 / 1.05, "faster"),
        ("algorithm", 1.25, 1.0, "equivalent"),
        ("buffers", 2.0, 1.0, "equivalent"),
    ):
        one = taking(panel, key)
        assert one.worth is not None
        assert one.worth.factor == pytest.approx(worth, rel=NOISE), key
        assert one.interaction is not None
        assert one.interaction.factor == pytest.approx(interaction, rel=NOISE), key
        assert one.interaction.verdict == verdict


def test_a_thing_may_cost_at_the_top_what_it_brought_below() -> None:
    times = {**TIMES, "auto/for-shared": 6.4e-5 / 1.5}
    one = taking(only_panel(ladder_of(made_up_run(times_of(times)), made_up_pilot())), "buffers")
    assert one.worth is not None
    assert one.interaction is not None
    assert (one.worth.verdict, one.interaction.verdict) == ("slower", "faster")
    assert one.worth.factor == pytest.approx(1 / 1.5, rel=NOISE)
    assert one.interaction.factor == pytest.approx(3.0, rel=NOISE)


def test_what_is_not_measured_has_a_reason() -> None:
    panel = only_panel(ladder_of(made_up_run(), made_up_pilot()))
    for key, said in (
        ("channels", "not measurable: no two cores a rank (2 ranks, 2 cores)"),
        ("protocol", "no change"),
    ):
        record = rung(panel, key)
        assert (record.arm, record.step, record.time) == (None, None, None)
        assert record.why is not None
        assert record.why.startswith(said)
    for key, said in (
        ("native", "an interpreter"),
        ("memory", "no links over TCP"),
        ("waiting", "number of cores"),
        ("slices", "whole slots already"),
        ("channels", "one channel"),
        ("protocol", "auto runs simple"),
    ):
        one = taking(panel, key)
        assert one.worth is None
        assert one.why is not None
        assert said in one.why
    assert "streaming" not in [one.key for one in panel.takings]


def test_a_faster_protocol_of_the_pilot_is_a_rung() -> None:
    pilot = made_up_pilot({"simple": 1.6e-4, "ll": 9e-4, "ll128": 1.28e-4})
    assert decide(pilot, PYTHON, "ring").protocols == {SIZE: "ll128"}
    times = {**TIMES, "ring/ll128": 1.28e-4}
    arms = [*list(TIMES)[:6], "ring/ll128", *list(TIMES)[6:]]
    panel = only_panel(ladder_of(made_up_run(times_of(times), arms), pilot))
    assert factor(rung(panel, "protocol")) == pytest.approx(1.25, rel=NOISE)
    step = rung(panel, "algorithm")
    assert step.below == "ring/ll128"
    assert step.step is not None
    assert step.step.verdict == "equivalent"


def test_a_protocol_that_is_as_fast_is_not_taken() -> None:
    pilot = made_up_pilot({"simple": 1.6e-4, "ll": 9e-4, "ll128": 1.59e-4})
    assert decide(pilot, PYTHON, "ring").protocols == {SIZE: "simple"}


def test_a_wrong_arm_is_no_rung_to_stand_on() -> None:
    panel = only_panel(ladder_of(made_up_run(wrong="textbook-spin:ring"), made_up_pilot()))
    wrong = rung(panel, "waiting")
    assert (wrong.time, wrong.step) == (None, None)
    assert wrong.why is not None
    assert "not verified" in wrong.why
    above = rung(panel, "fused")
    assert above.below == "textbook-shm:ring"
    assert factor(above) == pytest.approx(1e-3 / 3.2e-4, rel=NOISE)
    assert taking(panel, "fused").interaction is not None


def test_without_pytorch_the_ladder_begins_natively() -> None:
    arms = list(TIMES)[1:]
    panel = only_panel(
        ladder_of(made_up_run(arms=arms, left_out={"send-recv:ring": "PyTorch is not installed"}), made_up_pilot())
    )
    assert (rung(panel, "start").arm, rung(panel, "start").why) == (None, "PyTorch is not installed")
    assert rung(panel, "native").step is None
    assert panel.total is not None
    assert panel.total.factor == pytest.approx(2e-3 / 6.4e-5, rel=NOISE)


def test_few_launches_give_no_verdict() -> None:
    panel = only_panel(ladder_of(made_up_run(num_launches=3), made_up_pilot()))
    assert {one.step.verdict for one in panel.rungs if one.step is not None} == {"inconclusive"}
    single = only_panel(ladder_of(made_up_run(num_launches=1), made_up_pilot()))
    step = rung(single, "native").step
    assert step is not None
    assert (step.low, step.high) == (None, None)
    assert factor(rung(single, "native")) == pytest.approx(4, rel=NOISE)


def test_near_and_far_are_panels_of_their_own() -> None:
    ladder = ladder_of(made_up_run(handoff=near_then_far, num_rounds=7), made_up_pilot())
    assert [(panel.size_bytes, panel.placement) for panel in ladder.panels] == [(SIZE, "near"), (SIZE, "far")]
    for panel in ladder.panels:
        assert factor(rung(panel, "native")) == pytest.approx(4, rel=NOISE)


def test_too_few_rounds_are_no_failure() -> None:
    def barely_far(launch: int, arm: str, round_: int) -> tuple[float, float]:
        """The engine's ring has two of its seven rounds on far cores: one too few for a time there."""
        return near_then_far(launch, arm, 0 if arm == "ring/simple" and round_ < 5 else round_)

    ladder = ladder_of(made_up_run(handoff=barely_far, num_rounds=7), made_up_pilot())
    near, far = ladder.panels
    assert rung(near, "slices").time is not None
    assert rung(far, "slices").why == TOO_FEW_ROUNDS
    for panel in ladder.panels:
        for one in panel.entries():
            assert (one.time is None) == (one.why is not None), one.key
    assert not is_wrong(ladder)
    assert is_wrong(ladder_of(made_up_run(wrong="ring/simple"), made_up_pilot()))


def test_the_floor_is_what_copying_allows() -> None:
    ladder = ladder_of(made_up_run(), made_up_pilot())
    # Two ranks on two copying cores: a vector at the rate of one core; the hand-off is shorter.
    assert only_panel(ladder).floor == pytest.approx(SIZE / 5e10)
    assert (ladder.pilot, ladder.algorithm, ladder.through) == (PILOT_ID, "ring", "torch")


@pytest.mark.parametrize(
    ("changes", "measured"),
    [
        ({"protocol": "ll128"}, {"protocol"}),
        ({"algorithm": "ring"}, set()),
        ({"slice_bytes": 16384}, {"slices"}),
        ({"slice_bytes": 16384, "num_chunks": 128}, set()),
        ({"streaming": True}, {"streaming"}),
    ],
)
def test_what_the_top_runs_decides_what_can_be_taken_away(changes: dict[str, Any], measured: set[str]) -> None:
    always = {"fused", "buffers"} | (set() if changes.get("algorithm") == "ring" else {"algorithm"})
    found = takings("ring", SIZE, {**TOP_RAN, **changes})
    assert {one.key for one in found if one.arm is not None} == always | measured
    assert all((one.arm is None) == (one.why is not None) for one in found)


def test_channels_and_spinning_follow_from_the_cores() -> None:
    def found(num_cores: int) -> dict[str, str | None]:
        return {one.key: one.arm for one in rungs("ring", "simple", 2, num_cores)}

    assert (found(1)["waiting"], found(1)["channels"]) == (None, None)
    assert (found(2)["waiting"], found(2)["channels"]) == ("textbook-spin:ring", None)
    assert found(4)["channels"] == "ring/simple/2ch"
    (aside,) = [one for one in rungs("ring", "simple", 2, 4) if one.aside]
    assert aside.key == "channels"


def test_another_run_is_refused() -> None:
    stored = made_up_run()
    plan = stored.run.plan.model_copy(update={"preset": None})
    other = type(stored)(stored.path, stored.run.model_copy(update={"plan": plan}), stored.launches, [])
    with pytest.raises(UsageError, match="not a ladder"):
        ladder_of(other, made_up_pilot())
