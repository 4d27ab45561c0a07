"""Trainings that run: an arm that loses a gradient, a rank that is killed, scripts that fail.

For: `ringtree train` from command to verdict on a model of a few thousand parameters. Not for: what is asked and judged
without processes (test_train_request.py, judge/test_training.py).
"""

from __future__ import annotations

import csv
import io
import os
import signal
import sys
from pathlib import Path

import pytest
from cli_support import invoke
from forked import preload
from forked_ranks import forked_ranks
from forked_ringtree import ForkedRingtree
from lab_support import children_of, wait_until
from needed import needs
from train_support import OF_A_TRAINING, mini_model

from ringtree.judge.training import summarise_training
from ringtree.results import find_run, read_run

pytest.importorskip("torch")
needs("transformers")

pytestmark = pytest.mark.torch

__all__ = ["forked_ranks"]  # of labs in this process
preload(*OF_A_TRAINING)

DROPPING = "torch:dropping_backend.dropping"


def ranks_of(pid: int) -> list[int]:
    """The rank processes that a forked lab has started: its server's."""
    return sorted(rank for server in children_of(pid) for rank in children_of(server))


@pytest.mark.slow
def test_a_rank_is_killed_the_run_goes_on_and_an_arm_that_loses_a_gradient_is_found(tmp_path: Path) -> None:
    runs, arms = tmp_path / "runs", f"gloo,ringtree:ring,{DROPPING}"
    command = ["train", "--models", str(mini_model(tmp_path)), "--sequence", "16", "--ranks", "2", "--arms", arms]
    lab = ForkedRingtree([*command, "--launches", "2", "--seed", "3", "--runs", str(runs)], os.environ)

    def second_launch() -> bool:
        stored = list(runs.glob("*/launches.jsonl"))
        return bool(stored) and stored[0].read_bytes().count(b"\n") == 1 and len(ranks_of(lab.pid)) == 2

    assert wait_until(second_launch, 300) is not None, lab.communicate(timeout=10)[1]
    os.kill(ranks_of(lab.pid)[1], signal.SIGKILL)
    _, said = lab.communicate(timeout=120)
    line = said.strip().splitlines()[-1]
    assert lab.returncode == 1
    assert "was killed by SIGKILL" in line
    assert "1 launch stored in" in line
    assert "ringtree train --resume" in line
    result = invoke("train", "--resume", "last", "--runs", runs, COLUMNS="300")
    stored = read_run(find_run(runs, "last"))
    assert [len(stored.launches), result.exit_code] == [2, 1], result.stderr  # 1: an arm is disqualified
    cells = {cell.arm: cell for cell in summarise_training(stored).cells}
    # The gradient is lost in the fifth step, which the sixth loss is the first to show.
    assert "at step 6 the loss of rank 0" in (cells[DROPPING].disqualified or "")
    assert cells["gloo"].disqualified is None
    assert cells["ringtree:ring"].disqualified is None
    assert cells["ringtree:ring"].exposed is not None


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("print('hello')", "ended without a line that --metric 'tok: ([0-9.]+)' finds with a number above 0"),
        ("print('tok: ...')", "finds '...', which is not a number above 0, in the line 'tok: ...'"),
        ("print('tok: 12,345')", "finds '12', a part of the number in the line 'tok: 12,345'"),
        ("import sys; sys.exit('no such data')", "exited with code 1: no such data"),
        (
            "import os; os.write(2, b'terminate called without an active exception\\n'); os.abort()",
            "call torch.distributed.destroy_process_group(), flush its output, and leave by os._exit(0))",
        ),
    ],
)
def test_scripts_that_fail(tmp_path: Path, script: str, said: str) -> None:
    given = ("--arms", "gloo", "--ranks", "2", "--metric", "tok: ([0-9.]+)", "--", sys.executable, "-c", script)
    result = invoke("train", "--runs", tmp_path, *given)
    assert result.exit_code == 1
    assert said in result.stderr.strip().splitlines()[-1]


def test_a_scripts_rates_are_those_that_it_prints(tmp_path: Path) -> None:
    # Ten lines, the first two are warm-up; the arm's backend decides how fast it says it is.
    script = (
        "import os; fast = os.environ['RINGTREE_TRAIN_BACKEND'] == 'ringtree'; "
        "[print('tok:', 1 if i < 2 else 200 if fast else 100) for i in range(10)]"
    )
    given = ("--arms", "gloo,ringtree", "--ranks", "2", "--launches", "1", "--metric", "tok: ([0-9.]+)")
    result = invoke("train", "--runs", tmp_path, *given, "--", sys.executable, "-c", script)
    assert result.exit_code == 0
    summary = summarise_training(read_run(find_run(tmp_path, "last")))
    assert [line for line in summary.caveats if line.startswith("gloo, ringtree: it is not known whether")]
    cells = summary.cells
    assert [cell.tokens_per_second for cell in cells] == [pytest.approx(100), pytest.approx(200)]


