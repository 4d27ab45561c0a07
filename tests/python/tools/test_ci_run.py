"""`.ci/run` with a stand-in for make: each stage once, those beside the others in two chains, and a stage that fails
ends all and shows why.

For: the script's own logic. Not for: what the stages do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / ".ci" / "run"
# Says what it is asked to do. What fails, or lasts until it is told to end, is named by the environment.
MAKE = """#!/usr/bin/env bash
echo "$1" >> "$CALLS"
echo "output of $1"
if [ "$1" = "$LASTS" ]; then
  trap 'echo "ended $1" >> "$CALLS"; exit 1' TERM
  echo begun > "$BEGUN"
  while :; do read -r -t 1 < "$NEVER" || true; done
fi
if [ "$1" = "$AFTER" ]; then read -r < "$BEGUN"; fi
[ "$1" != "$FAILS" ] || exit 3
"""
COMPILED = ["build-dev", "build-asan", "build-tsan"]
CHECKED = ["lint", "docs", "fuzz-logs", "model"]
PREPARED = ["build-tools", "build", "layers", "prepare"]
TESTED = [*PREPARED, "test-python-beside", "torch-suite-check", "capi", "test-cpp", "asan", "tsan"]
LAST = "test-python-alone"


def run(folder: Path, fails: str = "", lasts: str = "", after: str = "") -> tuple[int, str, list[str]]:
    for name in (".ci", "bin"):
        (folder / name).mkdir()
    shutil.copy(SCRIPT, folder / ".ci" / "run")
    make = folder / "bin" / "make"
    make.write_text(MAKE)
    make.chmod(0o755)
    calls = folder / "calls"
    for pipe in ("begun", "never"):
        os.mkfifo(folder / pipe)
    settings = {"CALLS": calls, "BEGUN": folder / "begun", "NEVER": folder / "never"}
    environment = {**os.environ, **{name: str(path) for name, path in settings.items()}}
    environment |= {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "FAILS": fails, "LASTS": lasts, "AFTER": after}
    done = subprocess.run(
        [folder / ".ci" / "run"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout, calls.read_text().split("\n")[:-1]


def test_every_stage_runs_once_and_says_so(tmp_path: Path) -> None:
    code, said, calls = run(tmp_path)
    assert code == 0, said
    assert sorted(calls) == sorted([*COMPILED, *CHECKED, *TESTED, LAST])
    for chain in (COMPILED, CHECKED, TESTED):
        assert [call for call in calls if call in chain] == chain
    assert calls.index("build-tools") < calls.index("build-dev")
    assert calls.index("prepare") < calls.index("lint")
    assert calls[-1] == LAST
    for name in calls:
        assert said.count(f"output of {name}\n") == 1
        assert name == LAST or f"\n=== make {name}" in said
    assert said.endswith(f"output of {LAST}\n")


@pytest.mark.parametrize("fails", [*COMPILED, *CHECKED, *TESTED, LAST])
def test_a_stage_that_fails_ends_all_and_shows_why(tmp_path: Path, fails: str) -> None:
    code, said, calls = run(tmp_path, fails)
    assert code != 0
    assert f"output of {fails}\n" in said
    assert LAST not in calls or fails == LAST


def test_what_runs_beside_ends_with_a_stage_that_fails(tmp_path: Path) -> None:
    code, said, calls = run(tmp_path, fails="test-python-beside", lasts="lint", after="test-python-beside")
    assert code != 0
    assert "pop_var_context" not in said
    assert "docs" not in calls
    assert calls[-1] == "ended lint"
