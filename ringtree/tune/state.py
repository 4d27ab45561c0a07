"""What a tuning has measured, on disk: a directory beside the profile, so that a killed one goes on.

For: reading and appending lines, one writer at a time. Not for: what they mean (history.py).

    profile.json             the profile, written when the tuning is over
    profile.json.tuning/
      tuning.jsonl           the header, then launches, rounds and what was dropped, a line each

A line is written in one piece as soon as the ranks have reported it. A torn last line, left by a writer that was
killed, is dropped.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from pydantic import BaseModel, ValidationError

from ringtree.errors import UsageError, os_errors
from ringtree.results.files import make_directory, sync_directory
from ringtree.results.writer_lock import WriterLock
from ringtree.tune.measured import STATE_FORMAT, Header, Line, lines

STATE_FILE = "tuning.jsonl"


@dataclass(frozen=True)
class StoredTuning:
    """A state as read. `size`: bytes of its whole lines."""

    header: Header
    lines: list[Line]
    size: int


class _Stamp(BaseModel):
    """What a header of any version has."""

    format: str


def state_of(profile: Path, purpose: str) -> Path:
    """Returns the directory of the state of the profile that is to lie in `profile`."""
    return profile.with_name(f"{profile.name}.{'tuning' if purpose == 'tune' else purpose}")


def read_state(directory: Path) -> StoredTuning | None:
    """Reads a state; None if there is none. Raises UsageError for one that is damaged or of another format."""
    file = directory / STATE_FILE
    try:
        raw = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"can't read {file}: {error.strerror}") from error
    whole = raw[: raw.rfind(b"\n") + 1]
    if not whole:
        return None  # killed before its first line was there
    first, *rest = whole.splitlines()
    try:
        found = _Stamp.model_validate_json(first).format
        if found != STATE_FORMAT:
            raise UsageError(f"{file} has format {found!r}, not {STATE_FORMAT}: start over with --fresh")
        header = Header.model_validate_json(first)
        stored = [lines.validate_json(line) for line in rest]
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise UsageError(f"{file} is damaged ({problem}): start over with --fresh") from error
    return StoredTuning(header, stored, len(whole))


class StateWriter(AbstractContextManager["StateWriter"]):
    """Appends lines to a state, new or `stored`. A context manager; holds the state's lock.

    Raises UsageError if another process writes it or it can't be written.
    """

    def __init__(self, directory: Path, header: Header, stored: StoredTuning | None) -> None:
        self.directory = directory
        with os_errors(f"can't write {directory}"):
            if not directory.exists():
                make_directory(directory)
            self._lock = WriterLock(directory)
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if stored is None else 0)
        try:
            self._file = os.open(directory / STATE_FILE, flags, 0o644)
            os.ftruncate(self._file, 0 if stored is None else stored.size)
            os.lseek(self._file, 0, os.SEEK_END)
        except OSError as error:
            self._lock.release()
            raise UsageError(f"can't write {directory / STATE_FILE}: {error.strerror}") from error
        if stored is None:
            self._write([header.model_dump_json()])
            self.sync()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)
        self._lock.release()

    def append(self, line: Line) -> None:
        """Writes a line; it is there if this process is killed. Raises UsageError if the disk is full."""
        self._write([line.model_dump_json()])

    def sync(self) -> None:
        """Waits until all lines are on disk: they are there if the machine stops."""
        os.fsync(self._file)
        sync_directory(self.directory)

    def _write(self, texts: Iterable[str]) -> None:
        content = memoryview("".join(f"{text}\n" for text in texts).encode())
        with os_errors(f"can't write {self.directory / STATE_FILE}"):
            while content:
                content = content[os.write(self._file, content) :]


def discard(directory: Path) -> None:
    """Removes a state. Raises UsageError if somebody writes it or it can't be removed."""
    if not directory.exists():
        return
    with os_errors(f"can't remove {directory}"):
        lock = WriterLock(directory)
        shutil.rmtree(directory)
        lock.release()
