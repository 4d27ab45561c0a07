"""`ringtree compare` for real: processes, results, and what happens when they are killed.

For: the whole path from the command line to the stored run. Not for: statistics or layout.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from lab_support import children_of, is_running, start_ringtree, wait_until

from ringtree.results import read_run

ENDLESS = ("--ranks", "3", "--arms", "ring,tree", "--sizes", "1K:1M", "--launches", "1000")


def run(*arguments: str) -> tuple[int, str, str]:
    process = start_ringtree(*arguments)
    try:
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode, out, err


def started_launch(runs: Path, *extra: str) -> tuple[subprocess.Popen[str], list[int]]:
    """Starts an endless comparison and returns it with its children once cells are being finished."""
    process = start_ringtree("compare", *ENDLESS, "--runs", str(runs), *extra)
    assert process.stderr is not None
    said = process.stderr.readline()
    assert said.startswith("launch 1 of 1000"), said
    children = children_of(process.pid)
    assert len(children) == 4, "three ranks and the guard"
    return process, children


def rank_pid(children: list[int]) -> int:
    return next(pid for pid in children if b"rank_process" in Path(f"/proc/{pid}/cmdline").read_bytes())


def end(process: subprocess.Popen[str], children: list[int]) -> None:
    for pid in [process.pid, *children]:
        if is_running(pid):
            os.kill(pid, signal.SIGKILL)
    process.communicate()


def test_compare_stores_verified_samples_of_every_rank(tmp_path: Path) -> None:
    code, out, err = run(
        *("compare", "--ranks", "3", "--arms", "ring,tree,auto", "--sizes", "8,4K,100000"),
        *("--launches", "2", "--seed", "5", "--runs", str(tmp_path)),
    )
    assert code == 0, err
    (path,) = tmp_path.iterdir()
    stored = read_run(path)
    assert str(path) in out
    assert out.count("✓") == 9 + 1
    assert stored.run.plan.seed == 5
    assert len(stored.launches) == 2
    for launch in stored.launches:
        assert len(launch.pids) == len(set(launch.pids)) == 3
        assert [(cell.size_bytes, cell.arm) for cell in launch.cells] == launch.order
        for cell in launch.cells:
            assert cell.verified
            assert cell.error is None
            assert cell.executed is not None
            assert len(cell.times) == 3
            assert len(cell.times[0]) >= 5
            assert min(map(min, cell.times)) > 0
            assert cell.executed["algorithm"] == cell.arm or cell.arm == "auto"
    assert not set(stored.launches[0].pids) & set(stored.launches[1].pids)


def test_torch_arms_and_json(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    code, out, err = run(
        *("compare", "--ranks", "2", "--arms", "ring,gloo,send-recv:ring", "--sizes", "1K,256K"),
        *("--launches", "1", "--json", "--runs", str(tmp_path)),
    )
    assert code == 0, err
    comparison = json.loads(out)
    assert comparison["format"] == "ringtree.comparison/1"
    assert comparison["reference"] == "gloo"
    assert len(comparison["cells"]) == 6
    assert all(cell["verified"] for cell in comparison["cells"])


def test_emulated_clusters_are_labelled(tmp_path: Path) -> None:
    code, out, err = run(
        *("compare", "--emulate", "2x2", "--alpha", "1ms", "--beta", "200MB/s", "--sizes", "1K"),
        *("--launches", "1", "--runs", str(tmp_path)),
    )
    assert code == 0, err
    assert "emulated" in out.splitlines()[0]
    (path,) = tmp_path.iterdir()
    stored = read_run(path)
    assert stored.run.provenance.emulated
    assert stored.run.plan.emulation is not None


def test_ctrl_c_ends_every_child_within_two_seconds(tmp_path: Path) -> None:
    process, children = started_launch(tmp_path)
    try:
        pressed = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        seconds = time.monotonic() - pressed
        assert process.returncode == 130
        (path,) = tmp_path.iterdir()
        num_stored = len(read_run(path).launches)
        assert f"; {num_stored} launch{'' if num_stored == 1 else 'es'} stored in {path}" in err.splitlines()[-1]
        assert "interrupted" in err
        assert "Traceback" not in err
        assert not any(is_running(pid) or Path(f"/proc/{pid}").exists() for pid in children), "ended and reaped"
        assert seconds < 2.0
    finally:
        end(process, children)


def test_ctrl_c_while_ranks_start_leaves_nothing(tmp_path: Path) -> None:
    process = start_ringtree("compare", *ENDLESS, "--runs", str(tmp_path))
    children: list[int] = []
    try:
        assert wait_until(lambda: len(children_of(process.pid)) >= 2, 30.0) is not None
        process.send_signal(signal.SIGINT)
        children = children_of(process.pid)
        process.communicate(timeout=10)
        assert process.returncode == 130
        assert wait_until(lambda: not any(is_running(pid) for pid in children), 2.0) is not None
    finally:
        end(process, children)


def test_kill_9_of_the_lab_ends_its_children_within_five_seconds(tmp_path: Path) -> None:
    process, children = started_launch(tmp_path)
    try:
        process.kill()
        process.communicate()
        assert wait_until(lambda: not any(is_running(pid) for pid in children), 5.0) is not None
    finally:
        end(process, children)


def test_kill_9_of_a_rank_stops_the_run_and_says_who_died(tmp_path: Path) -> None:
    process, children = started_launch(tmp_path)
    try:
        victim = rank_pid(children)
        os.kill(victim, signal.SIGKILL)
        _, err = process.communicate(timeout=20)
        assert process.returncode == 1
        assert "Traceback" not in err
        message = err.strip().splitlines()[-1]
        (path,) = tmp_path.iterdir()
        assert f"(pid {victim}) was killed by SIGKILL" in message
        assert "launch" in message
        assert message.count(" said: ") == 2, "both survivors must have told what they saw: " + message
        assert f"stored in {path}" in message
        assert not any(Path(f"/proc/{pid}").exists() for pid in children)
        assert len(read_run(path).launches) < 1000
    finally:
        end(process, children)
