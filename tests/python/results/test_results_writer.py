"""Writers that are killed, run out of room or meet each other: no acknowledged launch is lost, none is stored twice.

For: RunWriter against kill -9, torn ends, full disks and many writers. Not for: what read_run says of damage
(test_results.py), the lock by itself (test_results_lock.py).
"""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lab_support import make_cell, make_launch, make_plan, make_run, make_visits

from ringtree.errors import UsageError
from ringtree.results import Launch, RunWriter, StoreError, list_runs, read_run

RUN_ID = "20260101T000000Z-abcdef"

# Appends launches from a number on, each acknowledged by a line once `append` has returned.
WRITER = """
import resource, signal, sys
from pathlib import Path
from lab_support import make_cell, make_launch, make_plan, make_run, make_visits
from ringtree.results import RunWriter, StoreError

runs, run_id, first, end, num_iterations, limit = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
if limit:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
path = Path(runs) / run_id
writer = RunWriter.resume(path) if path.exists() else RunWriter(Path(runs), make_run(make_plan(), run_id=run_id))
try:
    for launch in range(first, end):
        writer.append(make_launch(launch, [make_cell("a", 1024, 0.1, times=[[0.1 + launch] * num_iterations] * 2,
                                                     visits=make_visits(1, num_iterations))]))
        print(launch, flush=True)
except StoreError as error:
    print(error, flush=True)
writer.close()
"""


def start_writer(
    runs: Path, run_id: str = RUN_ID, first: int = 0, end: int = 1 << 30, num_iterations: int = 3, limit: int = 0
) -> subprocess.Popen[str]:
    arguments = [str(argument) for argument in (runs, run_id, first, end, num_iterations, limit)]
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def launch_of(index: int, num_iterations: int = 3) -> Launch:
    times = [[0.1 + index] * num_iterations] * 2
    return make_launch(index, [make_cell("a", 1024, 0.1, times=times, visits=make_visits(1, num_iterations))])


def lock_files(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir() if "writer.lock" in entry.name)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_kill_9_loses_no_acknowledged_launch(tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    acknowledged: list[int] = []
    for _ in range(2):
        first = len(read_run(tmp_path / RUN_ID).launches) if acknowledged else 0
        # Lines of half a megabyte: most of a writer's time is spent in the middle of one.
        writer = start_writer(tmp_path, first=first, num_iterations=60_000)
        assert writer.stdout is not None
        for _ in range(chosen.randint(1, 6)):
            acknowledged.append(int(writer.stdout.readline()))
        writer.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in writer.stdout.read().split()]
        writer.wait()
        stored = [launch.launch for launch in read_run(tmp_path / RUN_ID).launches]
        assert stored[: len(acknowledged)] == acknowledged, f"seed {seed}"
        assert len(stored) <= len(acknowledged) + 1, f"seed {seed}: one launch was under way"
        acknowledged = stored
    with RunWriter.resume(tmp_path / RUN_ID) as resumed:
        resumed.append(launch_of(len(acknowledged)))
    whole = read_run(tmp_path / RUN_ID)
    assert [launch.launch for launch in whole.launches] == list(range(len(acknowledged) + 1))
    assert whole.notes == []
    assert lock_files(tmp_path / RUN_ID) == [], "what killed writers left is taken away"


def test_resume_cuts_off_a_torn_end_of_any_length(tmp_path: Path) -> None:
    with RunWriter(tmp_path, make_run(make_plan(), run_id=RUN_ID)) as writer:
        for index in range(2):
            writer.append(launch_of(index))
    file = tmp_path / RUN_ID / "launches.jsonl"
    whole = file.read_bytes()
    first_end = whole.index(b"\n") + 1
    middle = random.Random(4).sample(range(first_end + 3, len(whole) - 3), 20)
    for cut in (first_end, first_end + 1, first_end + 2, *middle, len(whole) - 2, len(whole) - 1):
        file.write_bytes(whole[:cut])
        with RunWriter.resume(tmp_path / RUN_ID) as writer:
            torn = cut - first_end
            assert writer.notes == ([f"dropped a torn last line of {torn} bytes in launches.jsonl"] if torn else [])
            assert writer.stored == {0}
            writer.append(launch_of(1))
        assert file.read_bytes() == whole


def test_resume_writes_what_a_missing_file_would_have_held(tmp_path: Path) -> None:
    RunWriter(tmp_path, make_run(make_plan(), run_id=RUN_ID)).close()
    (tmp_path / RUN_ID / "launches.jsonl").unlink()
    with RunWriter.resume(tmp_path / RUN_ID) as writer:
        writer.append(launch_of(0))
    assert len(read_run(tmp_path / RUN_ID).launches) == 1


def test_a_launch_is_never_stored_twice(tmp_path: Path) -> None:
    with RunWriter(tmp_path, make_run(make_plan(), run_id=RUN_ID)) as writer:
        writer.append(launch_of(0))
        with pytest.raises(UsageError, match="launch 0 is stored"):
            writer.append(launch_of(0))
    with RunWriter.resume(writer.path) as writer, pytest.raises(UsageError, match="launch 0 is stored"):
        writer.append(launch_of(0))
    assert len(read_run(writer.path).launches) == 1


