"""SQL over stored runs gives what Python computes from the records, and can touch nothing else.

For: the tables, what is left out, the lock-down, results as files, the queries of docs/reference. Not for: the commands
(test_cli_runs.py).
"""

from __future__ import annotations

import csv
import errno
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import pytest
from lab_support import make_cell, make_launch, make_plan, make_run
from query_support import IDS, SEED, keyed_cells, samples_of, write_runs

from ringtree.errors import UsageError
from ringtree.results import RunWriter, StoredRun, list_runs, read_run
from ringtree.results.export import send_result, write_result
from ringtree.results.query import Database, QueryError
from ringtree.results.tables import TABLES

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "index.md"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs")
    write_runs(path)
    return path


@pytest.fixture(scope="module")
def stored(store: Path) -> list[StoredRun]:
    return [read_run(store / run_id) for run_id in IDS]


@pytest.fixture
def database(store: Path) -> Iterator[Database]:
    with Database(store) as database:
        yield database


def rows(database: Database, query: str) -> list[tuple[Any, ...]]:
    return list(database.execute(query).fetchall())


def test_every_table_has_the_columns_that_are_documented(database: Database) -> None:
    assert {name for (name,) in rows(database, "show tables")} == set(TABLES)
    for table, columns in TABLES.items():
        assert [row[0] for row in rows(database, f"describe {table}")] == list(columns)
        assert rows(database, f"select * from {table}"), f"{table} is empty"


def test_runs_and_launches_are_those_stored(database: Database, stored: list[StoredRun]) -> None:
    query = "select run_id, path, arms, sizes, launches_planned, launches_stored, header from runs order by run_id"
    for row, run in zip(rows(database, query), stored, strict=True):
        assert row[:-1] == (run.run.run_id, str(run.path), ["it's", "b"], [1024, 4096], 6, 3)
        assert json.loads(row[-1]) == run.run.model_dump(mode="json")
    found = rows(database, "select run_id, launch, block, arms, seed, stolen from launches order by run_id, launch")
    assert found == [(r.run.run_id, x.launch, x.block, x.arms, x.seed, x.stolen) for r in stored for x in r.launches]


def test_cells_are_what_python_computes(database: Database, stored: list[StoredRun]) -> None:
    found = {tuple(row[:4]): row[4:] for row in rows(database, "select run_id, launch, arm, size_bytes, * from cells")}
    names = [row[0] for row in rows(database, "describe cells")]
    assert len(found) == 2 * 3 * 4
    for key, cell in keyed_cells(stored):
        row = dict(zip(names, found[key], strict=True))
        samples = samples_of(cell) if cell.times else []
        assert row["num_iterations"] == len(samples)
        assert row["num_visits"] == len(cell.visits)
        assert row["median_seconds"] == (pytest.approx(median(samples), rel=1e-12) if samples else None)
        assert row["min_seconds"] == min(samples, default=None)
        assert row["max_seconds"] == max(samples, default=None)
        probes = [seconds for visit in cell.visits if visit.handoff is not None for seconds in visit.handoff]
        assert (row["min_handoff"], row["max_handoff"]) == (min(probes, default=None), max(probes, default=None))
        assert row["algorithm"] == (cell.executed or {}).get("algorithm")
        assert (row["verified"], row["error"], row["batch"]) == (cell.verified, cell.error, cell.batch)
        assert (row["executed"] is None) == (cell.executed is None)
        assert (row["first_wrong"] is None) == (cell.first_wrong is None)
        assert row["warm_up_iterations"] == (None if cell.warm_up is None else cell.warm_up.num_iterations)


