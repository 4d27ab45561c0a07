"""PyTorch's own tests on the backend, all that need no GPU, and the tool that runs them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from forked import OF_TORCH, preload
from forked_ringtree import ForkedRingtree

pytest.importorskip("torch")
pytest.importorskip("expecttest")

import torch
from torch_suite import page, verdicts
from torch_suite.gates import _Both
from torch_suite.verdicts import Verdict

pytestmark = pytest.mark.torch

preload(*OF_TORCH)

LIMIT_S = 800
# In a fork of what has imported PyTorch, which takes longer than all else that it does here.
SUITE = """
import multiprocessing, os, sys
from torch_suite.__main__ import main
multiprocessing.current_process()._config["daemon"] = False  # it starts processes of its own
os.chdir({cwd!r})
sys.argv = ["torch_suite", *{options!r}]
sys.exit(main())
"""


def suite(*options: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    process = ForkedRingtree([], os.environ, source=SUITE.format(cwd=str(cwd), options=options))
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    return subprocess.CompletedProcess(process.args, process.wait(), out, err)


def test_problems_of_a_whole_run() -> None:
    """All that `make torch-suite-check` must say, and nothing of what is known."""
    names = [*sorted(verdicts.OF_EACH_GATE), *(f"test_{index}" for index in range(verdicts.FEWEST - 3))]
    whole = [Verdict(name, "gloo", "passed", "", 1.0) for name in names]
    (known,) = verdicts.KNOWN
    assert verdicts.problems([*whole, Verdict(known, "gloo", "failed", "its name", 1.0)]) == []
    new = Verdict("test_new", "gloo", "failed", "wrong sum", 1.0)
    assert verdicts.problems([*whole, new]) == ["test_new: wrong sum"]
    assert verdicts.problems(whole[1:]) == [f"{names[0]} did not pass", "119 tests passed, at least 120 must"]


def test_a_check_forgets_verdicts_of_another_pytorch_and_fails_where_it_saw_too_little(tmp_path: Path) -> None:
    verdicts.append(tmp_path / "ringtree.jsonl", Verdict("test_a", "gloo", "passed", "", 1.0))
    (tmp_path / "about.txt").write_text("PyTorch 1.0, 4 ranks\n")
    nothing = ("--backends", "ringtree", "--only", "test_of_no_such_name", "--results", str(tmp_path))
    done = suite(*nothing, "--check", cwd=tmp_path)
    assert verdicts.read(tmp_path / "ringtree.jsonl") == []
    assert done.returncode == 1
    assert "0 tests passed, at least 120 must" in done.stdout


def test_a_failure_is_a_failure(tmp_path: Path) -> None:
    """The tool must be able to fail: a backend that nobody knows."""
    done = suite("--backends", "nonsense", "--only", "test_get_rank", cwd=tmp_path)
    assert done.returncode == 1
    (verdict,) = verdicts.read(tmp_path / "build/torch-suite/nonsense.jsonl")
    assert (verdict.test, verdict.outcome) == ("test_get_rank", "failed")


def test_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """What is done is not run again, a line that was cut off is, and the next is a line of its own."""
    file = tmp_path / "ringtree.jsonl"
    (tmp_path / "about.txt").write_text(f"PyTorch {torch.__version__}, 4 ranks\n")
    first = Verdict("test_get_rank", "gloo", "passed", "long ago", 1.0)
    verdicts.append(file, first)
    with file.open("a") as lines:
        lines.write('{"test": "test_barrier", "ga')  # stopped here
    assert verdicts.read(file) == [first]
    both = ("--only", "test_get_rank", "test_barrier")
    done = suite("--backends", "ringtree", *both, "--results", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    kept, new = verdicts.read(file)
    assert kept == first
    assert (new.test, new.outcome) == ("test_barrier", "passed")


def test_the_page_escapes_what_it_shows(tmp_path: Path) -> None:
    verdicts.append(tmp_path / "ringtree.jsonl", Verdict("test_x", "gloo", "failed", "<b>|*no*", 1.0))
    verdicts.append(tmp_path / "ringtree.jsonl", Verdict("test_y", "none", "skipped", "no GPU", 0.0))
    page.write(tmp_path / "page.md", tmp_path, ["ringtree"], 4)
    text = (tmp_path / "page.md").read_text()
    assert "| ringtree | 0 | 1 | 1 |" in text
    assert r"`test_x`: \<b>\|\*no\*" in text
    assert "no GPU: 1 (`test_y`)" in text


def test_a_name_that_equals_the_gates() -> None:
    name = _Both("ringtree", "gloo")
    assert name == "ringtree"
    assert name == "gloo"
    assert name != "nccl"
    assert name in {"ringtree"}
    assert str(name.lower()) == "ringtree"
