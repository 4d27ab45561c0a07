"""What a rank's file says of its process, as readers find it again."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from ringtree.joblog.operators import Group
from ringtree.joblog.reading import read_trace
from ringtree.joblog.timed_steps import TimedSteps
from ringtree.joblog.writing import RankFile

pytest.importorskip("torch")


def test_a_job_s_command_is_readable_and_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["python", "train.py", "--api-token=abc", os.fsdecode(b"--data=caf\xe9")]
    monkeypatch.setattr(sys, "orig_argv", words)
    recorder = MagicMock(capacity=1 << 4)
    recorder.take.return_value, recorder.num_calls.return_value = "", 0
    file = RankFile(tmp_path, TimedSteps(1), recorder)
    file.number_of(Group("0", "gloo", 2, (0, 1)), 1.0, 0.0)
    file.close(2.0, 0.0)
    (rank,) = read_trace(tmp_path).ranks
    assert rank.about.command == ["python", "train.py", "--api-token=***", "--data=caf\N{REPLACEMENT CHARACTER}"]
