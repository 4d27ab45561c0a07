"""`ringtree compare --factors` for real: processes get their values, the design is stored, resumed and shown again.

For: the whole path with real arms. Not for: effects (test_lab_factors.py): times decide nothing here.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import invoke, invoke_quickly
from forked_ranks import forked_ranks
from profile_support import make_profile, make_table

from ringtree.comm.profile import VARIABLE, own_cores
from ringtree.comm.profile_format import Configuration, ProfileRule
from ringtree.results import read_run
from ringtree.results.files import LAUNCHES_FILE

__all__ = ["forked_ranks"]


def run(*arguments: object) -> None:
    result = invoke_quickly(*arguments)
    assert result.exit_code == 0, result.stderr


def profile_of(algorithm: str, folder: Path) -> Path:
    """A profile of this machine by which auto runs that algorithm at every size."""
    rule = ProfileRule(until_bytes=None, configuration=Configuration(algorithm=algorithm, protocol="simple"))
    file = folder / f"{algorithm}.json"
    file.write_text(make_profile(tables=[make_table(rules=[rule], own_cores=own_cores(2))]).model_dump_json())
    return file


def test_a_design_is_measured_stored_resumed_and_shown(tmp_path: Path) -> None:
    ring, tree = profile_of("ring", tmp_path), profile_of("tree", tmp_path)
    runs = tmp_path / "runs"
    run(
        *("compare", "--arms", "auto", "--ranks", 2, "--sizes", "4K,64K", "--launches", 2, "--seed", 5),
        *("--factors", f"{VARIABLE}={ring},{tree}", "--factors", "RINGTREE_OF_A_TEST=1,2"),
        *("--no-preflight", "--runs", runs),
    )
    (path,) = runs.iterdir()
    stored = read_run(path)
    design = stored.run.plan.design
    assert design is not None
    assert [factor.variable for factor in design.factors] == [VARIABLE, "RINGTREE_OF_A_TEST"]
    assert all(len(set(launch.pids)) == 4 * 2 for launch in stored.launches)
    # What auto executed shows that each process had its arm's value.
    values = {arm.label: arm.environment[VARIABLE] for arm in stored.run.plan.arms}
    cells = [cell for launch in stored.launches for cell in launch.cells]
    ran = {(values[cell.arm], (cell.executed or {})["algorithm"]) for cell in cells}
    assert ran == {(str(ring), "ring"), (str(tree), "tree")}
    assert all(cell.verified for cell in cells)
    # As after a kill: the last launch was never written.
    lines = (path / LAUNCHES_FILE).read_text().splitlines(keepends=True)
    assert len(lines) == 2, "the arms of a design share each launch, in processes of their own"
    (path / LAUNCHES_FILE).write_text("".join(lines[:-1]))
    run("compare", "--resume", path.name, "--runs", runs)
    assert len(read_run(path).launches) == 2
    said = json.loads(invoke("show", path, "--json").stdout)
    names = [f"{VARIABLE} {ring}→{tree}", "RINGTREE_OF_A_TEST 1→2", f"{VARIABLE} × RINGTREE_OF_A_TEST"]
    assert said["design"]["factors"][1] == {"variable": "RINGTREE_OF_A_TEST", "values": ["1", "2"]}
    assert said["caveats"][0] == "a design of 2 factors, all combinations: 4 arms"
    # Cores may have been elsewhere from launch to launch, as seen by the lab's probes: then it says that instead.
    found = {size: [one["effect"] for one in said["effects"] if one["size_bytes"] == size] for size in said["sizes"]}
    assert all(of_size == names * (len(of_size) // 3) for of_size in found.values())
    assert all(found.values()) or any(line.startswith("no effects at ") for line in said["verdicts"])
    assert {one["versus_reference"]["verdict"] for one in said["effects"]} <= {"inconclusive"}
    assert invoke("show", path).exit_code == 0
    pytest.importorskip("plotly")
    page = tmp_path / "report.html"
    assert invoke("report", path, "-o", page).exit_code == 0
    assert ("<caption>Effects of the factors</caption>" in page.read_text()) == bool(said["effects"])
