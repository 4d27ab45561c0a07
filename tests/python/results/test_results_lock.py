"""One writer a run: the lock holds between processes, is taken over from the dead, and from nobody else.

For: WriterLock and writer_of. Not for: what is written under it (test_results_writer.py).
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ringtree.errors import UsageError
from ringtree.results import writer_of
from ringtree.results.writer_lock import WriterLock

NUM_THREADS = 8


def holder_of(directory: Path) -> dict[str, Any]:
    """What the lock of this very process says."""
    lock = WriterLock(directory)
    holder = json.loads((directory / "writer.lock").read_text())
    lock.release()
    return dict(holder)


def leave_dead_holder(directory: Path, holder: dict[str, Any], token: str) -> None:
    """A lock whose process is gone: another one has its pid now."""
    text = json.dumps({**holder, "start_ticks": holder["start_ticks"] - 1, "token": token})
    (directory / "writer.lock").write_text(text)


def test_the_lock_is_held_until_its_release_and_leaves_nothing(tmp_path: Path) -> None:
    assert writer_of(tmp_path) is None
    lock = WriterLock(tmp_path)
    holder = writer_of(tmp_path)
    assert holder is not None
    assert holder.pid == os.getpid()
    with pytest.raises(UsageError, match=f"process {os.getpid()} on host .*: wait for it"):
        WriterLock(tmp_path)
    lock.release()
    lock.release()
    assert list(tmp_path.iterdir()) == []


def test_it_is_taken_over_from_a_process_that_is_gone_and_from_its_dead_successor(tmp_path: Path) -> None:
    code = "import sys, os; from pathlib import Path; from ringtree.results.writer_lock import WriterLock; "
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", code + "WriterLock(Path(sys.argv[1])); os._exit(9)", tmp_path])
        assert ended.returncode == 9
    assert len(list(tmp_path.iterdir())) == 3, "each took over from the one before it"
    assert writer_of(tmp_path) is None
    lock = WriterLock(tmp_path)
    with pytest.raises(UsageError, match="wait for it"):
        WriterLock(tmp_path)
    lock.release()
    assert list(tmp_path.iterdir()) == []


def test_a_pid_that_another_process_has_now_is_no_holder(tmp_path: Path) -> None:
    leave_dead_holder(tmp_path, holder_of(tmp_path), "aa")
    WriterLock(tmp_path).release()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [{"host": "elsewhere"}, {"boot_id": "other"}, {"pid_namespace": "pid:[1]"}],
    ids=["host", "boot", "container"],
)
def test_what_can_not_be_seen_from_here_is_never_taken_over(tmp_path: Path, change: dict[str, str]) -> None:
    gone = {**holder_of(tmp_path), "start_ticks": 1, **change}
    (tmp_path / "writer.lock").write_text(json.dumps(gone))
    with pytest.raises(UsageError) as error:
        WriterLock(tmp_path)
    assert f"process {os.getpid()} on host '{gone['host']}': if it has ended, delete " in str(error.value)
    assert str(tmp_path / "writer.lock") in str(error.value)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b'"text"'])
def test_a_lock_that_names_nobody_is_refused_with_what_to_do(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "writer.lock").write_bytes(content)
    with pytest.raises(UsageError, match="names no writer: if none is running, delete it"):
        WriterLock(tmp_path)


def test_without_hard_links_the_lock_still_excludes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    lock = WriterLock(tmp_path)
    with pytest.raises(UsageError, match="wait for it"):
        WriterLock(tmp_path)
    lock.release()
    assert list(tmp_path.iterdir()) == []


def test_a_chain_that_was_given_back_while_one_joined_it_is_left_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    living = holder_of(tmp_path)
    leave_dead_holder(tmp_path, living, "aa")
    link = os.link

    def given_back_first(source: Path, target: Path) -> None:
        if target.name == "writer.lock.aa":  # its holder was just done, and somebody else begins
            (tmp_path / "writer.lock").write_text(json.dumps({**living, "token": "bb"}))
        link(source, target)

    monkeypatch.setattr(os, "link", given_back_first)
    with pytest.raises(UsageError, match="wait for it"):
        WriterLock(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["writer.lock"]


def run_threads(what: Any) -> None:
    threads = [threading.Thread(target=what) for _ in range(NUM_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_of_many_that_meet_a_dead_holder_one_takes_over(tmp_path: Path) -> None:
    holder = holder_of(tmp_path)
    for round_ in range(40):
        leave_dead_holder(tmp_path, holder, f"token{round_}")
        won: list[WriterLock] = []
        barrier = threading.Barrier(NUM_THREADS)

        def contend(won: list[WriterLock] = won, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            with contextlib.suppress(UsageError):
                won.append(WriterLock(tmp_path))

        run_threads(contend)
        assert len(won) == 1, f"round {round_}"
        won[0].release()
        assert list(tmp_path.iterdir()) == []


def test_a_lock_that_is_given_back_meanwhile_is_never_held_by_two(tmp_path: Path) -> None:
    holder = holder_of(tmp_path)
    inside: list[int] = []
    most: list[int] = []
    for round_ in range(20):
        leave_dead_holder(tmp_path, holder, f"token{round_}")

        def take_turns() -> None:
            while True:
                try:
                    lock = WriterLock(tmp_path)
                except UsageError:
                    continue
                inside.append(1)
                most.append(len(inside))
                inside.pop()
                lock.release()
                return

        run_threads(take_turns)
        assert max(most) == 1, f"round {round_}"
        assert list(tmp_path.iterdir()) == []
