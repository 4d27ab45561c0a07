"""What a trace adds up to, from steps written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from joblog_support import call_line, step_line, whole_rank

from ringtree.errors import UsageError
from ringtree.joblog.reading import read_trace
from ringtree.joblog.records import CallLine
from ringtree.joblog.sizes import size_of_call
from ringtree.joblog.summary import median_step, summarise

UNTIMED = {"end": None, "ran_end": None}


def test_times_are_of_the_timed_steps_and_counts_of_all(tmp_path: Path) -> None:
    """Steps of 10, 10, 10 and 12 s; only the last two are timed, in which a call of 3 and one of 5 s is waited for."""
    ends = [10.0, 20.0, 30.0, 42.0]
    lasts = [None, None, 3.0, 5.0]
    calls, steps = [], []
    for step, (end, seconds) in enumerate(zip(ends, lasts, strict=True)):
        begin = 10.0 * step
        call = call_line(step, begin + 1, begin + 1 + (seconds or 0.0), (0.0, 0.0), step=step)
        calls.append(call if seconds else {**call, **UNTIMED})
        steps.append({**step_line(step, begin, end), "timed": seconds is not None})
    whole_rank(tmp_path, calls, steps)
    trace = read_trace(tmp_path)
    summary = summarise(trace, skip=1)
    (row,) = summary.rows
    assert (row.calls, row.bytes) == (1.0, 4096.0)
    assert summary.step_time == pytest.approx((10 + 10 + 12) / 3)
    assert (summary.num_timed, summary.timed_time) == (2, pytest.approx(11.0))
    assert (row.exposed, row.step_time, summary.exposed) == (pytest.approx(4.0),) * 3
    assert summary.share == pytest.approx(4 / 11)
    assert median_step(trace, summary) == 3  # the longer of the two timed ones


def test_a_trace_without_a_timed_step_says_so(tmp_path: Path) -> None:
    steps = [{**step_line(step, 10.0 * step, 10.0 * step + 10), "timed": False} for step in range(3)]
    whole_rank(tmp_path, [{**call_line(0, 21.0, 22.0, (0.0, 0.0), step=2), **UNTIMED}], steps)
    summary = summarise(read_trace(tmp_path))
    assert (summary.exposed, summary.share, summary.rows[0].exposed) == (None, None, None)
    assert summary.notes == ["none of these steps was timed: trace more of them, or all (--time-every 1)"]


def test_a_job_without_steps_is_one(tmp_path: Path) -> None:
    whole_rank(tmp_path, [call_line(0, 1.0, 3.0, (0.0, 0.0))], [])
    summary = summarise(read_trace(tmp_path))
    assert summary.whole_run
    assert (summary.step_time, summary.exposed) == (pytest.approx(2.0), pytest.approx(2.0))
    assert summary.notes == ["no optimizer step was seen: the whole run counts as one step"]


def test_skipping_all(tmp_path: Path) -> None:
    whole_rank(tmp_path, [], [step_line(0, 0.0, 1.0)])
    with pytest.raises(UsageError, match="--skip 1 leaves none of 1 step"):
        summarise(read_trace(tmp_path), skip=1)


@pytest.mark.parametrize(
    ("collective", "given", "got", "size"),
    [
        ("all_reduce", 8, 8, 8),
        ("all_gather", 8, 32, 32),
        ("reduce_scatter", 32, 8, 32),
        ("gather", 8, 0, 32),  # not the root: it gives a block and gets nothing
        ("scatter", 0, 8, 32),
        ("recv", 0, 8, 8),
    ],
)
def test_a_size_counts_all_blocks(collective: str, given: int, got: int, size: int) -> None:
    line = call_line(0, 1.0, 2.0, (0.0, 0.0), collective=collective, in_bytes=given, out_bytes=got)
    call = CallLine.model_validate(line)
    assert size_of_call(call.collective, call.in_bytes, call.out_bytes, 4) == size
