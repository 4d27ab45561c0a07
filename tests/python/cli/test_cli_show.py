"""`ringtree show` and how a comparison leaves a command: formats, streams, exit codes.

For: the command line around stored runs. Not for: what is said (test_lab_words.py, test_lab_regression.py).
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
import typer
from comparison_support import noise
from lab_support import make_cell, make_launch, make_plan, make_run
from typer.testing import CliRunner, Result

from ringtree.cli import app
from ringtree.cli.outcome import FAILED, USAGE, exit_codes
from ringtree.cli.output import Wanted, finish
from ringtree.judge.comparison import Comparison
from ringtree.results import RunWriter, read_run

NOW, THEN = "20260102T000000Z-bbbbbb", "20260101T000000Z-aaaaaa"


def store(
    runs: Path,
    run_id: str,
    factor: float = 1.0,
    num_stored: int = 8,
    wrong: str | None = None,
    machine: float = 1.0,
) -> Path:
    """A run of 8 planned launches in which a takes `factor` times as long as b, both on a machine that takes `machine`
    times as long; the arm `wrong` is never verified."""
    plan = make_plan(num_launches=8)
    with RunWriter(runs, make_run(plan, run_id=run_id)) as writer:
        for launch in range(num_stored):
            cells = [
                make_cell(
                    arm,
                    size.size_bytes,
                    machine * (factor if arm == "a" else 1.0) * noise(launch, arm, size.size_bytes, run_id),
                    verified=arm != wrong,
                )
                for size in plan.sizes
                for arm in "ab"
            ]
            writer.append(make_launch(launch, cells))
    return runs / run_id


def show(runs: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["show", *arguments, "--runs", str(runs)], env={"COLUMNS": "120"})


@pytest.mark.parametrize("name", ["last", NOW, NOW[:10], "path"])
def test_a_run_is_named_in_several_ways(tmp_path: Path, name: str) -> None:
    store(tmp_path, THEN)
    path = store(tmp_path, NOW, factor=2.0)
    result = show(tmp_path, str(path) if name == "path" else name)
    assert result.exit_code == 0, result.output
    first, verdict, *_ = result.stdout.splitlines()
    assert first == "all_reduce sum float32, 2 ranks, in place, 8 launches, all results verified"
    assert verdict.startswith("a is ")
    assert "slower than b at 1 KB and 4 KB" in verdict
    assert result.stderr == ""


def test_an_incomplete_run_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    path = store(tmp_path, NOW, num_stored=3)
    with open(path / "launches.jsonl", "ab") as file:
        file.write(b'{"launch": 3, "torn')
    result = show(tmp_path, "last")
    assert result.exit_code == 0, result.output
    assert "no verdict at 1 KB and 4 KB from 3 launches" in result.stdout
    assert "note: only 3 of 8 launches are stored" in result.stdout
    assert "torn" in result.stdout
    nothing = store(tmp_path, "20260103T000000Z-cccccc", num_stored=0)
    assert "no launch is stored: no verdict" in show(tmp_path, str(nothing)).stdout


def test_json_is_the_comparison_and_nothing_else(tmp_path: Path) -> None:
    store(tmp_path, NOW)
    result = show(tmp_path, "last", "--json")
    assert result.exit_code == 0, result.output
    comparison = Comparison.model_validate_json(result.stdout)
    assert (comparison.run, comparison.format) == (NOW, "ringtree.comparison/2")
    assert comparison.verdicts
    assert json.loads(result.stdout)["regression"] is None


def test_csv_is_the_table_and_nothing_else(tmp_path: Path) -> None:
    store(tmp_path, THEN)
    store(tmp_path, NOW)
    result = show(tmp_path, "last", "--csv", "--fail-if-slower-than", THEN)
    assert result.exit_code == 0, result.output
    assert len(list(csv.DictReader(io.StringIO(result.stdout)))) == 4
    assert "no slowdown" in result.stderr


def test_a_regression_is_exit_code_3(tmp_path: Path) -> None:
    store(tmp_path, THEN)
    store(tmp_path, NOW, factor=1.1)
    slower = show(tmp_path, NOW, "--fail-if-slower-than", THEN)
    assert slower.exit_code == 3, slower.output
    assert f"slower than in {THEN}: a at 1 KB relative to b, 1." in slower.stdout
    record = json.loads(show(tmp_path, NOW, "--fail-if-slower-than", THEN, "--json").stdout)
    assert record["regression"]["regressed"] is True
    assert {cell["arm"] for cell in record["regression"]["cells"] if cell["verdict"] == "slower"} == {"a"}
    faster = show(tmp_path, THEN, "--fail-if-slower-than", NOW)
    assert faster.exit_code == 0, faster.output


def test_a_slower_machine_alone_is_exit_code_0(tmp_path: Path) -> None:
    store(tmp_path, THEN)
    store(tmp_path, NOW, machine=1.5)
    result = show(tmp_path, NOW, "--fail-if-slower-than", THEN)
    assert result.exit_code == 0, result.output
    assert "note: times relative to b are compared and b itself is not" in result.stdout


def test_a_reference_that_was_wrong_then_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    store(tmp_path, THEN, wrong="b")
    store(tmp_path, NOW, machine=1.5)
    result = show(tmp_path, NOW, "--fail-if-slower-than", THEN)
    assert result.exit_code == 2
    assert "in place, 8 launches" in result.stdout
    (line,) = result.stderr.splitlines()
    assert line == (
        f"ringtree: no cell can be compared with {THEN}: b is disqualified in the baseline at 1 KB, 4 KB, "
        "so nothing is compared there"
    )


def test_a_wrong_result_goes_before_what_can_not_be_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(tmp_path, THEN)
    stored = read_run(store(tmp_path, NOW, wrong="b"))
    for fail_on_wrong, code in ((True, FAILED), (False, USAGE)):
        with pytest.raises(typer.Exit) as stopped, exit_codes():
            finish(stored, tmp_path, Wanted(fail_if_slower_than=THEN), fail_on_wrong=fail_on_wrong)
        assert stopped.value.exit_code == code
        printed = capsys.readouterr()
        assert "in place, 8 launches" in printed.out
        assert "b is disqualified here at 1 KB, 4 KB, so nothing is compared there" in printed.err


def test_a_baseline_that_is_none_does_not_keep_the_result_from_being_printed(tmp_path: Path) -> None:
    store(tmp_path, NOW)
    result = show(tmp_path, NOW, "--fail-if-slower-than", "20250101")
    assert result.exit_code == 2
    assert "in place, 8 launches" in result.stdout
    (line,) = result.stderr.splitlines()
    assert line.startswith("ringtree: no run '20250101'")


def test_showing_a_disqualified_arm_is_no_failure_of_show(tmp_path: Path) -> None:
    store(tmp_path, NOW, wrong="a")
    result = show(tmp_path, NOW)
    assert result.exit_code == 0, result.output
    assert "a is disqualified at 1 KB and 4 KB: not verified in launch 1" in result.stdout


def test_mistakes_are_one_line_and_exit_code_2(tmp_path: Path) -> None:
    store(tmp_path, NOW)
    for arguments, said in ((("none",), "no run 'none'"), ((NOW, "--json", "--csv"), "choose --json or --csv")):
        result = show(tmp_path, *arguments)
        assert result.exit_code == 2
        (line,) = result.stderr.splitlines()
        assert line.startswith("ringtree: ")
        assert said in line
        assert result.stdout == ""
