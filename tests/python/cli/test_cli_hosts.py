"""Commands that run on one host, started by a launcher on several: each says so instead of running once for each rank.

For: bench, explain and trace-run. Not for: those that do run there (test_compare_hosts.py, test_tune_hosts.py).
"""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from ringtree.cli import app


@pytest.mark.parametrize("command", ["bench", "explain", "trace-run"])
def test_a_command_of_one_host_is_refused_on_several(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    asked = CliRunner().invoke(app, [command])
    assert asked.exit_code == 2
    assert f"ringtree {command} runs on one" in " ".join(asked.output.split())
