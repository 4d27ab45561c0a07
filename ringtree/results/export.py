"""The result of a query as a file or a stream: Parquet, CSV or JSON.

For: `ringtree export`, `ringtree sql --csv`. Not for: asking (query.py), tables for people (ringtree.cli).

A file appears whole or not at all: it is written under a temporary name beside its place and renamed. JSON is an array
of objects, a row each; it has no NaN and no infinity, so these become null. Parquet and CSV keep them.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ringtree.errors import UsageError
from ringtree.results.files import sync_directory, temporary_name
from ringtree.results.query import Database, QueryError

FORMATS = ("parquet", "csv", "json")
_OPTIONS = {
    "parquet": "FORMAT parquet, COMPRESSION zstd",
    "csv": "FORMAT csv, HEADER true",
    "json": "FORMAT json",  # a row a line
}


def format_of(file: Path) -> str:
    """Returns the format that a file's name asks for. Raises UsageError if it asks for none."""
    kind = file.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise UsageError(f"{file.name!r} names no format: end it in {', '.join('.' + name for name in FORMATS)}")
    return kind


def check_free(file: Path, force: bool) -> None:
    """Raises UsageError if `file` exists and may not be replaced, or if its directory does not exist."""
    if file.exists() and not force:
        raise UsageError(f"{file} exists: choose another name, or replace it with --force")
    if file.is_dir() or not file.parent.is_dir():
        raise UsageError(f"can't write {file}: {'it is a directory' if file.is_dir() else 'no such directory'}")


def write_result(database: Database, query: str, file: Path, force: bool = False) -> None:
    """Writes the rows of `query` to `file`, in the format that its name asks for.

    Raises UsageError for a mistake in the query or the name, QueryError if there is no room; then nothing is left.
    """
    kind = format_of(file)
    check_free(file, force)
    temporary = temporary_name(file)
    try:
        with open(temporary, "xb") as handle:
            send_result(database, query, kind, handle)
            handle.flush()
            os.fsync(handle.fileno())
        check_free(file, force)
        temporary.replace(file)
        sync_directory(file.parent)
    except OSError as error:
        raise QueryError(f"can't write {file}: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def send_result(database: Database, query: str, kind: str, stream: IO[bytes]) -> None:
    """Writes the rows of `query` to a stream in the format `kind`. Raises what Database.execute does, and OSError."""
    scratch = database.result_file
    database.copy_to_result(query, _OPTIONS[kind])
    try:
        with open(scratch, "rb") as rows:
            if kind == "json":
                stream.writelines(_array(rows))
            else:
                shutil.copyfileobj(rows, stream)
    finally:
        scratch.unlink()


def _array(rows: IO[bytes]) -> Iterator[bytes]:
    separator = b"["
    for row in rows:
        text = row.rstrip(b"\n")
        if b"NaN" in text or b"Infinity" in text:
            text = json.dumps(json.loads(text, parse_constant=lambda _: None), ensure_ascii=False).encode()
        yield separator + b"\n " + text
        separator = b","
    yield b"\n]\n" if separator == b"," else b"[]\n"
