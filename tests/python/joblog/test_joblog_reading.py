"""Traces that are cut off, damaged or not there: one clear line each, and nothing whole is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from joblog_support import call_line, end_line, group_line, rank_line, step_line, whole_rank, write_rank

from ringtree.errors import UsageError
from ringtree.joblog.reading import read_trace

CALL = call_line(0, 1.0, 2.0, (0.0, 0.0))


def test_a_whole_trace(tmp_path: Path) -> None:
    late = call_line(1, 1.5, 1.7, (0.0, 0.0))
    for rank in range(2):
        whole_rank(tmp_path, [late, CALL], [step_line(0, 0.0, 3.0)], rank=rank, world_size=2)
    trace = read_trace(tmp_path)
    assert [rank.about.rank for rank in trace.ranks] == [0, 1]
    assert [call.call for call in trace.ranks[0].calls] == [0, 1]  # by their begin
    assert trace.notes == []


def test_a_killed_rank_loses_its_unfinished_line_only(tmp_path: Path) -> None:
    file = write_rank(tmp_path, [rank_line(), group_line(), CALL])
    with file.open("a") as torn:
        torn.write('{"kind":"call","ca')
    trace = read_trace(tmp_path)
    assert len(trace.ranks[0].calls) == 1
    (note,) = trace.notes
    assert "rank 0 did not end by itself" in note
    assert "1 call and 0 steps are there, an unfinished line of 18 bytes is dropped" in note


def test_ranks_that_left_no_file_are_counted(tmp_path: Path) -> None:
    whole_rank(tmp_path, [CALL], [], rank=1, world_size=4)
    assert read_trace(tmp_path).notes == ["3 ranks of 4 left no file: another host's, or killed"]


def test_the_last_start_of_a_rank_counts(tmp_path: Path) -> None:
    write_rank(tmp_path, [rank_line(begun=5.0), group_line(), CALL, end_line(1, 0, 2.0)], pid=7)
    write_rank(tmp_path, [rank_line(begun=9.0), group_line(), end_line(0, 0, 2.0)], pid=3)
    trace = read_trace(tmp_path)
    assert [len(rank.calls) for rank in trace.ranks] == [0]
    assert trace.notes == ["rank 0 was started more than once: its last start counts"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([rank_line(format="ringtree.job-trace/3")], "damaged in line 1: rank.format: Input should be"),
        ([rank_line(), CALL], "damaged in line 2: there is no group 0"),
        ([group_line()], "damaged in line 1: only the first line says which rank this is"),
        ([rank_line(), rank_line()], "damaged in line 2: only the first line says"),
        ([rank_line(), group_line(), {**CALL, "in_bytes": -1}], "line 3: call.in_bytes: Input should be greater than"),
        (
            [rank_line(), group_line(), {**CALL, "out_bytes": 1 << 60}],
            "line 3: call.out_bytes: Input should be less than",
        ),
        ([rank_line(), group_line(), {**CALL, "end": "x"}], "line 3: call.end: Input should be a valid number"),
        ([rank_line(), group_line(), {**CALL, "end": 0.5}], "line 3: call ends before it begins"),
        ([rank_line(), {"kind": "other"}], "damaged in line 2"),
        ([rank_line(), end_line(2, 0, 1.0)], "it holds 0 calls, its last line says 2"),
        ([], "holds no whole line"),
    ],
)
def test_damage_is_named(tmp_path: Path, lines: list[dict[str, object]], said: str) -> None:
    write_rank(tmp_path, lines)
    with pytest.raises(UsageError) as refused:
        read_trace(tmp_path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_not_a_trace(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no job trace"):
        read_trace(tmp_path)
    with pytest.raises(UsageError, match="is not a folder"):
        read_trace(tmp_path / "nothing")
