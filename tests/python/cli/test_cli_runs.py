"""`ringtree runs`, `ringtree sql` and `ringtree export`: only the result on standard output, mistakes in one line.

For: options, output and exit codes. Not for: what the tables hold (test_results_query.py).
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
import typer
from lab_support import make_cell, make_launch, make_plan, make_run
from typer.testing import CliRunner, Result

from ringtree.cli.export import export
from ringtree.cli.runs import runs
from ringtree.cli.sql import MAX_ROWS, sql
from ringtree.results import EmulatedCluster, Run, RunWriter
from ringtree.results.described import FIELDS
from ringtree.results.tables import TABLES

OLD, NEW = "20260101T000000Z-aaaaaa", "20260102T000000Z-bbbbbb"
NASTY = "[red]a\x1b[2J\u202e\n"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
for command in (runs, sql, export):
    app.command()(command)


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def store_run(place: Path, run: Run, num_launches: int) -> None:
    with RunWriter(place, run) as writer:
        for index in range(num_launches):
            writer.append(make_launch(index, [make_cell(arm.label, 1024, 0.5) for arm in run.plan.arms]))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    place = tmp_path / "runs"
    cluster = EmulatedCluster(hosts=2, ranks_per_host=1, alpha=1e-3, beta=2e7)
    store_run(place, make_run(make_plan(emulation=cluster), run_id=OLD), 6)
    store_run(place, make_run(make_plan(sizes=(1024,)), run_id=NEW), 4)
    return place


def test_runs_lists_newest_first_and_says_how_to_go_on(store: Path) -> None:
    result = invoke("runs", "--runs", store)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
    assert lines[2] == [NEW, "all_reduce", "1", "KB", "a,", "b", "2", "4/6", "incomplete", "host"]
    assert lines[3] == [OLD, "all_reduce", "1", "KB–4", "KB", "a,", "b", "2", "6/6", "complete,", "emulated", "host"]
    assert " ".join(lines[4]) == f"{NEW}: continue it with `ringtree compare --resume {NEW} --runs {store}`"
    assert len(lines) == 5


def test_a_run_that_is_being_written_is_running(store: Path) -> None:
    with RunWriter.resume(store / NEW):
        result = invoke("runs", "--runs", store)
        assert "running" in result.stdout
        assert "--resume" not in result.stdout


def test_runs_as_json_and_csv_are_the_same_list(store: Path) -> None:
    (store / "damaged").mkdir()
    (store / "damaged" / "run.json").write_text("{")
    record = json.loads(invoke("runs", "--runs", store, "--json").stdout)
    assert record["format"] == "ringtree.runs/1"
    damaged, new, old = record["runs"]
    assert all(list(row) == list(FIELDS) for row in record["runs"])
    assert (damaged["state"], damaged["num_ranks"]) == ("unreadable", None)
    assert "not valid JSON" in damaged["problem"]
    assert (new["launches_stored"], new["launches_planned"], new["state"]) == (4, 6, "incomplete")
    assert (old["sizes"], old["arms"], old["emulated"]) == ([1024, 4096], ["a", "b"], True)
    rows = list(csv.DictReader(io.StringIO(invoke("runs", "--runs", store, "--csv").stdout)))
    assert [row["run_id"] for row in rows] == ["damaged", NEW, OLD]
    assert (rows[2]["sizes"], rows[2]["launches_stored"], rows[0]["host"]) == ("1024;4096", "6", "")


def test_an_empty_store_is_no_failure(tmp_path: Path) -> None:
    result = invoke("runs", "--runs", tmp_path / "nowhere")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"ringtree: no runs in {tmp_path / 'nowhere'}; `ringtree compare` stores some\n"
    assert json.loads(invoke("runs", "--runs", tmp_path, "--json").stdout)["runs"] == []
    result = invoke("sql", "select count(*) as n from runs", "--runs", tmp_path, "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (0, [{"n": 0}])
    assert "no runs" in result.stderr


def test_nothing_from_a_file_acts_on_the_terminal(store: Path) -> None:
    plan = make_plan(arms=(NASTY, "b"))
    store_run(store, make_run(plan, run_id="20260103T000000Z-cccccc"), 1)
    (store / "bad\x1b[2J").mkdir()
    (store / "bad\x1b[2J" / "run.json").write_text('{"format": "\\u001b[2J/1"}')
    for arguments in (
        ("runs",),
        ("sql", "select arm, arms from cells join runs using (run_id)"),
        ("sql", "select '\x07'"),
    ):
        result = invoke(*arguments, "--runs", store)
        assert result.exit_code == 0
        for text in (result.stdout, result.stderr):
            assert not set(text) & set("\x1b\x07\u202e")
    shown = invoke("runs", "--runs", store).stdout
    assert r"[red]a\x1b[2J\u202e\n" in shown
    assert r"bad\x1b[2J" in shown
    listed = json.loads(invoke("runs", "--runs", store, "--json").stdout)["runs"]
    assert NASTY in [arm for row in listed for arm in row["arms"] or ()]


def test_sql_prints_a_table(store: Path) -> None:
    result = invoke(
        "sql", "select arm, count(*) as n, 1/3 as third, null as nothing from cells group by arm", "--runs", store
    )
    assert (result.exit_code, result.stderr) == (0, "")
    lines = sorted(line.split() for line in result.stdout.splitlines() if line.strip())
    assert lines[:2] == [["a", "10", "0.333333"], ["arm", "n", "third", "nothing"]]


def test_sql_without_a_query_names_every_table_and_column(store: Path) -> None:
    rows = json.loads(invoke("sql", "--runs", store, "--json").stdout)
    assert [(row["table"], row["column"]) for row in rows] == [
        (table, column) for table, columns in TABLES.items() for column in columns
    ]
    assert {row["type"] for row in rows if row["column"] == "size_bytes"} == {"BIGINT"}
    assert "slowest rank's time" in invoke("sql", "--runs", store).stdout


def test_a_long_table_is_cut_and_says_so(store: Path) -> None:
    result = invoke("sql", f"select * from range({MAX_ROWS + 1}) as t(number)", "--runs", store)
    assert len(result.stdout.split()) == 1 + 1 + MAX_ROWS, "heading, rule, rows"
    assert f"the first {MAX_ROWS} rows" in result.stderr
    result = invoke("sql", f"select * from range({MAX_ROWS + 1}) as t(number)", "--runs", store, "--csv")
    assert result.stdout.splitlines() == ["number", *map(str, range(MAX_ROWS + 1))]
    assert result.stderr == ""


def test_sql_writes_a_file(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    result = invoke("sql", "select run_id from runs order by 1", "--runs", store, "-o", file)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert file.read_text() == f"run_id\n{OLD}\n{NEW}\n"
    assert invoke("sql", "select 1", "--runs", store, "-o", file).exit_code == 2
    assert invoke("sql", "select 1 as x", "--runs", store, "-o", file, "--force").exit_code == 0
    assert file.read_text() == "x\n1\n"


def test_what_is_left_out_is_said_beside_the_result(store: Path) -> None:
    header = store / OLD / "run.json"
    header.write_text(header.read_text().replace("ringtree.run/2", "ringtree.run/3"))
    result = invoke("sql", "select run_id from runs", "--runs", store, "--json")
    assert json.loads(result.stdout) == [{"run_id": NEW}]
    assert "newer than ringtree.run/2" in result.stderr


@pytest.mark.parametrize("chosen", [("last",), (NEW,), ("bbbbbb",), (NEW, "last")])
def test_export_of_one_run(store: Path, tmp_path: Path, chosen: tuple[str, ...]) -> None:
    result = invoke("export", *chosen, "--runs", store, "--table", "cells", "-o", tmp_path / "x.json")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    rows = json.loads((tmp_path / "x.json").read_text())
    assert (len(rows), {row["run_id"] for row in rows}) == (4 * 2, {NEW})


def test_export_of_all_runs(store: Path, tmp_path: Path) -> None:
    assert invoke("export", "all", "--runs", store, "-o", tmp_path / "x.json").exit_code == 0
    rows = json.loads((tmp_path / "x.json").read_text())
    assert list(rows[0]) == list(TABLES["samples"])
    assert len(rows) == 10 * 2 * 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sql", "selct 1"), "syntax error"),
        (("sql", "select * from nowhere"), "nowhere does not exist"),
        (("sql", "select * from read_text('/etc/hostname')"), "disabled"),
        (("sql", "select 1", "--csv", "--json"), "choose one"),
        (("sql", "select 1", "-o", "x.txt"), ".parquet"),
        (("sql", "select 1", "-o", "no/such/x.csv"), "no such directory"),
        (("runs", "--csv", "--json"), "choose one"),
        (("export", "last", "-o", "x.txt"), ".parquet"),
        (("export", "last", "-o", "x.csv", "--table", "all"), "choose from: runs, launches"),
        (("export", "nonsense", "-o", "x.csv"), "there are: "),
        (("export", "future", "-o", "x.csv"), "newer than ringtree.run/2"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    (store / "future").mkdir()
    (store / "future" / "run.json").write_text('{"format": "ringtree.run/3"}')
    monkeypatch.chdir(tmp_path)
    result = invoke(*arguments, "--runs", store)
    assert result.exit_code == 2
    line = result.stderr.splitlines()[-1]
    assert line.startswith("ringtree: ")
    assert said in line
    assert result.stdout == ""
    assert [file.name for file in tmp_path.iterdir()] == ["runs"]
