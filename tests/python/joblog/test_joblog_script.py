"""Scripts of replays, from clocks written by hand; and what can't be replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from joblog_support import call_line, end_line, group_line, rank_line, step_line, write_rank

from ringtree.errors import UsageError
from ringtree.joblog.reading import read_trace
from ringtree.joblog.records import CallLine, StepLine
from ringtree.joblog.replay import check_arms
from ringtree.joblog.script import Script, ScriptedCall, actions_of, make_script
from ringtree.joblog.summary import summarise

STEP = StepLine.model_validate(step_line(0, 0.0, 10.0, (100.0, 106.0)))


def actions(*calls: dict[str, Any]) -> list[tuple[str, float]]:
    return [
        (what, pytest.approx(value))
        for what, value in actions_of([CallLine.model_validate(call) for call in calls], STEP)
    ]


def test_a_call_that_was_waited_for() -> None:
    # Computes 2 s, issues at 2, stands still until 6, computes 4 s.
    assert actions(call_line(0, 2.0, 6.0, (102.0, 102.0))) == [
        ("compute", 2.0),
        ("issue", 0),
        ("wait", 0),
        ("compute", 4.0),
    ]


def test_a_call_beside_computing_is_waited_for_at_the_end_of_the_step() -> None:
    assert actions(call_line(0, 2.0, 6.0, (102.0, 106.0))) == [
        ("compute", 2.0),
        ("issue", 0),
        ("compute", 4.0),
        ("wait", 0),
    ]


def test_two_that_overlap() -> None:
    # A is issued at 1, B at 3; the rank computes until 3 and then stands still: A is over at 6, B at 8.
    found = actions(call_line(0, 1.0, 6.0, (101.0, 103.0)), call_line(1, 3.0, 8.0, (103.0, 103.0)))
    assert found == [
        ("compute", 1.0),
        ("issue", 0),
        ("compute", 2.0),
        ("issue", 1),
        ("wait", 0),
        ("wait", 1),
        ("compute", 2.0),  # what is left of the step is 2 s of wall clock, whatever the CPU's says
    ]


def test_an_end_beyond_the_step_is_waited_for_in_it() -> None:
    assert actions(call_line(0, 2.0, 12.0, (102.0, 102.0)))[-1] == ("wait", 0)


def script(folder: Path, *by_rank: list[dict[str, Any]], size: int = 2, world_size: int = 2) -> Script:
    for rank, calls in enumerate(by_rank):
        lines = [rank_line(rank, world_size), group_line(size=size), *calls, step_line(0, 0.0, 10.0)]
        write_rank(folder, [*lines, end_line(len(calls), 1, 10.0)], rank)
    trace = read_trace(folder)
    return make_script(trace, summarise(trace))


CALL = call_line(0, 1.0, 2.0, (0.0, 0.0))


def test_the_script_of_all_ranks(tmp_path: Path) -> None:
    barrier = call_line(1, 3.0, 4.0, (0.0, 0.0), collective="barrier", in_bytes=0, out_bytes=0, dtype="")
    found = script(tmp_path, [CALL, barrier], [CALL, barrier])
    assert found.calls == [ScriptedCall("all_reduce", 4096, "float32")]
    assert found.actions == [[("issue", 0), ("wait", 0)]] * 2
    assert found.left_out == 1


@pytest.mark.parametrize(
    ("by_rank", "more", "said"),
    [
        ([[CALL], [{**CALL, "in_bytes": 8192}]], {}, "ranks 0 and 1 issue different collectives in step 0"),
        ([[CALL]], {}, "the trace has 1 of 2 ranks: replay needs all of them"),
        ([[CALL], [CALL]], {"size": 1}, "the job has all_reduce in groups of 1 of 2 ranks"),
        ([[{**CALL, "collective": "send"}]] * 2, {}, "replay can't run send; it can run: "),
        ([[], []], {}, "step 0 has no collective to replay"),
        ([[{**CALL, "device": "cuda", "end": None, "ran_end": None}]] * 2, {}, "a job on GPUs"),
    ],
)
def test_what_cannot_be_replayed(tmp_path: Path, by_rank: Any, more: dict[str, int], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        script(tmp_path, *by_rank, **more)


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ("nothing", "unknown arm 'nothing'"),
        ("nccl:Tree", "replay can't run nccl:Tree: it runs arms in Python processes on CPUs"),
        ("ring@A=1", "all arms share processes, so none can set variables"),
    ],
)
def test_arms_that_cannot_take_part(arm: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_arms([arm], ["all_reduce"])
