"""Simulated points as stored runs: the mark is everywhere, and no statistics are made of them.

For: storing, and what show, compare-runs, plots and lists say. Not for: the simulator.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console
from simulate_support import StandIn
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.judge.summary import summarise
from ringtree.results import StoredRun, read_run
from ringtree.show.comparison_table import print_comparison
from ringtree.show.views.of_run import view_of_run
from ringtree.simulate.asked import Asked, sweep_of
from ringtree.simulate.cluster import load_cluster, parse_cluster_text
from ringtree.simulate.recording import store
from ringtree.simulate.sweep import simulate_all


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    sweep = sweep_of(Asked("dgx-a100", "1,2", algorithm="ring", protocol="ll,simple", sizes="1K,64M"))
    return store(sweep, simulate_all(sweep, StandIn())[1], tmp_path)


@pytest.fixture
def run(paths: list[Path]) -> StoredRun:
    return read_run(paths[1])


def test_a_run_for_each_number_of_nodes_with_the_whole_description(paths: list[Path], run: StoredRun) -> None:
    assert len(paths) == 2
    plan = run.run.plan
    assert plan.simulation is not None
    assert (plan.num_ranks, plan.simulation.hosts, plan.simulation.ranks_per_host) == (16, 2, 8)
    assert parse_cluster_text(plan.simulation.description, "stored") == load_cluster("dgx-a100")
    assert plan.hosts == [0] * 8 + [1] * 8


def test_no_statistics_but_which_is_the_fastest(run: StoredRun) -> None:
    said = summarise(run)
    assert said.verdicts == ["fastest, simulated: ring/ll at 1 KB; ring/simple at 64 MB"]
    assert said.caveats == [
        "simulated, not measured: 2 × 8 ranks of dgx-a100; every time here is what the description and the model say"
    ]
    assert all(cell.versus_reference is None and cell.time is not None for cell in said.cells)


@pytest.mark.parametrize("verbose", [False, True])
def test_a_table_shows_neither_samples_nor_checks(run: StoredRun, verbose: bool) -> None:
    console = Console(width=160)
    with console.capture() as caught:
        print_comparison(console, summarise(run), verbose)
    said = caught.get()
    assert "simulated: 2 × 8 ranks of dgx-a100" in said
    assert "fastest, simulated: ring/ll at 1 KB" in said
    assert not any(word in said for word in ("launch", "verified", "✓"))


def test_pages_and_lists_say_it(paths: list[Path], run: StoredRun) -> None:
    view = view_of_run(run)
    assert view.simulated
    assert "simulated: no time here was measured" in view.heading
    listed = CliRunner().invoke(app, ["runs", "--runs", str(paths[0].parent), "--json"])
    assert [one["simulated"] for one in json.loads(listed.stdout)["runs"]] == [True, True]


def test_compare_runs_reads_them_and_says_it(paths: list[Path]) -> None:
    result = CliRunner().invoke(app, ["compare-runs", str(paths[1]), str(paths[1]) + "/", "--json"])
    assert result.exit_code == 0, result.stderr
    assert any(
        "simulated, not measured: 2 × 8 ranks of dgx-a100" in note for note in json.loads(result.stdout)["notes"]
    )
