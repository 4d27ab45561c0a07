"""Logs in the store: they come back byte by byte, and what is damaged or missing is said."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from ringtree.errors import UsageError
from ringtree.logs.storing import IMPORT_FILE, SOURCE_FILE, find_import, list_imports, read_import, store_log
from ringtree.results import StoreError, list_runs

TEXT = b"hello\nworld\n\xff\xfe\n" * 1000


def test_a_log_comes_back_as_it_was(tmp_path: Path) -> None:
    header = store_log(io.BytesIO(TEXT), "some.log", tmp_path)
    assert gzip.decompress((tmp_path / header.run_id / SOURCE_FILE).read_bytes()) == TEXT
    assert header.num_bytes == len(TEXT)
    imported = read_import(tmp_path / header.run_id)
    assert imported.name == "some.log"
    assert imported.num_lines == 3000
    assert [one.run_id for one in list_imports(tmp_path)] == [header.run_id]
    assert list_runs(tmp_path) == []  # it is not a run of ringtree's


def test_it_is_found_by_id_beginning_and_end(tmp_path: Path) -> None:
    header = store_log(io.BytesIO(TEXT), "a", tmp_path)
    path = tmp_path / header.run_id
    for text in (header.run_id, header.run_id[:12], header.run_id[-6:], str(path)):
        assert find_import(tmp_path, text) == path
    assert find_import(tmp_path, "nothing") is None
    store_log(io.BytesIO(TEXT), "b", tmp_path)
    with pytest.raises(UsageError, match="write more of it"):
        find_import(tmp_path, header.run_id[:4])


def test_what_is_damaged_is_said_and_listed_nowhere(tmp_path: Path) -> None:
    header = store_log(io.BytesIO(TEXT), "a", tmp_path)
    path = tmp_path / header.run_id
    (path / SOURCE_FILE).write_bytes((path / SOURCE_FILE).read_bytes()[:20])
    with pytest.raises(UsageError, match="damaged"):
        read_import(path)
    (path / IMPORT_FILE).write_text("{}")
    assert list_imports(tmp_path) == []
    with pytest.raises(UsageError, match="damaged"):
        read_import(path)


def test_a_store_that_can_not_be_written_keeps_nothing(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(StoreError, match="can't store"):
        store_log(io.BytesIO(TEXT), "a", file)
