"""What a trace of a job on GPUs adds up to, from lines written by hand: the table, its notes, the picture, worth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from joblog_support import (
    call_line,
    device_call,
    device_step,
    end_line,
    gpu_call,
    group_line,
    rank_line,
    step_line,
    write_rank,
)

from ringtree.errors import UsageError
from ringtree.joblog.picture import step_timeline
from ringtree.joblog.reading import read_trace
from ringtree.joblog.summary import Summary, median_step, summarise
from ringtree.joblog.worth import worth
from ringtree.show.job_trace_table import trace_lines

SIZE = 4096


def job(folder: Path, *lines: dict[str, Any], rank: int = 0, **about: Any) -> Path:
    """Four steps of 10, 10, 12 and 10 s, with an all-reduce and an all-gather each; `lines`: what the GPU says."""
    steps = [
        {**step_line(step, begin, end), "timed": step in (0, 2)}
        for step, (begin, end) in enumerate([(0.0, 10.0), (10.0, 20.0), (21.0, 33.0), (34.0, 44.0)])
    ]
    calls = []
    for step, line in enumerate(steps):
        calls.append(gpu_call(2 * step, step, line["begin"] + 1))
        calls.append(gpu_call(2 * step + 1, step, line["begin"] + 2, collective="all_gather", in_bytes=SIZE // 2))
    groups = [group_line(backend="nccl"), group_line(1, size=1, backend="nccl")]
    first = {"format": "ringtree.job-trace/2", "world_size": 2, **about}
    return write_rank(folder, [rank_line(rank, **first), *groups, *calls, *steps, *lines, end_line(8, 4, 44.0)], rank)


RECORDED = [device_call(4, 24.0, 30.0, 4.0), device_call(5, 29.0, 32.0, 1.0), device_step(2, 5.0)]
OF_RANK_1 = [device_call(4, 24.0, 28.0, 2.0), device_call(5, 29.0, 32.0, 1.0), device_step(2, 3.0)]


def summary_of(folder: Path, *lines: dict[str, Any], **about: Any) -> Summary:
    job(folder, *lines, world_size=1, **about)
    return summarise(read_trace(folder))


def test_times_of_both_ranks_add_up_to_rows_and_steps(tmp_path: Path) -> None:
    job(tmp_path, *RECORDED)
    job(tmp_path, *OF_RANK_1, rank=1)
    trace = read_trace(tmp_path)
    summary = summarise(trace)
    assert summary.notes == []
    reduce, gather = summary.rows
    assert (reduce.kind.collective, reduce.kind.device, reduce.calls, reduce.bytes) == ("all_reduce", "cuda", 1, SIZE)
    assert (reduce.call_time, reduce.step_time, reduce.exposed) == (5.0, 5.0, 3.0)
    assert (gather.call_time, gather.step_time, gather.exposed) == (3.0, 3.0, 1.0)
    assert (summary.exposed, summary.timed_time, summary.num_timed) == (4.0, 12.0, 1)
    assert summary.share == pytest.approx(4 / 12)
    assert summary.step_time == pytest.approx(11.0), "of all steps, without what lies between them"
    assert median_step(trace, summary) == 2


def test_steps_that_some_ranks_timed_are_counted(tmp_path: Path) -> None:
    """On GPUs ranks choose their steps by their own clocks."""
    job(tmp_path, *RECORDED)
    job(tmp_path, {"kind": "not_timed", "step": 2, "why": "no CUPTI"}, rank=1)
    summary = summarise(read_trace(tmp_path))
    assert (summary.num_timed, summary.timed_time, summary.exposed) == (1, 12.0, 5.0)
    assert "in the 1 that were timed" in trace_lines(summary)[0]
    assert [row.exposed for row in summary.rows] == [4.0, 1.0]


def test_the_table_says_what_the_times_are(tmp_path: Path) -> None:
    said = " ".join(trace_lines(summary_of(tmp_path, *RECORDED)))
    assert "while it was in flight, nothing else ran on its rank's GPU." in said
    assert "which also wait in there for ranks that are late" in said
    assert "exposed in all: 5.00 s a step, 42% of it" in said


def test_worth_has_a_bound(tmp_path: Path) -> None:
    (arm,) = worth(summary_of(tmp_path, *RECORDED), ["nccl:Tree"], "2.20.5")
    assert (arm.bound, arm.share) == (4.0, pytest.approx(4 / 12))  # of the all-reduce: Tree has no all-gather


def test_the_picture_shows_when_the_kernels_ran(tmp_path: Path) -> None:
    job(tmp_path, device_call(4, 29.0, 32.0, 1.0), device_call(5, 24.0, 30.0, 4.0), device_step(2, 5.0))
    trace = read_trace(tmp_path)
    events = step_timeline(trace, summarise(trace), 2)["traceEvents"]
    slices = [(one["name"], one["tid"], one["ts"], one["dur"]) for one in events if one["ph"] == "X"]
    second = 1e6
    assert slices == [
        ("step 2", 1, 0.0, 12 * second),
        ("all_gather 4 KB", 2, 3 * second, 6 * second),
        ("all_reduce 4 KB", 3, 8 * second, 3 * second),  # beside it, although it was issued first
    ]


def test_what_cannot_be_told_apart_is_given_by_kind(tmp_path: Path) -> None:
    kernels = [
        {"kernel": "AllGather", "num": 1, "in_flight": 3.0, "exposed": 1.0},
        {"kernel": "AllReduce", "num": 3, "in_flight": 6.0, "exposed": 4.0},
    ]
    unsure = device_step(2, 5.0, lost=["all_reduce"], unmatched=3, kernels=kernels)
    summary = summary_of(tmp_path, device_call(4, 24.0, 30.0, 4.0), device_call(5, 29.0, 32.0, 1.0), unsure)
    rows = {row.kind.collective: row for row in summary.rows}
    assert (rows["all_reduce"].step_time, rows["all_reduce"].exposed, rows["all_gather"].exposed) == (None, None, 1.0)
    assert summary.exposed == 5.0
    assert summary.notes == [
        "1 timed step of ranks: not every all_reduce has kernels that are known for its own; 3 kernels of collectives "
        "belong to no call (a CUDA graph, another library). By kind, a step: 1 AllGather, 3.00 s in flight, 1.00 s "
        "exposed; 3 AllReduce, 6.00 s in flight, 4.00 s exposed"
    ]
    (arm,) = worth(summary, ["nccl:Tree"], "2.20.5")
    assert arm.bound is None


def test_steps_that_were_not_timed_say_why(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, {"kind": "not_timed", "step": 2, "why": "no CUPTI"})
    assert (summary.exposed, summary.num_timed) == (None, 0)
    assert summary.notes == [
        "4 calls on GPUs: counted, not timed",
        "not timed on the GPU, 1 step of ranks: no CUPTI",
    ]
    some = summary_of(tmp_path, *RECORDED, {"kind": "not_timed", "step": 3, "why": "the job runs a profiler"})
    assert some.exposed == 5.0
    assert some.notes == ["not timed on the GPU, 1 step of ranks: the job runs a profiler"]


def test_a_trace_of_an_older_ringtree_is_read_and_has_no_times(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, format="ringtree.job-trace/1")
    assert summary.rows[0].exposed is None
    assert summary.notes == [
        "4 calls on GPUs: counted, not timed (the trace is of an older ringtree, which could not)",
    ]


def test_none_of_the_steps_that_count_was_timed(tmp_path: Path) -> None:
    job(tmp_path, *RECORDED, world_size=1)
    summary = summarise(read_trace(tmp_path), skip=3)
    assert summary.notes == [
        "2 calls on GPUs: counted, not timed (none of these steps was timed: trace more of them, or all with "
        "--time-every 1)"
    ]


def test_a_job_without_steps(tmp_path: Path) -> None:
    lines = [rank_line(), group_line(), gpu_call(0, 0, 1.0), end_line(1, 0, 2.0)]
    write_rank(tmp_path, [{**lines[0], "format": "ringtree.job-trace/2"}, *lines[1:]])
    summary = summarise(read_trace(tmp_path))
    assert summary.exposed is None
    assert summary.notes[1] == (
        "1 call on GPUs: counted, not timed (on GPUs whole steps are timed: tracer.mark_step() ends one)"
    )


def test_calls_of_both_kinds_of_device_and_of_groups_of_one(tmp_path: Path) -> None:
    """The rank waits for Gloo for 2 s; a group of one has nothing to be timed."""
    on_cpu = call_line(8, 22.0, 24.0, (0.0, 0.0), step=2, group=0)
    alone = gpu_call(9, 2, 25.0, group=1)
    file = job(tmp_path, *RECORDED, on_cpu, alone, world_size=1)
    file.write_text(file.read_text().replace('"num_calls": 8', '"num_calls": 10'))
    summary = summarise(read_trace(tmp_path))
    assert summary.exposed == 7.0
    by_row = {(row.kind.collective, row.kind.device, row.kind.group_size): row.exposed for row in summary.rows}
    assert by_row == {
        ("all_reduce", "cuda", 2): 4.0,
        ("all_gather", "cuda", 2): 1.0,
        ("all_reduce", "cpu", 2): 2.0,
        ("all_reduce", "cuda", 1): None,
    }
    assert summary.notes == []


def test_a_step_that_was_not_recorded_on_the_gpu_is_in_no_mean_of_the_host_either(tmp_path: Path) -> None:
    """Step 0 is timed by the host alone: 8 s of Gloo there, 2 s in step 2, which alone counts as timed."""
    before = call_line(8, 1.0, 9.0, (0.0, 0.0), step=0)
    counted = call_line(9, 22.0, 24.0, (0.0, 0.0), step=2)
    file = job(tmp_path, *RECORDED, before, counted, world_size=1)
    file.write_text(file.read_text().replace('"num_calls": 8', '"num_calls": 10'))
    summary = summarise(read_trace(tmp_path), skip=0)
    (on_cpu,) = (row for row in summary.rows if row.kind.device == "cpu")
    assert (summary.num_timed, summary.exposed) == (1, 7.0)
    assert (on_cpu.step_time, on_cpu.exposed) == (2.0, 2.0)
    assert sum(row.exposed or 0.0 for row in summary.rows) == summary.exposed


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (device_call(11, 1.0, 2.0, 0.0), "it times call 11 on the GPU, which it does not hold"),
        (device_call(4, 2.0, 1.0, 0.0) | {"in_flight": 0.0}, "damaged in line 16: call ends before it begins"),
        (device_step(2, -1.0), "device_step.exposed: Input should be greater than or equal to 0"),
    ],
)
def test_damage_is_named(tmp_path: Path, line: dict[str, Any], said: str) -> None:
    job(tmp_path, line)
    with pytest.raises(UsageError, match=said):
        read_trace(tmp_path)
