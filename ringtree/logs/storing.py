"""Logs in the store: the file itself, compressed, with where it came from.

For: `ringtree import`, and whatever takes stored runs and can take logs too. Not for: formats (the readers).

What is kept is the source, not what a reader made of it: a better reader then finds more in the same log, and every
number can be traced to its line. `<runs>/<id>/import.json` is written last: a directory without it holds no import.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from ringtree.errors import UsageError
from ringtree.logs.importing import Imported, read_file, read_stream
from ringtree.logs.records import Item
from ringtree.results import Record, StoreError, new_run_id
from ringtree.results.files import make_directory, sync_directory, write_whole
from ringtree.version import __version__

IMPORT_FILE, SOURCE_FILE = "import.json", "source.gz"
FORMAT = "ringtree.imported/1"
_BLOCK = 1 << 20
_FAST = 1  # logs repeat themselves: higher levels take much longer and save little


class ImportHeader(Record):
    """Where a stored log came from."""

    format: str = FORMAT
    run_id: str
    created_utc: str
    name: str
    sha256: str
    num_bytes: int
    ringtree_version: str


def store_log(stream: BinaryIO, name: str, runs: Path) -> ImportHeader:
    """Copies the stream into a new directory of the store. Raises StoreError if it can't be written."""
    run_id = new_run_id()
    path = runs / run_id
    digest = hashlib.sha256()
    num_bytes = 0
    try:
        make_directory(path)
        with gzip.open(path / SOURCE_FILE, "wb", compresslevel=_FAST) as copy:
            while block := stream.read(_BLOCK):
                digest.update(block)
                num_bytes += len(block)
                copy.write(block)
        header = ImportHeader(
            run_id=run_id,
            created_utc=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            name=name,
            sha256=digest.hexdigest(),
            num_bytes=num_bytes,
            ringtree_version=__version__,
        )
        write_whole(path / IMPORT_FILE, header.model_dump_json(indent=1).encode() + b"\n")
        sync_directory(path)
    except OSError as error:
        shutil.rmtree(path, ignore_errors=True)
        raise StoreError(f"can't store {name} in {path}: {error.strerror or error}; choose another --runs") from error
    return header


def list_imports(runs: Path) -> list[ImportHeader]:
    """Returns the stored logs, newest first; directories that hold none, or a damaged one, are passed over."""
    try:
        paths = [path.parent for path in runs.glob(f"*/{IMPORT_FILE}")]
    except OSError:
        return []
    found = []
    for path in paths:
        try:
            found.append(read_import_header(path))
        except UsageError:
            continue
    return sorted(found, key=lambda header: header.run_id, reverse=True)


def find_import(runs: Path, text: str) -> Path | None:
    """Returns the directory of the stored log that `text` means: a path, an id, the beginning of one, or its last part.

    None if there is none of that name; raises UsageError if several are meant.
    """
    if (Path(text) / IMPORT_FILE).is_file():
        return Path(text)
    if not text or "/" in text:
        return None
    ids = [header.run_id for header in list_imports(runs)]
    meant = [one for one in ids if text in (one, one.rpartition("-")[2])] or [
        one for one in ids if one.startswith(text)
    ]
    if len(meant) > 1:
        raise UsageError(f"{text!r} may mean {', '.join(meant[:5])}: write more of it")
    return runs / meant[0] if meant else None


@dataclass(frozen=True)
class Log:
    """A log, a file or stored. `read` gives its items one by one to the function that it is called with, or keeps
    them."""

    name: str
    read: Callable[..., Imported]


def find_log(runs: Path, text: str) -> Log | None:
    """Returns the log that `text` names, a file or a stored import; None if it names none."""
    if Path(text).is_file():
        return Log(text, partial(read_file, Path(text)))
    stored = find_import(runs, text)
    return None if stored is None else Log(read_import_header(stored).name, partial(read_import, stored))


def read_import_header(path: Path) -> ImportHeader:
    """Reads where the log in directory `path` came from. Raises UsageError for what is damaged or newer."""
    try:
        header = ImportHeader.model_validate_json((path / IMPORT_FILE).read_bytes())
    except OSError as error:
        raise UsageError(f"{path} holds no imported log: {error.strerror}") from error
    except ValidationError as error:
        raise UsageError(f"{path / IMPORT_FILE} is damaged: {error.errors()[0]['msg']}") from error
    if header.format != FORMAT:
        raise UsageError(f"{path / IMPORT_FILE} has format {header.format!r}; this ringtree reads {FORMAT}")
    return header


def read_import(path: Path, emit: Callable[[Item], None] | None = None) -> Imported:
    """Reads the stored log in directory `path` again. Raises UsageError if it is damaged."""
    header = read_import_header(path)
    try:
        with gzip.open(path / SOURCE_FILE, "rb") as source:
            return read_stream(source, header.name, emit)  # type: ignore[arg-type] # it has what BinaryIO has
    except (OSError, EOFError) as error:
        raise UsageError(f"{path / SOURCE_FILE} is damaged: {error}") from error
