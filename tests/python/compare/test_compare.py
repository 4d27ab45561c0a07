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
from cli_support import assert_refused, invoke, invoke_quickly
from forked_ranks import forked_ranks
from lab_support import children_of, is_running, start_quick_ringtree, start_ringtree, wait_until

from ringtree.measure.environment import usable_cores
from ringtree.results import read_run

__all__ = ["forked_ranks"]

ENDLESS = ("--ranks", "3", "--arms", "ring,tree", "--sizes", "1K:1M", "--launches", "1000", "--no-preflight")


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
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
    lab = start_ringtree(
        *("compare", "--ranks", "3", "--arms", "ring,tree,auto", "--sizes", "8,100000"),
        *("--launches", "2", "--seed", "5", "--runs", str(tmp_path)),
    )
    code, out, err = ended(lab)
    assert code == 0, err
    (path,) = tmp_path.iterdir()
    stored = read_run(path)
    assert str(path) in out
    assert stored.run.plan.seed == 5
    assert len(stored.launches) == 2
    assert stored.run.limits is not None
    assert len(stored.run.limits.copy_rates) == 2
    for launch in stored.launches:
        assert len(launch.pids) == len(set(launch.pids)) == 3
        assert [(cell.size_bytes, cell.arm) for cell in launch.cells] == [
            (size, arm) for size in (8, 100000) for arm in ("ring", "tree", "auto")
        ]
        positions = sorted(visit.position for cell in launch.cells for visit in cell.visits)
        assert positions == list(range(len(positions)))
        for cell in launch.cells:
            assert cell.verified
            assert cell.error is None
            assert cell.executed is not None
            assert len(cell.times) == 3
            assert len(cell.visits) >= 3
            assert len(cell.times[0]) >= len(cell.visits)
            assert cell.warm_up is not None
            assert all(visit.handoff is None or min(visit.handoff) > 0 for visit in cell.visits)
            assert min(map(min, cell.times)) > 0
            assert cell.executed["algorithm"] == cell.arm or cell.arm == "auto"
    assert not set(stored.launches[0].pids) & set(stored.launches[1].pids)
    # On a busy machine a probe may go unanswered now and then; not all of them.
    visits = [visit for launch in stored.launches for cell in launch.cells for visit in cell.visits]
    assert any(visit.handoff for visit in visits) or usable_cores() == 1


def test_torch_arms_and_json(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    result = invoke(  # long enough for a time of every cell wherever cores are
        *("compare", "--ranks", "2", "--arms", "ring,gloo,send-recv:ring", "--sizes", "1K,256K"),
        *("--launches", "1", "--json", "--runs", tmp_path),
    )
    assert result.exit_code == 0, result.stderr
    comparison = json.loads(result.stdout)
    assert comparison["format"] == "ringtree.comparison/2"
    assert comparison["reference"] == "gloo"
    # Where cores moved between near and far, a cell has a row for each.
    assert len({(cell["size_bytes"], cell["arm"]) for cell in comparison["cells"]}) == 6
    assert all(cell["verified"] for cell in comparison["cells"])


def test_emulated_clusters_are_labelled(tmp_path: Path) -> None:
    result = invoke_quickly(
        *("compare", "--emulate", "2x2", "--alpha", "1ms", "--beta", "200MB/s", "--sizes", "1K"),
        *("--launches", "1", "--runs", tmp_path),
    )
    assert result.exit_code == 0, result.stderr
    assert "emulated" in result.stdout
    (path,) = tmp_path.iterdir()
    stored = read_run(path)
    assert stored.run.provenance.emulated
    assert stored.run.plan.emulation is not None


@pytest.mark.alone
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


@pytest.mark.alone
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


@pytest.mark.alone
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
        assert message.count(" reported: ") == 2, "both survivors must have told what they saw: " + message
        assert f"stored in {path}" in message
        assert not any(Path(f"/proc/{pid}").exists() for pid in children)
        assert len(read_run(path).launches) < 1000
    finally:
        end(process, children)


def test_kill_9_in_the_middle_then_resume_gives_a_complete_run(tmp_path: Path) -> None:
    few = ("--ranks", "2", "--arms", "ring,tree", "--sizes", "1K,64K", "--launches", "4", "--no-preflight")
    process = start_quick_ringtree("compare", *few, "--runs", str(tmp_path))
    assert process.stderr is not None
    try:
        assert process.stderr.readline().startswith("warning: 4 launches can't decide any comparison")
        for number in (1, 2, 3):  # the third has begun: two are stored, and a third on a machine that is slow to kill
            assert process.stderr.readline().startswith(f"launch {number} of 4")
        children = children_of(process.pid)
    finally:
        process.kill()
        process.communicate()
    assert wait_until(lambda: not any(is_running(pid) for pid in children), 5.0) is not None
    (path,) = tmp_path.iterdir()
    with (path / "launches.jsonl").open("ab") as file:
        file.write(b'{"launch": 3, "bl')  # as if it had been killed while it wrote
    before = read_run(path)
    num_stored = len(before.launches)
    assert num_stored in (2, 3)
    resumed = invoke_quickly("compare", "--resume", path.name, "--runs", tmp_path)
    assert resumed.exit_code == 0, resumed.stderr
    assert "torn" in resumed.stderr
    after = read_run(path)
    assert after.launches[:num_stored] == before.launches
    assert [launch.launch for launch in after.launches] == [0, 1, 2, 3]
    assert after.notes == []
    assert str(path) in "".join(resumed.stdout.splitlines())
    complete = invoke("compare", "--resume", path.name, "--runs", tmp_path)
    assert complete.exit_code == 0
    assert "complete: nothing to run" in complete.stderr


def test_resume_takes_no_other_options_and_only_runs_that_exist(tmp_path: Path) -> None:
    refused = invoke("compare", "--resume", "last", "--ranks", "2", "--runs", tmp_path)
    assert_refused(refused, "leave --ranks out")
    assert_refused(invoke("compare", "--resume", "last", "--runs", tmp_path), "there is no run in")


def test_dry_run_prints_plan_duration_and_cost_and_runs_nothing(tmp_path: Path) -> None:
    arms = ("--arms", "ring,ring@X=1", "--sizes", "1K,4K")
    result = invoke("compare", "--ranks", "2", *arms, "--dry-run", "--runs", tmp_path / "none")
    assert (result.exit_code, result.stderr) == (0, "")
    assert not (tmp_path / "none").exists()
    for said in ("ring (reference), ring@X=1", "in 16 launches", "rank-hours", "1 KB"):
        assert said in result.stdout


def test_a_budget_is_spent_after_a_pilot_that_is_no_evidence(tmp_path: Path) -> None:
    result = invoke_quickly(
        *("compare", "--ranks", "2", "--arms", "ring,tree", "--sizes", "1K", "--budget", "12s", "--json"),
        *("--no-preflight", "--runs", tmp_path),
    )
    assert result.exit_code == 0, result.stderr
    pilot, main = sorted((read_run(path) for path in tmp_path.iterdir()), key=lambda stored: stored.run.created_utc)
    if pilot.run.plan.purpose != "pilot":
        pilot, main = main, pilot
    assert (pilot.run.plan.purpose, len(pilot.launches)) == ("pilot", 3)
    assert main.run.plan.pilot == pilot.run.run_id
    assert len(main.launches) == main.run.plan.num_launches >= 8
    assert json.loads(result.stdout)["run"] == main.run.run_id
