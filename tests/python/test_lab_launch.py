"""Launches and their messages: framing is checked, a launch that stalls is given up with nothing left behind.

For: ringtree.lab.framing, rank_group and launch. Not for: kills from outside (test_compare.py).
"""

from __future__ import annotations

import os

import pytest
from lab_support import children_of, make_plan

from ringtree.lab import framing
from ringtree.lab.compare import merge_ranks
from ringtree.lab.framing import ReportReader, read_spec, write_report, write_spec
from ringtree.lab.launch import run_launch
from ringtree.lab.messages import CellReport, DoneReport, ProgressReport, RankSpec, reports
from ringtree.lab.plan import planned_launches
from ringtree.lab.rank_group import LaunchFailed
from ringtree.results import WrongElement


def make_spec() -> RankSpec:
    plan = make_plan()
    return RankSpec(
        plan=plan,
        rank=1,
        launch=0,
        keep_operands=True,
        session="s",
        process_group=1,
        torch_store="nowhere",
        timeout=1.0,
    )


def make_report(arm: str = "a", **changes: object) -> CellReport:
    fields = {
        "size_bytes": 1024,
        "arm": arm,
        "executed": {"algorithm": arm},
        "times": [1.0, 2.0],
        "visits": [{"round": 0, "position": 0, "num_iterations": 2, "handoff": (3e-8, 4e-8)}],
        "warm_up": {"num_iterations": 4, "ended": "stable"},
        "first_wrong": None,
        "error": None,
    }
    return CellReport.model_validate({**fields, **changes})


def test_specification_goes_through_a_pipe() -> None:
    source, sink = os.pipe()
    write_spec(sink, make_spec())
    assert read_spec(source, RankSpec) == make_spec()
    os.close(sink)
    with pytest.raises(EOFError, match="the lab ended"):
        read_spec(source, RankSpec)
    os.close(source)


@pytest.mark.parametrize("length", [framing.MAX_SPEC_BYTES + 1, (1 << 64) - 1])
def test_a_length_is_checked_before_it_is_used(length: int) -> None:
    source, sink = os.pipe()
    os.write(sink, length.to_bytes(8, "big"))
    with pytest.raises(ValueError, match="longer than"):
        read_spec(source, RankSpec)
    os.close(source)
    os.close(sink)


def test_reports_are_whole_however_they_arrive() -> None:
    source, sink = os.pipe()
    progress = ProgressReport(done=1, total=9, text="ring 1 KB")
    sent = [progress, make_report(), make_report("b", error="why"), DoneReport()]
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


def test_a_cell_is_verified_only_if_every_rank_says_so() -> None:
    plan = make_plan(sizes=(1024,))
    wrong = WrongElement(rank=1, iteration=0, call=0, index=2, expected=1.0, found=2.0)
    (good,) = merge_ranks(plan, [[make_report()], [make_report()]])
    assert good.verified
    assert good.times == [[1.0, 2.0]] * 2
    assert [(visit.num_iterations, visit.handoff) for visit in good.visits] == [(2, (3e-8, 4e-8))]
    (bad,) = merge_ranks(plan, [[make_report()], [make_report(first_wrong=wrong)]])
    assert not bad.verified
    assert bad.first_wrong == wrong
    (failed,) = merge_ranks(plan, [[make_report()], [make_report(times=[], error="why")]])
    assert (failed.verified, failed.error, failed.times) == (False, "why", [])
    (differing,) = merge_ranks(plan, [[make_report()], [make_report(executed={"algorithm": "other"})]])
    assert differing.error == "ranks executed different algorithms: a, other"
    assert not differing.verified


def test_ranks_that_report_different_cells_fail_the_launch() -> None:
    with pytest.raises(LaunchFailed, match="different cells"):
        merge_ranks(make_plan(), [[make_report("a")], [make_report("b")]])


def test_a_launch_that_stalls_is_given_up_and_cleaned_up() -> None:
    before = set(children_of(os.getpid()))
    plan = make_plan(arms=("ring", "tree"), num_ranks=2)
    with pytest.raises(
        LaunchFailed, match=r"launch 1 failed before its first cell: no rank reported for 0 s; 2 ranks of 2"
    ):
        run_launch(plan, planned_launches(plan)[0], lambda report: None, stall_limit=0.0)
    assert set(children_of(os.getpid())) <= before


def test_ranks_that_can_not_start_are_named_with_their_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtree.lab.rank_group.RANK_ENVIRONMENT", {"PYTHONHASHSEED": "nonsense"})
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
            _, ((cell,),) = run_launch(plan, launch, lambda report: None)
            assert (cell.arm, cell.error) == ("ring", None)
        else:
            with pytest.raises(LaunchFailed, match="PYTHONHASHSEED"):
                run_launch(plan, launch, lambda report: None)
