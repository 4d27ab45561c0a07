"""Recorded steps of ranks: who waited for whom, what each collective exposes, and that the parts still add up.

For: ringtree.judge.training_timeline on made-up steps. Not for: recording them (tests/python/train).
"""

from __future__ import annotations

import pytest
from train_support import plan_of, training_cell

from ringtree.judge.training import step_parts
from ringtree.judge.training_timeline import divided, timeline, waits
from ringtree.results import Cell, RecordedCall, RecordedStep
from ringtree.train.arms import ALONE

pytest.importorskip("torch")
pytest.importorskip("transformers")


def call(name: str, begin: float, end: float, *exposed: tuple[float, float], group: str = "0") -> RecordedCall:
    return RecordedCall(
        collective=name, group=group, group_size=2, size_bytes=1 << 20, begin=begin, end=end, exposed=list(exposed)
    )


def ranks() -> list[RecordedStep]:
    """Rank 0 stands still from 2 to 5; rank 1 joins at 4 and gathers from 6 to 7; rank 0 ends 1 s before it."""
    first = [call("all_reduce", 1, 5, (2, 5)), call("all_gather", 6, 7, (6, 7))]
    second = [call("all_reduce", 4, 5, (4.5, 5)), call("all_gather", 6, 7, (6, 7))]
    return [
        RecordedStep(seconds=9, input_seconds=0.5, calls=first),
        RecordedStep(seconds=10, input_seconds=0.5, calls=second),
    ]


def test_what_passes_before_the_last_rank_joins_is_waiting_for_it() -> None:
    first, second = waits(ranks())
    assert first.waiting == [(2, 4), (9, 10)]
    assert first.exposed == [("all_reduce", (4, 5)), ("all_gather", (6, 7))]
    assert second.waiting == []
    assert second.exposed == [("all_reduce", (4.5, 5)), ("all_gather", (6, 7))]
    found = divided([ranks(), ranks()])  # means over ranks
    assert (found.waiting, found.exposed) == (1.5, {"all_gather": 1.0, "all_reduce": 0.75})


def test_a_call_that_the_others_are_not_known_to_have_made_has_no_slowest_rank() -> None:
    alone = [RecordedStep(seconds=9, calls=[call("send", 1, 5, (2, 5))]), RecordedStep(seconds=9, calls=[])]
    assert waits(alone)[0] == ([("send", (2, 5))], [])


def test_the_timeline_has_no_gaps_and_is_of_the_median_launch() -> None:
    longer = [one.model_copy(update={"seconds": one.seconds + 5}) for one in ranks()]
    shorter = [one.model_copy(update={"seconds": one.seconds - 1}) for one in ranks()]
    found = timeline([longer, ranks(), shorter])
    assert found.seconds == 10
    assert [(one.what, one.begin, one.end) for one in found.spans] == [
        ("input", 0, 0.5),
        ("compute", 0.5, 2),
        ("waiting", 2, 4),
        ("exposed all_reduce", 4, 5),
        ("compute", 5, 6),
        ("exposed all_gather", 6, 7),
        ("compute", 7, 9),
        ("waiting", 9, 10),
    ]
    assert [(one.collective, one.begin, one.end) for one in found.calls] == [("all_reduce", 1, 5), ("all_gather", 6, 7)]


def with_recorded(cell: Cell, recorded: list[RecordedStep]) -> Cell:
    assert cell.trained is not None
    return cell.model_copy(update={"trained": cell.trained.model_copy(update={"recorded": recorded})})


def test_each_arms_imbalance_is_its_own_and_the_parts_add_up() -> None:
    plan = plan_of(arms="gloo")
    alone = training_cell(plan, ALONE, 0, [[2.0, 4.0], [4.0, 2.0]], [])  # mean of ranks 3
    own = training_cell(plan, "gloo", 0, [[6.0, 8.0], [7.0, 4.0]], [])  # slowest: mean 7.5
    parts = step_parts([(with_recorded(own, ranks()), alone)])
    # 4.5 s beyond computing; of 3.25 s of idle time in the recorded step 1.5 are for the slowest rank.
    assert parts.recorded
    assert parts.imbalance == pytest.approx(4.5 * 1.5 / 3.25)
    assert parts.by_collective == {
        "all_gather": pytest.approx(4.5 * 1.0 / 3.25),
        "all_reduce": pytest.approx(4.5 * 0.75 / 3.25),
    }
    assert parts.input + parts.compute + parts.imbalance + parts.exposed == pytest.approx(parts.step, rel=1e-15)
    assert sum(parts.by_collective.values()) == pytest.approx(parts.exposed, rel=1e-15)
    hidden = [RecordedStep(seconds=9, calls=[call("all_reduce", 1, 5)])] * 2
    none = step_parts([(with_recorded(own, hidden), alone)])  # nothing idles: what is left is the communication's
    assert (none.imbalance, none.exposed, none.by_collective) == (0.0, 4.5, {})


def test_without_recorded_steps_imbalance_is_that_without_communication() -> None:
    plan = plan_of(arms="gloo")
    own = training_cell(plan, "gloo", 0, [[6.0, 8.0], [7.0, 4.0]], [])
    alone = training_cell(plan, ALONE, 0, [[2.0, 4.0], [4.0, 2.0]], [])
    parts = step_parts([(own, alone), (with_recorded(own, [ranks()[0]]), alone)])  # the other rank's is missing
    assert (parts.recorded, parts.by_collective) == (False, {})
    assert (parts.imbalance, parts.exposed) == (1.0, 3.5)