def test_visits_samples_and_rank_times_are_what_python_computes(database: Database, stored: list[StoredRun]) -> None:
    visits, samples, rank_times = [], [], []
    for key, cell in keyed_cells(stored):
        first = 0
        for visit in cell.visits:
            of_visit = samples_of(cell)[first : first + visit.num_iterations]
            samples += [
                (*key, first + i, visit.round, pytest.approx(value, rel=1e-12)) for i, value in enumerate(of_visit)
            ]
            first += visit.num_iterations
            seconds = pytest.approx(median(of_visit), rel=1e-12)
            handoff = visit.handoff or (None, None)
            visits.append((*key, visit.round, visit.position, visit.num_iterations, seconds, *handoff))
        rank_times += [
            (*key, rank, i, pytest.approx(value / cell.batch, rel=1e-12))
            for rank, of_rank in enumerate(cell.times)
            for i, value in enumerate(of_rank)
        ]
    for table, expected in (("visits", visits), ("samples", samples), ("rank_times", rank_times)):
        found = rows(database, f"select * from {table}")
        assert sorted(found, key=lambda row: row[:6]) == sorted(expected, key=lambda row: row[:6]), f"seed {SEED}"


def test_a_launch_that_is_longer_than_duckdbs_usual_line_is_read(tmp_path: Path) -> None:
    length = 40 << 20
    with RunWriter(tmp_path, make_run(make_plan())) as writer:
        writer.append(make_launch(0, [make_cell("a", 8, 1.0, executed={"algorithm": "x" * length})]))
    with Database(tmp_path) as database:
        assert rows(database, "select len(algorithm), num_iterations from cells") == [(length, 3)]


def copy_of(store: Path, to: Path) -> Path:
    for run in store.iterdir():
        (to / run.name).mkdir(parents=True)
        for file in run.iterdir():
            (to / run.name / file.name).write_bytes(file.read_bytes())
    return to


def test_torn_damaged_double_and_foreign_runs_hide_no_other(store: Path, tmp_path: Path) -> None:
    runs = copy_of(store, tmp_path / "it's runs")
    good, torn = runs / IDS[0], runs / IDS[1]
    file = torn / "launches.jsonl"
    file.write_bytes(file.read_bytes()[:-1])
    for name, change in (
        ("damaged", lambda lines: [lines[0], lines[1][:50] + b"\n", lines[2]]),
        ("mistyped", lambda lines: [lines[0].replace(b'"size_bytes":1024', b'"size_bytes":"many"')]),
        ("double", lambda lines: [*lines, lines[1]]),
        ("reformatted", lambda lines: [json.dumps(json.loads(line)).encode() + b"\n" for line in [*lines, lines[1]]]),
        ("future", lambda lines: lines),
        ("copy", lambda lines: lines),
    ):
        (runs / name).mkdir()
        header = json.loads((good / "run.json").read_text())
        header["run_id"] = IDS[0] if name == "copy" else name
        header["format"] = "ringtree.run/3" if name == "future" else header["format"]
        (runs / name / "run.json").write_text(json.dumps(header))
        lines = (good / "launches.jsonl").read_bytes().splitlines(keepends=True)
        (runs / name / "launches.jsonl").write_bytes(b"".join(change(lines)))
    with Database(runs) as database:
        counts = rows(database, "select run_id, count(*) from launches group by run_id order by run_id")
        assert counts == [(IDS[0], 3), (IDS[1], 2)]
        assert rows(database, "select run_id, launches_stored from runs order by run_id") == counts
        assert rows(database, "select count(*) from cells") == [(4 * 5,)]
        notes = {
            next((word for word in note.split() if word.startswith(str(tmp_path))), ""): note for note in database.notes
        }
        said = "\n".join(database.notes)
        assert len(database.notes) == 7, notes
    for name, reason in (
        ("damaged", "left out"),
        ("mistyped", "left out"),
        ("double", "launch 1 is stored twice"),
        ("reformatted", "launch 1 is stored twice"),
        ("future", "newer than ringtree.run/2"),
        (IDS[1], "torn last line"),
    ):
        assert any(f"/{name}" in note and reason in note for note in said.splitlines()), (name, said)
    assert f"it holds run {IDS[0]}" in said


def test_no_runs_and_runs_without_launches_are_empty_tables(tmp_path: Path) -> None:
    with Database(tmp_path / "nowhere") as database:
        assert "no runs" in database.notes[0]
        assert all(rows(database, f"select * from {table}") == [] for table in TABLES)
    with RunWriter(tmp_path, make_run(make_plan())) as writer:
        writer.append(make_launch(0, []))
    with Database(tmp_path) as database:
        assert rows(database, "select count(*) from launches") == [(1,)]
        assert rows(database, "select count(*) from cells") == [(0,)]


