"""The planted defects (tests/defects) apply to the sources as they are, and the runner notices one that does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DEFECTS = Path(__file__).resolve().parents[2] / "defects"


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(folder / "run.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_defect_applies() -> None:
    done = check(DEFECTS)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.split()[0]) >= 40


def test_a_defect_of_other_sources_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "defects"
    folder.mkdir(parents=True)
    (folder / "run.py").write_text((DEFECTS / "run.py").read_text())
    (folder / "stale.patch").write_text((DEFECTS / "stats-bus-factor.patch").read_text())
    done = check(folder)
    assert (done.returncode, done.stdout) == (1, "stale: does not apply\n")