def test_a_damaged_or_foreign_run_is_not_resumed_and_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no run"):
        RunWriter.resume(tmp_path / "nowhere")
    RunWriter(tmp_path, make_run(make_plan(), run_id=RUN_ID)).close()
    file = tmp_path / RUN_ID / "launches.jsonl"
    file.write_bytes(b"{}\ntorn")
    with pytest.raises(UsageError, match="line 1"):
        RunWriter.resume(tmp_path / RUN_ID)
    assert file.read_bytes() == b"{}\ntorn"
    assert lock_files(tmp_path / RUN_ID) == []


def test_many_writers_of_different_runs_lose_nothing(tmp_path: Path) -> None:
    runs = tmp_path / "not" / "there" / "yet"
    ids = [f"20260101T00000{number}Z-abcdef" for number in range(5)]
    writers = [start_writer(runs, run_id, end=8) for run_id in ids]
    for writer in writers:
        output, _ = writer.communicate()
        assert (writer.returncode, output.split()) == (0, [str(index) for index in range(8)])
    listings = list_runs(runs)
    assert sorted(listing.run_id for listing in listings) == ids
    for listing in listings:
        assert read_run(listing.path).launches == [launch_of(index) for index in range(8)]


def test_a_second_writer_is_refused_by_the_first_ones_name(tmp_path: Path) -> None:
    with start_writer(tmp_path) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(UsageError) as error:
            RunWriter.resume(tmp_path / RUN_ID)
        assert f"process {writer.pid} on host '{os.uname().nodename}'" in str(error.value)
        assert "\n" not in str(error.value)
        writer.kill()
    with RunWriter.resume(tmp_path / RUN_ID) as resumed:
        assert resumed.stored


def test_a_full_disk_is_one_line_and_what_was_stored_stays(tmp_path: Path) -> None:
    num_iterations = 1000  # a line is then longer than run.json, which is to fit
    length = len(launch_of(0, num_iterations).model_dump_json()) + 1
    writer = start_writer(tmp_path, num_iterations=num_iterations, limit=7 * length // 2)
    output, _ = writer.communicate()
    *acknowledged, said = output.splitlines()
    assert acknowledged == ["0", "1", "2"]
    path = tmp_path / RUN_ID
    count = len(acknowledged)
    assert said == f"can't store launch {count} in {path}: File too large; {count} launches are stored there"
    stored = read_run(path)
    assert [launch.launch for launch in stored.launches] == [int(line) for line in acknowledged]
    assert stored.notes == [], "the half line was taken back"
    with RunWriter.resume(path) as resumed:
        resumed.append(launch_of(len(acknowledged)))
    assert len(read_run(path).launches) == len(acknowledged) + 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_device_without_room_is_one_line(tmp_path: Path) -> None:
    with RunWriter(tmp_path, make_run(make_plan(), run_id=RUN_ID)) as writer:
        file = writer.path / "launches.jsonl"
        file.unlink()
        file.symlink_to("/dev/full")
        with pytest.raises(StoreError, match=r"launch 0 in .*: No space left on device; 0 launches are stored there$"):
            writer.append(launch_of(0))


def fail_once(call: Callable[..., object], code: int, after_half: bool = False) -> Callable[..., object]:
    """Makes the first call fail, for os.write after half of the bytes."""
    calls: list[object] = []

    def failing(handle: int, *rest: bytes) -> object:
        calls.append(rest)
        if after_half and len(calls) == 1:
            return call(handle, rest[0][: len(rest[0]) // 2])
        if len(calls) == 1 + after_half:
            raise OSError(code, os.strerror(code))
        return call(handle, *rest)

    return failing


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("name", ["write", "fsync"])
@pytest.mark.parametrize("can_truncate", [True, False])
def test_a_failed_append_leaves_whole_lines_and_the_next_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, name: str, can_truncate: bool
) -> None:
    with RunWriter(tmp_path, make_run(make_plan(), run_id=RUN_ID)) as writer:
        writer.append(launch_of(0))
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail_once(getattr(os, name), code, after_half=name == "write"))
            if not can_truncate:
                patch.setattr(os, "ftruncate", fail_once(os.ftruncate, errno.EIO))
            with pytest.raises(StoreError) as error:
                writer.append(launch_of(1))
        assert os.strerror(code) in str(error.value)
        assert str(error.value).endswith("1 launch is stored there")
        if can_truncate or name == "write":
            stored = read_run(writer.path)
            assert stored.launches == [launch_of(0)]
            assert bool(stored.notes) == (not can_truncate), "a torn end that could not be taken back is said"
        writer.append(launch_of(1))
        writer.append(launch_of(2))
    assert read_run(writer.path).launches == [launch_of(index) for index in range(3)]
    assert read_run(writer.path).notes == []


def test_ctrl_c_in_an_append_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(handle: int) -> None:
        raise KeyboardInterrupt

    with RunWriter(tmp_path, make_run(make_plan(), run_id=RUN_ID)) as writer:
        writer.append(launch_of(0))
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", interrupted)
            with pytest.raises(KeyboardInterrupt):
                writer.append(launch_of(1))
        writer.append(launch_of(1))
    assert read_run(writer.path).launches == [launch_of(0), launch_of(1)]


@pytest.mark.parametrize("num_synced", range(5))
def test_a_run_that_can_not_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, num_synced: int
) -> None:
    calls: list[int] = []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) > num_synced:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(UsageError, match="No space left on device; choose another --runs"):
            RunWriter(tmp_path, make_run(make_plan(), run_id=RUN_ID))
    assert list_runs(tmp_path) == []
    RunWriter(tmp_path, make_run(make_plan(), run_id=RUN_ID)).close()
    assert [listing.run_id for listing in list_runs(tmp_path)] == [RUN_ID]
