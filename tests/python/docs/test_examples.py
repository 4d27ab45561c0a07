"""The examples run as written and say what they promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_own_algorithm() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "own_algorithm.py")], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "proved: True" in done.stdout
    assert "ran: every rank has 10 in each element: True" in done.stdout
