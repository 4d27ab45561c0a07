"""The command line: mistakes are one line and exit code 2, results are documented JSON.

For: options and exit codes by typer's runner. Not for: running comparisons (test_compare.py).
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from cli_support import assert_refused, invoke

import ringtree
import ringtree.cli
from ringtree.cli.commands import COMMANDS, loaded
from ringtree.measure.request import (
    DEFAULT_ALPHA,
    DEFAULT_ARMS,
    DEFAULT_BETA,
    DEFAULT_MARGIN,
    DEFAULT_SIZES,
    TEXTBOOK_LIBRARY,
    Request,
    make_plan,
)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "--arms", "nonsense"), "choose from: "),
        (("compare", "--dtype", "float128"), "float32"),
        (("compare", "--sizes", "many"), "for example"),
        (("compare", "--collective", "scan"), "all_reduce"),
        (("compare", "--ranks", "0"), "1..256"),
        (("compare", "--preset", "none"), "textbook"),
        (("compare", "--emulate", "2by8"), "2x8"),
        (("compare", "--emulate", "2x8", "--beta", "fast"), "200MB/s"),
        (("compare", "--emulate", "2x8", "--alpha", "61s"), "0..60 s"),
        (("compare", "--arms", "gloo@x"), "arm@NAME=value"),
        (("compare", "--margin", "much"), "10%"),
        (("compare", "--arms", "ring,tree", "--detect", "much"), "10%"),
        (("compare", "--arms", "ring", "--factors", "A=1"), "one value"),
        (("compare", "--arms", "ring", "--factors", "A=1,2", "--factors", "A=1,3"), "A is a factor twice"),
        (("compare", "--arms", "ring", "--factors", "A=1,2,3", "--fraction", "1/2"), "two values a factor"),
        (("compare", "--arms", "ring", "--fraction", "1/4"), "needs --factors"),
        (("compare", "--resume", "x", "--factors", "A=1,2"), "leave --factors out"),
        (("compare", "--json", "--csv"), "--json or --csv"),
        (("compare", "--resume", "x", "--dry-run"), "leave --dry-run out"),
        (("compare", "--resume", "x", "--collective", "all_reduce"), "leave --collective out"),
        (("compare", "--resume", "x", "--dtype", "float64", "--ranks", "2"), "leave --ranks, --dtype out"),
        (("compare", "--resume", "x", "--no-preflight"), "leave --no-preflight out"),
        (("verify", "--algorithm", "nonsense"), "for all, choose from: "),
        (("verify", "--algorithm", "ring:foo"), "write shares as numbers from 1 to 16"),
        (("verify", "--algorithm", "ring:2+nonsense"), "for all, choose from: "),
        (("verify", "--collective", "nonsense"), "all_gather"),
        (("verify", "--ranks", "none"), "1-64"),
        (("verify", "no-such-file.json"), "can't read"),
        (("algorithms", "--ranks", "0"), "1..1024"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(arguments: tuple[str, ...], said: str) -> None:
    assert_refused(invoke(*arguments), said)


def test_unknown_options_and_commands_are_usage_errors() -> None:
    assert invoke("compare", "--no-such-option").exit_code == 2
    assert invoke("no-such-command").exit_code == 2


def test_help_lists_the_commands_in_groups() -> None:
    text = invoke("--help").stdout
    for entry in COMMANDS.values():
        assert f" {entry.name} " in text
        assert f" {entry.group} " in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_list_can_be_loaded(name: str) -> None:
    command = loaded(name)
    assert (command.name, bool(command.help)) == (name, True)


def test_every_module_of_a_command_is_in_the_list() -> None:
    listed = {entry.module for entry in COMMANDS.values()}
    rest = {"agents", "commands", "options", "outcome", "output", "tune_arms"}
    assert {path.stem for path in Path(ringtree.cli.__file__).parent.glob("[a-z]*.py")} == listed | rest


def test_the_list_of_commands_loads_none_of_them() -> None:
    code = "import sys, ringtree.cli; print([name for name in sys.modules if name.startswith('ringtree.cli.')])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "['ringtree.cli.commands']"


@pytest.mark.parametrize("width", ["80", "120"])
def test_help_shows_every_default(width: str) -> None:
    text = invoke("compare", "--help", COLUMNS=width, TERMINAL_WIDTH=width).stdout
    # Rich breaks long words where a column is narrow, so what is compared has no spaces.
    words = "".join(text.replace("│", " ").split())
    said = (
        "4",
        DEFAULT_SIZES,
        DEFAULT_ARMS,
        "8",
        DEFAULT_MARGIN,
        "100%",
        "random, recorded",
        "all_reduce",
        "float32",
        "a library, else the first",
    )
    for default in (*said, DEFAULT_ALPHA, DEFAULT_BETA, TEXTBOOK_LIBRARY, "runs"):
        assert f"[default: {default}]".replace(" ", "") in words
    plan = make_plan(Request())
    assert (plan.num_ranks, plan.num_launches) == (4, 8), "the help says so"
    assert "\\" not in text


def test_version() -> None:
    result = invoke("--version")
    assert (result.exit_code, result.stdout) == (0, f"ringtree {ringtree.__version__}\n")


def test_one_of_a_thing_is_not_plural() -> None:
    assert "1 rank;" in invoke("algorithms", "--ranks", "1").stdout
    one = invoke("verify", "--algorithm", "ring", "--collective", "all_reduce", "--ranks", "3")
    assert one.stdout.startswith("1 schedule verified, 0 failed")


@pytest.mark.parametrize("mix", ["ring:2", "ring:3+double_tree"])
def test_verify_proves_a_mix(mix: str) -> None:
    result = invoke("verify", "--algorithm", mix, "--collective", "all_reduce", "--ranks", "2-4")
    assert (result.exit_code, result.stdout.split(",")[0]) == (0, "3 schedules verified")


def test_verify_proves_the_built_in_algorithms() -> None:
    result = invoke("verify", "--ranks", "1-5", "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["format"] == "ringtree.verification/1"
    assert record["num_failed"] == 0
    names = {check["algorithm"] for check in record["checks"] if check["collective"] == "all_reduce"}
    assert names == {*ringtree.algorithms.names("all_reduce"), "nvls"}
    assert {check["num_ranks"] for check in record["checks"]} == {1, 2, 3, 4, 5}


def test_verify_fails_with_the_reason_if_a_schedule_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = {"ok": False, "kind": "link", "problem": "rank 1 step 0 sends to nobody", "rank": 1, "step": 0}
    monkeypatch.setattr(import_module("ringtree.cli.verify"), "verify_report", lambda schedule: verdict)
    result = invoke("verify", "--algorithm", "ring", "--collective", "all_reduce", "--ranks", "2")
    assert result.exit_code == 1
    assert "FAILED all_reduce ring n=2: rank 1 step 0 sends to nobody" in result.stdout


def test_a_file_that_is_no_schedule_is_a_usage_error(tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    file.write_text("{}")
    result = invoke("verify", str(file))
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_a_stored_schedule_is_verified(tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    text = ringtree.to_json(ringtree.schedule("all_reduce", "ring", ranks=3))
    file.write_text(text)
    result = invoke("verify", str(file), "--json")
    assert result.exit_code == 0, result.output
    (check,) = json.loads(result.stdout)["checks"]
    assert (check["collective"], check["num_ranks"], check["ok"]) == ("all_reduce", 3, True)


def test_a_stored_schedule_with_a_step_dropped_does_not_verify(tmp_path: Path) -> None:
    record = json.loads(ringtree.to_json(ringtree.schedule("all_reduce", "ring", ranks=3)))
    record["programs"][1]["steps"].pop()
    file = tmp_path / "schedule.json"
    file.write_text(json.dumps(record))
    result = invoke("verify", str(file))
    assert result.exit_code == 1
    assert "FAILED all_reduce" in result.stdout


def test_algorithms_counts_what_the_theory_says() -> None:
    result = invoke("algorithms", "--ranks", "4", "--json")
    rows = {(row["collective"], row["algorithm"]): row for row in json.loads(result.stdout)["algorithms"]}
    ring = rows["all_reduce", "ring"]
    assert ring["steps"] == 2 * 4 - 1
    assert ring["hops"] == 2 * (4 - 1)
    assert ring["sent"] == pytest.approx(2 * 3 / 4)
    assert rows["all_reduce", "one_shot"]["written"] == 2
    assert rows["all_reduce", "one_shot"]["read"] == 1 + 4
    assert "all_reduce" in invoke("algorithms").stdout


def test_a_bug_of_a_command_is_raised_with_its_traceback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By what tests invoke commands with: a test that looks for a failure must not find this one."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(import_module("ringtree.cli.runs"), "list_runs", fail)
    with pytest.raises(ZeroDivisionError):
        invoke("runs", "--runs", str(tmp_path))
