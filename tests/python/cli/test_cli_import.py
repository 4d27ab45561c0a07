"""`ringtree import`: what it prints, stores and returns; its JSON is that of the published schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nccltests_support import FOOTER, modern_header, modern_row
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.logs.export_schema import IMPORT_FORMAT, ImportRecord
from ringtree.logs.storing import find_import, read_import

TEXT = modern_header() + modern_row(1024) + modern_row(2048, wrong="3") + "hello\n" + FOOTER


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "a.log"
    path.write_text(TEXT)
    return path


def run(*arguments: object, stdin: bytes | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["import", *map(str, arguments)], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_a_summary_says_what_was_read_and_what_was_not(log: Path) -> None:
    code, out, err = run("--dry-run", log)
    assert (code, err) == (0, "")
    for said in (
        "nccl-tests; 19 lines",
        "all_reduce",
        "1 KB to 2 KB",
        "nccl 2.24.3",
        "whole",
        "skipped: 1 line",
        "hello",
    ):
        assert said in out, said
    assert "stored" not in out


def test_without_dry_run_the_log_is_stored(log: Path, tmp_path: Path) -> None:
    code, out, _ = run("--runs", tmp_path / "runs", log)
    assert code == 0
    run_id = out.partition("stored as ")[2].split()[0]
    found = find_import(tmp_path / "runs", run_id)
    assert found is not None
    assert len(read_import(found).tables[0].rows) == 2
    code, out, _ = run("--json", "--runs", tmp_path / "runs", log)
    stored = ImportRecord.model_validate_json(out).files[0].stored
    assert stored is not None
    assert find_import(tmp_path / "runs", stored) is not None


def test_dry_run_stores_nothing(log: Path, tmp_path: Path) -> None:
    assert run("--dry-run", "--runs", tmp_path / "runs", log)[0] == 0
    assert not (tmp_path / "runs").exists()


def test_a_store_that_can_not_be_written_is_said(log: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, out, err = run("--runs", tmp_path / "file" / "runs", log)
    assert code == 2
    assert "can't store" in err
    assert "all_reduce" in out


def test_json_has_every_number_as_printed_and_in_si_units(log: Path) -> None:
    code, out, err = run("--dry-run", "--json", log)
    assert (code, err) == (0, "")
    record = ImportRecord.model_validate_json(out)
    assert json.loads(record.model_dump_json()) == json.loads(out)
    (file,) = record.files
    assert (record.format, file.formats, file.num_lines, file.stored) == (IMPORT_FORMAT, ["nccl-tests"], 19, None)
    (table,) = file.tables
    first, second = table.rows[1].sides
    assert (first.place, second.place) == ("out_of_place", "in_place")
    assert first.time is not None
    assert first.wrong is not None
    assert (first.time.text, first.time.value) == ("10.00", pytest.approx(1e-5))
    assert (first.wrong.text, first.wrong.value) == ("3", 3.0)
    assert table.average_busbw is not None
    assert table.average_busbw.value == 12.5e9
    assert [(each.reason, each.num_lines) for each in file.skipped] == [("no reader knows it", 1)]
    assert file.skipped[0].examples[0].text == "hello"


def test_tables_and_facts_of_several_files(log: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.log"
    other.write_text(TEXT + "GPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-23\nGPU1\tNV12\t X \t0-23\n\n" + TEXT)
    record = ImportRecord.model_validate_json(run("--dry-run", "--json", log, other, log)[1])
    assert [len(file.tables) for file in record.files] == [1, 2, 1]
    assert [document.kind for document in record.files[1].documents] == ["topology_matrix"]


def test_standard_input(tmp_path: Path) -> None:
    code, out, _ = run("--runs", tmp_path / "runs", "--json", "-", stdin=TEXT.encode())
    (file,) = ImportRecord.model_validate_json(out).files
    assert (code, file.file, len(file.tables[0].rows)) == (0, "-", 2)
    assert file.stored is not None
    found = find_import(tmp_path / "runs", file.stored)
    assert found is not None
    assert len(read_import(found).tables[0].rows) == 2


def test_exit_codes(log: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.log"
    nothing.write_text("just words\n")
    assert run("--dry-run", log)[0] == 0
    assert run("--dry-run", log, nothing)[0] == 1
    code, out, err = run("--dry-run", nothing, tmp_path / "missing", log)
    assert code == 2
    assert "missing" in err
    assert "all_reduce" in out
    assert run("--dry-run", tmp_path)[0] == 2
    assert run()[0] == 2


def test_a_missing_file_leaves_the_json_whole(log: Path, tmp_path: Path) -> None:
    code, out, _ = run("--dry-run", "--json", tmp_path / "missing", log)
    first, second = ImportRecord.model_validate_json(out).files
    assert code == 2
    assert first.error is not None
    assert (first.tables, second.error, len(second.tables)) == ([], None, 1)


def test_nothing_readable_is_not_stored(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.log"
    nothing.write_text("just words\n")
    assert run("--runs", tmp_path / "runs", nothing)[0] == 1
    assert not (tmp_path / "runs").exists()


def test_nothing_of_a_log_reaches_the_terminal_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "evil.log"
    path.write_text("# \x9b31m\u202e[red]title\n\n" + TEXT.replace("hello", "\x07\x9b2J [bold]words"))
    code, out, _ = run("--dry-run", path)
    assert code == 0
    assert not {"\x07", "\x9b", "\u202e", "\x1b"} & set(out)
    assert "[red]title" in out
    assert "[bold]words" in out


def test_many_tables_are_counted_and_not_all_printed(tmp_path: Path) -> None:
    path = tmp_path / "many.log"
    path.write_text(TEXT * 100)
    out = run("--dry-run", path)[1]
    assert "… 100 tables with 200 rows in all" in out
    assert len(out.splitlines()) < 80
