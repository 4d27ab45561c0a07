"""The store: a run is a directory `<runs>/<utc>-<short id>/` with run.json and launches.jsonl.

For: writing a run so that a crash loses no launch that was acknowledged, and reading it back.
Not for: queries over many runs, summaries (ringtree.stats, ringtree.lab).

A launch is one line, appended and fsynced; there is one writer a run and no lock, so that NFS and Lustre are fine. A
torn last line, left by a writer that was killed while appending, is dropped and said in `StoredRun.notes`.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from ringtree.errors import UsageError
from ringtree.results.records import FORMAT, FORMAT_NAME, FORMAT_VERSION, Launch, Run

RUN_FILE = "run.json"
LAUNCHES_FILE = "launches.jsonl"


def new_run_id(now: float | None = None) -> str:
    """Returns `<utc>-<short id>`, for example 20260131T120102Z-3f9a1c; `now` is seconds since the epoch."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() if now is None else now))
    return f"{stamp}-{secrets.token_hex(3)}"


class RunWriter:
    """Writes one run. Not for several threads; each `append` returns only after the launch is on disk."""

    def __init__(self, runs: Path, run: Run) -> None:
        """Creates `runs/<run_id>/run.json`. Raises UsageError if the place can't be written."""
        self.path = runs / run.run_id
        try:
            self.path.mkdir(parents=True)
            _write_durably(self.path / RUN_FILE, run.model_dump_json(indent=1).encode() + b"\n")
            _write_durably(self.path / LAUNCHES_FILE, b"")
            _sync_directory(self.path)
        except OSError as error:
            raise UsageError(f"can't store the run in {self.path}: {error.strerror}; choose another --runs") from error

    def append(self, launch: Launch) -> None:
        """Appends one launch and waits until it is on disk. Raises OSError if it can't (a full disk)."""
        line = launch.model_dump_json().encode() + b"\n"
        with open(self.path / LAUNCHES_FILE, "ab", buffering=0) as file:
            view = memoryview(line)
            while view:
                view = view[file.write(view) :]
            os.fsync(file.fileno())


@dataclass(frozen=True)
class StoredRun:
    """A run as read: its header, the launches that are whole, and what had to be said while reading."""

    path: Path
    run: Run
    launches: list[Launch]
    notes: list[str]


def read_run(path: Path) -> StoredRun:
    """Reads the run in directory `path`. Raises UsageError for what is no run, is damaged or has a newer format."""
    header = _read_header(path / RUN_FILE)
    try:
        run = Run.model_validate(header)
    except ValidationError as error:
        raise UsageError(f"{path / RUN_FILE} is damaged: {_first_problem(error)}") from error
    launches, notes = _read_launches(path / LAUNCHES_FILE)
    return StoredRun(path, run, launches, notes)


def _read_header(file: Path) -> dict[str, object]:
    try:
        header = json.loads(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file.parent} holds no run: can't read {file.name}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{file} is no JSON: {error}") from error
    format_text = header.get("format") if isinstance(header, dict) else None
    if not isinstance(format_text, str) or "/" not in format_text:
        raise UsageError(f"{file} names no format; expected {FORMAT}")
    name, _, version = format_text.partition("/")
    if name != FORMAT_NAME or not version.isdigit():
        raise UsageError(f"{file} has format {format_text!r}; this ringtree reads {FORMAT}")
    if int(version) > FORMAT_VERSION:
        raise UsageError(f"{file} has format {format_text}, newer than {FORMAT}: read it with a newer ringtree")
    assert isinstance(header, dict)
    return header


def _read_launches(file: Path) -> tuple[list[Launch], list[str]]:
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        return [], [f"{file.name} is missing: the run stored no launch"]
    lines = raw.split(b"\n")
    torn = lines.pop()  # what follows the last newline: nothing, unless the writer was killed while appending
    notes = [f"dropped a torn last line of {len(torn)} bytes in {file.name}"] if torn else []
    launches = []
    for number, line in enumerate(lines, 1):
        try:
            launches.append(Launch.model_validate_json(line))
        except ValidationError as error:
            raise UsageError(f"{file} is damaged in line {number}: {_first_problem(error)}") from error
    return launches, notes


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    return f"{'.'.join(str(part) for part in problem['loc']) or 'record'}: {problem['msg']}"


def _write_durably(file: Path, content: bytes) -> None:
    with open(file, "xb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