@pytest.mark.parametrize(
    "query",
    [
        "copy (select 1) to '{store}/stolen.csv'",
        "copy (select 1) to '{store}/{run}/launches.jsonl' (use_tmp_file false)",
        "with x as (copy (select 1) to '{store}/{run}/run.json' (use_tmp_file false)) select 1",
        "select * from read_text('{store}/{run}/run.json')",
        "select * from '{store}/{run}/launches.jsonl'",
        "select * from glob('{store}/*')",
        "attach '{store}/stolen.db'",
        "export database '{store}/stolen'",
        "install httpfs",
        "load '{store}/stolen.duckdb_extension'",
        "set enable_external_access = true",
        "reset enable_external_access",
        "set allowed_paths = ['/']",
        "set temp_directory = '{store}'",
        "set memory_limit = '1TB'",
        "select * from secret_variable",
    ],
)
def test_a_query_reaches_no_file_and_no_setting(store: Path, database: Database, query: str) -> None:
    secret_variable = [1]  # DuckDB would find Python's own variables
    before = {file: file.read_bytes() for file in store.rglob("*") if file.is_file()}
    with pytest.raises((UsageError, QueryError)) as error:
        database.execute(query.format(store=store, run=IDS[0]))
    assert "\n" not in str(error.value)
    with pytest.raises((UsageError, QueryError)):
        database.copy_to_result(query.format(store=store, run=IDS[0]), "FORMAT csv")
    assert {file: file.read_bytes() for file in store.rglob("*") if file.is_file()} == before
    assert secret_variable == [1]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("selct 1", 'syntax error at or near "selct"'),
        ("select nothing from runs", "nothing"),
        ("select * from sample", "does not exist! Did you mean"),
        ("select 'x'::int", "Could not convert"),
        ("", "write one query"),
        ("-- nothing", "write one query"),
        ("select 1; select 2", "write one query"),
    ],
)
def test_a_mistake_in_a_query_is_one_line(database: Database, query: str, said: str) -> None:
    for ask in (lambda: database.execute(query), lambda: database.copy_to_result(query, "FORMAT csv")):
        with pytest.raises(UsageError) as error:
            ask()
        assert said in str(error.value)
        assert "\n" not in str(error.value)
    assert rows(database, "select 1") == [(1,)]


@pytest.mark.parametrize(
    "query",
    ["select 1 as x; -- end", "select 1 as x -- end;", "select 1 as x /* ; */ ;;", "-- begin;\nfrom (select 1 as x)"],
)
def test_a_query_may_end_as_people_end_it(database: Database, tmp_path: Path, query: str) -> None:
    write_result(database, query, tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text()) == [{"x": 1}]


def test_the_temporary_directory_vanishes(store: Path) -> None:
    with Database(store) as database:
        scratch = database.result_file.parent
        assert scratch.is_dir()
    assert not scratch.exists()


