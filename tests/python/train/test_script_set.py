"""Processes of a user's script: that they are gone together. Not for: what is read of them (test_train_sweep.py)."""

from __future__ import annotations

import signal
import subprocess

import pytest

from ringtree.train.script_set import ScriptSet


def test_all_scripts_are_killed_before_the_first_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second Ctrl-C, while one is waited for, must not leave the others running."""
    scripts = ScriptSet("gloo", "gloo", ["sleep", "60"], None, 3, "torch", {}, 60.0)
    scripts.start()
    ranks = list(scripts._ranks)
    wait = subprocess.Popen.wait

    def interrupted(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scripts.kill()
    monkeypatch.undo()
    assert [wait(rank, 30) for rank in ranks] == [-signal.SIGKILL] * 3
    scripts.kill()
