"""`ringtree simulate`: table, JSON and stored runs, with a stand-in for the core's simulator.

For: options and exit codes. Not for: sweeps (tests/python/simulate), the simulator's times (tests/core/simulate).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from simulate_support import StandIn
from typer.testing import CliRunner, Result

from ringtree.cli import app
from ringtree.results import read_run
from ringtree.simulate import on_core


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_core, "CORE", StandIn())


def invoke(runs: Path, *arguments: str) -> Result:
    command = ["simulate", "--algorithm", "ring", "--sizes", "1K,1M", "--runs", str(runs), *arguments]
    return CliRunner().invoke(app, command, env={"COLUMNS": "200"})


def test_a_table_that_says_it_is_simulated_and_runs_that_are_marked(tmp_path: Path) -> None:
    result = invoke(tmp_path, "--cluster", "dgx-h100", "--nodes", "1:2")
    assert result.exit_code == 0, result.stderr
    assert "simulated, not measured: all_reduce on DGX H100: 8 × H100 SXM5 80GB" in result.stdout
    assert "2 nodes, 16 ranks, 16 channels (simulated)" in result.stdout
    stored = [read_run(path) for path in sorted(tmp_path.iterdir())]
    assert sorted(one.run.plan.num_ranks for one in stored) == [8, 16]
    assert all(one.run.plan.simulation is not None for one in stored)


def test_json_is_nothing_but_the_record(tmp_path: Path) -> None:
    result = invoke(tmp_path / "none", "--cluster", "dgx-h100", "--what-if", "nvlink 1 at 50%", "--no-store", "--json")
    record = json.loads(result.stdout)
    assert (record["format"], record["simulated"], record["runs"]) == ("ringtree.simulation/1", True, [])
    assert record["what_if"] == ["nvlink 1 at 50%"]
    assert all(point["simulated"] for point in record["points"])
    assert "channel.copy_rate" not in record["assumed"]
    assert not (tmp_path / "none").exists()


def test_mistakes_are_one_line_and_exit_code_2(tmp_path: Path) -> None:
    for arguments, words in (
        (("--cluster", "nowhere"), "no cluster is called 'nowhere'"),
        (("--cluster", "hgx-h200", "--nodes", "2"), "has no way to rank 8"),
        (("--cluster", "dgx-h100", "--nodes", "few"), "invalid nodes 'few'"),
        (("--cluster", "dgx-h100", "--what-if", "rail 9 down"), "has 8 rails"),
    ):
        result = invoke(tmp_path, *arguments)
        assert result.exit_code == 2, arguments
        assert result.stderr.count("\n") == 1
        assert words in result.stderr
    assert list(tmp_path.iterdir()) == []