@pytest.mark.parametrize("table", list(TABLES))
def test_an_exported_table_is_the_table(database: Database, tmp_path: Path, table: str) -> None:
    for suffix in ("parquet", "csv", "json"):
        write_result(database, f"select * from {table}", tmp_path / f"x.{suffix}")
    expected = rows(database, f"select * from {table}")
    with duckdb.connect() as connection:
        found = connection.execute(f"select * from '{tmp_path / 'x.parquet'}'").fetchall()
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    records = json.loads((tmp_path / "x.json").read_text())
    assert [list(record) for record in records] == [list(TABLES[table])] * len(expected)
    with open(tmp_path / "x.csv", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == list(TABLES[table])
    assert len(lines) == len(expected) + 1
    if table == "samples":  # floats survive all three
        column = list(TABLES[table]).index("seconds")
        seconds = sorted(row[column] for row in expected)
        assert sorted(record["seconds"] for record in records) == seconds
        assert sorted(float(line[column]) for line in lines[1:]) == seconds


def test_json_has_no_nan(database: Database, tmp_path: Path) -> None:
    query = """select * from (values ('nan'::double, [1.5, 2], 'NaN', 2), (1, ['-inf'::double, 'inf'::double], 'x', 3),
        (2, [], 'Infinity', 4)) as t(a, b, c, a_1)"""
    write_result(database, query, tmp_path / "x.json")
    text = (tmp_path / "x.json").read_text()
    found = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in {text}"))
    assert [list(row.values()) for row in found] == [
        [None, [1.5, 2], "NaN", 2],
        [1, [None, None], "x", 3],
        [2, [], "Infinity", 4],
    ]
    write_result(database, "select 1 as x where false", tmp_path / "y.json")
    assert (tmp_path / "y.json").read_text() == "[]\n"


def test_a_file_is_replaced_only_by_force(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("mine")
    with pytest.raises(UsageError, match="--force"):
        write_result(database, "select 1", file)
    assert file.read_text() == "mine"
    with pytest.raises(UsageError):
        write_result(database, "selct", file, force=True)
    assert file.read_text() == "mine"
    write_result(database, "select 1 as x", file, force=True)
    assert file.read_text() == "x\n1\n"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(("name", "said"), [("x.xlsx", ".parquet"), ("x", "no format"), ("no/x.csv", "no such dir")])
def test_a_place_that_can_not_be_written_is_a_mistake(database: Database, tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        write_result(database, "select 1", tmp_path / name)


def test_a_full_disk_leaves_no_half_file(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(QueryError, match=r"can't write .*x.csv: No space left on device$"):
        write_result(database, "select 1", tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_stream_without_room_is_an_error(database: Database) -> None:
    with pytest.raises(OSError, match="No space left"), open("/dev/full", "wb", buffering=0) as full:
        send_result(database, "select * from samples", "csv", full)


def test_chosen_runs_only(store: Path) -> None:
    with Database(list_runs(store)[:1]) as database:
        assert rows(database, "select distinct run_id from samples") == [(IDS[1],)]


def test_the_page_describes_every_column_and_its_queries_run(database: Database) -> None:
    page = PAGE.read_text()
    for table, columns in TABLES.items():
        types = {row[0]: row[1] for row in rows(database, f"describe {table}")}
        lines = [f"| `{name}` | {types[name]} | {meaning} |" for name, meaning in columns.items()]
        assert "\n".join([f"### {table}", "", "| column | type | meaning |", "|---|---|---|", *lines]) in page
    queries = re.findall(r"^```sql\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(queries) == 3
    for query in queries:
        assert rows(database, query), query


def test_the_queries_of_the_page_say_what_they_promise(database: Database, stored: list[StoredRun]) -> None:
    spread, ratio, slowest = re.findall(r"^```sql\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    of_launches: dict[tuple[str, str, int], list[float]] = {}
    medians: dict[tuple[str, int, str, int], float] = {}
    for (run_id, launch, arm, size), cell in keyed_cells(stored):
        if cell.verified:
            medians[run_id, launch, arm, size] = median(samples_of(cell))
            of_launches.setdefault((run_id, arm, size), []).append(median(samples_of(cell)))
    assert {tuple(row[:3]): (row[3], row[5]) for row in rows(database, spread)} == {
        key: (len(values), pytest.approx(max(values) / min(values))) for key, values in of_launches.items()
    }
    expected = [
        (size, "it's", launch, medians[run_id, launch, "it's", size] / medians[run_id, launch, "b", size])
        for (run_id, launch, arm, size) in medians
        if arm == "b" and (run_id, launch, "it's", size) in medians
    ]
    assert sorted(rows(database, ratio)) == [pytest.approx(row) for row in sorted(expected)]
    counted = {tuple(row[:3]): row[3] for row in rows(database, slowest)}
    num_iterations = sum(len(cell.times[0]) for _, cell in keyed_cells(stored) if cell.times)
    assert sum(counted.values()) == num_iterations
