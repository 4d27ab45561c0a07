"""Commands that start their ranks themselves, started by a launcher: each says so and does not run in every process.

For: explain and trace-run. Not for: those that do run there (test_compare_hosts.py, test_tune_hosts.py).
"""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from ringtree.cli import app


@pytest.mark.parametrize("command", ["explain", "trace-run"])
def test_a_command_that_starts_its_own_ranks_is_refused_under_a_launcher(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    asked = CliRunner().invoke(app, [command])
    assert asked.exit_code == 2
    assert f"ringtree {command} starts its own ranks on one host" in " ".join(asked.output.split())
