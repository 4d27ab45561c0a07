"""A test that hangs in its own process ends with the stack of what hangs; others are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SUITE = """
import threading
from hanging import ended_after

def hang():
    threading.Event().wait()

def test_hangs():
    with ended_after(0.1):
        hang()
"""


def test_the_stack_of_what_hangs_is_on_stderr(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    pytester.makepyfile(SUITE)
    done = pytester.runpytest_subprocess("-p", "hanging", timeout=300)
    assert done.ret == 1
    assert any(line.startswith("Timeout (0:00:00") for line in done.errlines)
    assert any(line.endswith(" in hang") for line in done.errlines)


def test_what_ends_in_time_goes_on(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    pytester.makepyfile(SUITE.replace("hang()\n", "pass\n").replace("0.1", "60"))
    pytester.runpytest_subprocess("-p", "hanging", timeout=300).assert_outcomes(passed=1)
