"""`ringtree trace`: what it prints and leaves behind when a job ends well, fails, is killed or has nothing to trace.

Jobs of one process, most of which write by themselves what the tracer would: PyTorch takes seconds to load, and the
tracer a compiler. Only tests marked `torch` compile it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_support import assert_refused, invoke
from joblog_support import call_line, end_line, group_line, rank_line, step_line

from ringtree.joblog import running

CALLS = [call_line(step, 10.0 * step + 1, 10.0 * step + 4, (0.0, 0.0), step=step) for step in range(4)]
STEPS = [step_line(step, 10.0 * step, 10.0 * step + 10) for step in range(4)]
LINES = [rank_line(), group_line(), *CALLS, *STEPS, end_line(4, 4, 40.0)]
WRITES = "import os, sys; open(os.environ['RINGTREE_TRACE'] + '/rank-0-1.jsonl', 'w').write(sys.argv[1])"


def job(*code: str, lines: list[dict[str, object]] = LINES) -> list[str]:
    return ["--", sys.executable, "-c", "; ".join([WRITES, *code]), "".join(json.dumps(line) + "\n" for line in lines)]


@pytest.fixture(autouse=True)
def without_compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("torch") is None:
        monkeypatch.setattr(running, "_compile_tracer", lambda: None)


def test_the_table_and_the_picture(tmp_path: Path) -> None:
    result = invoke("trace", "--out", tmp_path / "t", *job())
    assert result.exit_code == 0, result.stderr
    # Each of the steps that count is 10 s long, and its one call 3 s, in which no thread computes.
    assert "1 rank, 2 steps (the first 2 left out): 10.0 s a step" in result.stdout
    row = next(line for line in result.stdout.splitlines() if "all_reduce" in line)
    assert " ".join(row.split()) == "all_reduce (gloo) 4 KB float32 2 1 4 KB 3.00 s 3.00 s 3.00 s 30%"
    assert invoke("trace", "--out", tmp_path / "t").stdout == result.stdout  # again, from what is stored
    picture = json.loads((tmp_path / "t" / "step.json").read_text())
    slices = [event for event in picture["traceEvents"] if event["ph"] == "X"]
    assert [(one["name"], one["ts"], one["dur"]) for one in slices] == [
        ("step 3", 0.0, 10e6),
        ("all_reduce 4 KB", 1e6, 3e6),
    ]


def test_a_job_that_fails_keeps_what_was_traced(tmp_path: Path) -> None:
    result = invoke("trace", "--out", tmp_path / "t", *job("sys.exit(3)"))
    assert result.exit_code == 1
    assert "all_reduce" in result.stdout
    assert result.stderr.strip() == "ringtree: the job failed with exit code 3; the trace ends there"


def test_a_job_without_collectives_and_one_without_pytorch(tmp_path: Path) -> None:
    loads = "import os; open(os.environ['RINGTREE_TRACE'] + '/loaded-1', 'w')"
    result = invoke("trace", "--out", tmp_path / "t", "--", sys.executable, "-c", loads)
    assert result.exit_code == 1
    assert result.stderr.strip().endswith("it issued no collective of torch.distributed, so there is nothing to trace")
    assert not (tmp_path / "t").exists()
    result = invoke("trace", "--out", tmp_path / "t", "--", sys.executable, "-c", "raise SystemExit(5)")
    assert result.exit_code == 1
    (line,) = result.stderr.strip().splitlines()
    assert "the job failed with exit code 5; none of its processes loaded PyTorch with ringtree" in line


def test_what_is_asked_wrongly(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert_refused(invoke("trace", "--out", tmp_path / "full", *job()), "is not empty: choose another folder")
    assert_refused(invoke("trace", "--out", tmp_path / "t", "--", "no-such-program"), "can't start no-such-program")
    assert_refused(invoke("trace", "--out", tmp_path / "u", "--skip", 4, *job()), "--skip 4 leaves none of 4 steps")
    assert_refused(invoke("trace", "--out", tmp_path / "v"), "is not a folder: name the one that")


KILLED = """
import os, signal, sys
import torch, torch.distributed as dist
dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}", rank=0, world_size=1)
net = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    dist.all_reduce(torch.ones(1000))
    net(torch.ones(2)).sum().backward()
    optimizer.step()
from ringtree.joblog import tracer
tracer._active._file._flush(0.0)  # as after half a second
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.torch
def test_a_rank_that_is_killed(tmp_path: Path) -> None:
    """With PyTorch: it finds the tracer by itself, as PyTorch is imported."""
    pytest.importorskip("torch")
    result = invoke("trace", "--out", tmp_path / "t", "--", sys.executable, "-c", KILLED, tmp_path / "store")
    assert result.exit_code == 1
    assert "note: rank 0 did not end by itself (killed, or the file was cut off): 3 calls and 3 steps" in result.stdout
    assert result.stderr.strip().endswith("the job failed with exit code 137; the trace ends there")
