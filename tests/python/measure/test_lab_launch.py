"""Launches and their messages: framing is checked, a launch that stalls is given up with nothing left behind.

For: ringtree.measure.framing, rank_group and launch. Not for: kills from outside (test_compare.py).
"""

from __future__ import annotations

import os
import re
import signal

import pytest
from lab_support import children_of, make_plan, make_spec

from ringtree.measure import framing
from ringtree.measure.framing import ReportReader, read_json, write_record, write_report
from ringtree.measure.launch import run_launch
from ringtree.measure.messages import (
    Answer,
    AnswersReport,
    DoneReport,
    FailureReport,
    ProgressReport,
    RankSpec,
    SetSpec,
    SetUp,
    reports,
)
from ringtree.measure.plan import planned_launches
from ringtree.measure.process_set import CellKey
from ringtree.measure.rank_group import LaunchFailed
from ringtree.measure.rank_set import RankSet
from ringtree.measure.visit_loop import VisitLoop


def test_a_record_goes_through_a_pipe() -> None:
    source, sink = os.pipe()
    write_record(sink, make_spec())
    assert RankSpec.model_validate_json(read_json(source)) == make_spec()
    os.close(sink)
    with pytest.raises(EOFError, match="ended before it sent instructions"):
        read_json(source)
    os.close(source)


@pytest.mark.parametrize("length", [framing.MAX_RECORD_BYTES + 1, (1 << 64) - 1])
def test_a_length_is_checked_before_it_is_used(length: int) -> None:
    source, sink = os.pipe()
    os.write(sink, length.to_bytes(8, "big"))
    with pytest.raises(ValueError, match="longer than"):
        read_json(source)
    os.close(source)
    os.close(sink)


def test_reports_are_whole_however_they_arrive() -> None:
    source, sink = os.pipe()
    answers = [Answer(times=[1.0, 2.0], executed={"algorithm": "ring"}), Answer(error="why")]
    sent = [AnswersReport(of_ranks=answers), AnswersReport(of_ranks=[]), FailureReport(text="x"), DoneReport()]
    for report in sent:
        write_report(sink, report)
    os.close(sink)
    content = os.read(source, 1 << 16)
    os.close(source)
    for step in (1, 7, len(content)):
        reader = ReportReader(reports)
        heard = [report for at in range(0, len(content), step) for report in reader.feed(content[at : at + step])]
        assert heard == sent


@pytest.mark.parametrize("line", [b"{}\n", b"garbage\n", b'{"kind": "done", "more": 1}\n', b"\xff\n"])
def test_what_is_no_report_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match="validation"):
        ReportReader(reports).feed(line)


def test_a_report_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "MAX_REPORT_BYTES", 100)
    with pytest.raises(ValueError, match="longer than"):
        ReportReader(reports).feed(b"x" * 101)


def test_a_launch_that_stalls_is_given_up_and_cleaned_up() -> None:
    before = set(children_of(os.getpid()))
    plan = make_plan(arms=("ring", "tree"), num_ranks=2)
    with pytest.raises(
        LaunchFailed, match=r"launch 1 failed before its first cell: no rank reported for 0 s; 2 ranks of 2"
    ):
        run_launch(plan, planned_launches(plan)[0], lambda report: None, stall_limit=0.0)
    assert set(children_of(os.getpid())) <= before


def test_ranks_that_can_not_start_are_named_with_their_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtree.measure.rank_group.RANK_ENVIRONMENT", {"PYTHONHASHSEED": "nonsense"})
    plan = make_plan(arms=("ring", "tree"), num_ranks=2)
    with pytest.raises(LaunchFailed, match=r"rank 0 \(pid \d+\) exited with code \d+: .*PYTHONHASHSEED"):
        run_launch(plan, planned_launches(plan)[0], lambda report: None)


def test_an_arm_gets_its_own_environment_in_a_launch_of_its_own() -> None:
    plan = make_plan(arms=("ring", "tree"), sizes=(1024,), num_ranks=1, num_launches=1)
    bad = plan.arms[1].model_copy(update={"environment": {"PYTHONHASHSEED": "nonsense"}})
    plan = plan.model_copy(update={"arms": [plan.arms[0], bad]})
    launches = planned_launches(plan)
    assert sorted(launch.arms[0].label for launch in launches) == ["ring", "tree"]
    for launch in launches:
        if launch.arms[0].label == "ring":
            _, (cell,) = run_launch(plan, launch, lambda report: None)
            assert (cell.arm, cell.error) == ("ring", None)
        else:
            with pytest.raises(LaunchFailed, match="PYTHONHASHSEED"):
                run_launch(plan, launch, lambda report: None)


@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGSTOP, r"no rank reported for 2 s"), (signal.SIGKILL, r"rank 1 \(pid \d+\) was killed by SIGKILL")],
)
def test_of_two_sets_one_that_hangs_or_dies_is_ended_and_the_other_judged(number: signal.Signals, said: str) -> None:
    before = set(children_of(os.getpid()))
    plan = make_plan(arms=("ring", "tree"), sizes=(1024,), num_launches=1)
    hurt, other = (
        RankSet(
            [SetUp(arm=arm, name=arm, collective="all_reduce", op="sum", dtype="float32")],
            SetSpec(num_ranks=2, seed=1, boundary="numpy"),
        )
        for arm in ("ring", "tree")
    )

    def on_progress(report: ProgressReport) -> None:
        if report.text == "warming up ring 1 KB":
            hurt.stall_limit = 2.0
            os.kill(hurt.pids[1], number)

    hurt_cell, cell = VisitLoop(plan, planned_launches(plan)[0], [hurt, other], on_progress).run()
    assert not hurt_cell.verified
    assert re.search(said, hurt_cell.error or "")
    assert (hurt_cell.error or "").endswith("(at ring 1 KB)")
    assert cell.verified
    assert len(cell.visits) == 3
    assert set(children_of(os.getpid())) <= before


def test_ranks_link_within_the_memory_that_a_study_gives_them() -> None:
    ring = SetUp(arm="ring", name="ring", collective="all_reduce", op="sum", dtype="float32")
    ranks = RankSet([ring], SetSpec(num_ranks=2, seed=1, boundary="numpy", memory_cap=1 << 10))
    try:
        ranks.start()
        assert ranks.ready() == {}
        refused = ranks.warm_up(CellKey(1024, "ring", 1), 0.0)
        ranks.close()
    finally:
        ranks.kill()
    assert re.search("raise memory_cap", refused.error or "")