def test_a_script_that_changed_is_refused_by_resume(tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_text("print('tok: 100')")
    given = ("--arms", "gloo", "--ranks", "1", "--launches", "1", "--metric", r"tok: (\S+)")
    assert invoke("train", "--runs", tmp_path / "runs", *given, "--", sys.executable, script).exit_code == 0
    again = ("train", "--resume", "last", "--runs", tmp_path / "runs")
    assert invoke(*again).exit_code == 0
    script.write_text("print('tok: 200')")
    result = invoke(*again)
    assert result.exit_code == 2
    assert "x.py is not what it was when the run began" in result.stderr


TAKES, IGNORES = "os.environ['RINGTREE_TRAIN_BACKEND']", "'gloo'"


@pytest.mark.parametrize(("backend", "code"), [(TAKES, 0), (IGNORES, 1)])
def test_an_arm_that_a_script_ignores_is_disqualified(tmp_path: Path, backend: str, code: int) -> None:
    # A second group is allowed to have any backend: it is the arm's that must be there.
    script = (
        "import os, torch.distributed as dist; "
        f"dist.init_process_group({backend}); dist.new_group([0, 1], backend='gloo'); dist.barrier(); "
        "dist.destroy_process_group(); print('tok: 100')"
    )
    given = ("--arms", "gloo,ringtree", "--ranks", "2", "--launches", "1", "--metric", "tok: ([0-9.]+)")
    result = invoke("train", "--runs", tmp_path, *given, "--", sys.executable, "-c", script)
    summary = summarise_training(read_run(find_run(tmp_path, "last")))
    gloo, other = summary.cells
    assert gloo.disqualified is None
    assert (other.disqualified is None) == (code == 0)
    assert result.exit_code == code, result.stdout
    assert not [line for line in summary.caveats if "not known" in line]
    if code:
        assert "the script ran with gloo on rank 0, not with ringtree" in (other.disqualified or "")
        assert "RINGTREE_TRAIN_BACKEND" in " ".join(summary.verdicts)


def test_the_collectives_of_a_step_and_the_csv(tmp_path: Path) -> None:
    model = mini_model(tmp_path)
    command = ["train", "--models", str(model), "--sequence", "16", "--ranks", "1,2", "--arms", "gloo", "--csv"]
    result = invoke(*command, "--launches", "1", "--seed", "3", "--runs", tmp_path / "runs")
    assert result.exit_code == 0, result.stderr
    alone, both = csv.DictReader(io.StringIO(result.stdout))
    stored = read_run(find_run(tmp_path / "runs", "last"))
    assert stored.run.plan.training is not None
    parameters = stored.run.plan.training.models[0].parameters
    assert [alone["num_ranks"], alone["collectives"], alone["bytes_a_step"]] == ["1", "", ""]
    kinds = {name: int(size) for name, _, size in (one.split(":") for one in both["collectives"].split())}
    assert kinds["all_reduce"] == 4 * parameters  # every gradient once, in float32
    assert int(both["bytes_a_step"]) == sum(kinds.values())
    recorded = [one for launch in stored.launches for cell in launch.cells if cell.trained
                for one in cell.trained.recorded]  # fmt: skip
    assert len(recorded) == 2  # both ranks of the one cell that communicates
    for step in recorded:
        assert step is not None
        assert sum(call.size_bytes for call in step.calls if call.collective == "all_reduce") == 4 * parameters
        # An end is noted by one of the backend's threads, which may be after the step's.
        assert all(0 <= call.begin <= min(call.end or 0, step.seconds) for call in step.calls)
    cell = summarise_training(stored).find("mini", 2, "gloo")
    assert cell is not None
    assert cell.timeline is not None
    assert cell.timeline.spans[0].begin == 0
    assert cell.timeline.spans[-1].end == cell.timeline.seconds
    assert cell.parts is not None
    assert cell.parts.recorded
    assert cell.step is not None
    assert float(both["step_s"]) == cell.step.median
    shown = invoke("show", "last", "-v", "--runs", tmp_path / "runs", COLUMNS="200")
    assert "bytes a step" in shown.stdout
