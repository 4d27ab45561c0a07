"""The tracer's recorder in C++: what it reads of a call is what Python reads, whoever issues it and however often."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch")

import tracer_ranks
from torch_ranks import Crews

from ringtree.compiling import BuildError
from ringtree.joblog import tracer
from ringtree.joblog.environment import FOLDER
from ringtree.joblog.operators import Described, Group
from ringtree.joblog.reading import read_trace
from ringtree.joblog.records import CallLine, RankRecord
from ringtree.joblog.running import run_traced
from ringtree.torch import building

pytestmark = pytest.mark.torch


def said(rank: RankRecord, call: CallLine) -> Described:
    group = rank.groups[call.group]
    return Described(
        call.operator,
        call.collective,
        Group(group.name, group.backend, group.size, tuple(group.ranks)),
        call.in_bytes,
        call.out_bytes,
        call.dtype,
        call.device,
        call.num_tensors,
    )


def recorded(crews: Crews, folder: Path, name: str, case: str, *more: object) -> list[RankRecord]:
    crews.get(2, "gloo").run(case, str(folder), *more, module="tracer_ranks")
    trace = read_trace(folder / name)
    assert trace.notes == []
    assert len(trace.ranks) == 2
    return trace.ranks


def test_cpp_reads_of_a_call_what_python_reads(crews: Crews, tmp_path: Path) -> None:
    found = crews.get(2, "gloo").run("read_twice", str(tmp_path), module="tracer_ranks")
    ranks = read_trace(tmp_path / "twice").ranks
    for rank, by_python in zip(ranks, found, strict=True):
        assert [said(rank, call) for call in rank.calls] == by_python
        assert len(by_python) == 15
        # Would be found: another size.
        assert [said(rank, call)._replace(in_bytes=call.in_bytes + 1) for call in rank.calls] != by_python


def test_more_calls_than_are_kept_are_written_and_none_is_lost(crews: Crews, tmp_path: Path) -> None:
    for rank in recorded(crews, tmp_path, "many", "many_calls", 40, 400):
        assert [call.call for call in rank.calls] == list(range(400))
        assert all(call.end is not None for call in rank.calls)
        assert rank.end is not None
        assert rank.end.num_calls == 400


def test_room_is_made_before_a_call_begins(crews: Crews, tmp_path: Path) -> None:
    """A call in whose begin it was made would be written before it is issued, and read as one that raised."""
    for rank in recorded(crews, tmp_path, "untimed", "untimed_calls", 10):
        assert [call.call for call in rank.calls] == list(range(31))
        assert [call.step for call in rank.calls] == [0] + [1] * 30
        assert all(call.issued is not None for call in rank.calls)
        assert [call.end is None for call in rank.calls] == [False] + [True] * 30


def test_what_a_signal_raises_while_python_is_asked_is_for_the_job(crews: Crews, tmp_path: Path) -> None:
    assert crews.get(2, "gloo").run("told_to_end", str(tmp_path), module="tracer_ranks") == [7, 7]
    for rank in read_trace(tmp_path / "ends").ranks:
        assert [call.call for call in rank.calls] == [0, 1, 2]
        assert rank.end is not None


def test_calls_of_several_threads(crews: Crews, tmp_path: Path) -> None:
    for rank in recorded(crews, tmp_path, "threads", "in_threads"):
        number = tracer_ranks.NUM_THREADS * tracer_ranks.CALLS_A_THREAD
        assert [call.call for call in rank.calls] == list(range(number))
        sizes = Counter(call.in_bytes for call in rank.calls)
        assert sizes == {4 * (n + 1): tracer_ranks.CALLS_A_THREAD for n in range(tracer_ranks.NUM_THREADS)}
        assert len({(call.group, call.in_bytes) for call in rank.calls}) == tracer_ranks.NUM_THREADS


def test_what_a_thread_computed_counts_when_it_is_gone(crews: Crews, tmp_path: Path) -> None:
    for rank in recorded(crews, tmp_path, "ended", "in_a_thread_that_ends", 0.02):
        first, second = rank.calls
        assert first.ran_end is not None
        assert second.ran_begin - first.ran_end >= 0.019


def test_a_second_recording_is_of_its_own_calls(crews: Crews, tmp_path: Path) -> None:
    crews.get(2, "gloo").run("one_after_the_other", str(tmp_path), module="tracer_ranks")
    for name, number in (("first", 3), ("second", 2)):
        assert [[call.call for call in rank.calls] for rank in read_trace(tmp_path / name).ranks] == [
            list(range(number))
        ] * 2


def test_a_call_that_raises_raises_and_is_recorded(crews: Crews, tmp_path: Path) -> None:
    told = crews.get(2, "gloo").run("that_raises", str(tmp_path), module="tracer_ranks")
    for rank, errors in zip(read_trace(tmp_path / "raises").ranks, told, strict=True):
        assert len(errors) == 1
        assert [call.issued is None for call in rank.calls] == [True, False]
        assert [call.end is None for call in rank.calls] == [True, False]


def test_a_call_without_a_future_ends_when_it_was_waited_for_in_its_step(crews: Crews, tmp_path: Path) -> None:
    assert crews.get(2, "gloo").run("without_futures", str(tmp_path), module="tracer_ranks") == [True, True]
    for rank in read_trace(tmp_path / "waits").ranks:
        assert [call.end is not None for call in rank.calls] == [True, False, False]


def test_a_child_that_fork_made_is_not_recorded(crews: Crews, tmp_path: Path) -> None:
    assert crews.get(2, "gloo").run("that_forks", str(tmp_path), module="tracer_ranks") == [0, 0]
    for rank in read_trace(tmp_path / "forks").ranks:
        assert [call.in_bytes for call in rank.calls] == [4, 8]
        assert rank.end is not None


def test_a_job_does_not_start_where_the_tracer_cannot_be_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "load", building.load.__wrapped__)  # this process may have loaded it before
    monkeypatch.setenv("RINGTREE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(BuildError, match=r"no C\+\+ compiler \(no-such-compiler\).*job tracer") as told:
        run_traced(["touch", os.fspath(tmp_path / "started")], tmp_path / "trace")
    assert "\n" not in str(told.value)
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    ("error", "said"),
    [(BuildError("no compiler"), "no compiler"), (OSError(28, "no\nspace"), "OSError: [Errno 28] no space")],
)
def test_why_a_process_is_not_traced_reaches_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.setattr(tracer, "install", fails)
    with pytest.raises(type(error)):
        tracer.install_from_environment()
    (marker,) = tmp_path.iterdir()
    assert marker.read_text() == said


def test_a_job_does_not_start_where_the_tracer_cannot_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise ImportError("libc10.so: no such file")

    monkeypatch.setattr("ringtree.torch.building.load", fails)
    with pytest.raises(BuildError, match=r"^the job tracer can't be loaded: libc10.so: no such file$"):
        run_traced(["touch", os.fspath(tmp_path / "started")], tmp_path / "trace")
    assert not (tmp_path / "started").exists()
