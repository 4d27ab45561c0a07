"""Reading one run back, whatever happened to its writer.

For: a run's header and its whole launches, with one clear line for what is damaged or of another format. Not for:
finding runs (listing.py) or queries over many (query.py).

A torn last line, left by a writer that was killed while appending, is dropped and said in `StoredRun.notes`: nobody was
told that it was stored. A damaged line elsewhere was acknowledged once, so it is an error.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from ringtree.errors import UsageError
from ringtree.results.files import LAUNCHES_FILE, RUN_FILE
from ringtree.results.records import FORMAT, FORMAT_NAME, FORMAT_VERSION, Launch, Run


@dataclass(frozen=True)
class StoredRun:
    """A run as read: its header, the launches that are whole, and what had to be said while reading."""

    path: Path
    run: Run
    launches: list[Launch]
    notes: list[str]


def read_run(path: Path) -> StoredRun:
    """Reads the run in directory `path`. Raises UsageError for what is not a run, is damaged or has another format."""
    run = read_header(path)
    launches, notes = _read_launches(path / LAUNCHES_FILE)
    return StoredRun(path, run, launches, notes)


def read_header(path: Path) -> Run:
    """Reads run.json in directory `path`. Raises UsageError as `read_run` does."""
    file = path / RUN_FILE
    header = _read_json(file)
    _check_format(file, header)
    try:
        return Run.model_validate(header)
    except ValidationError as error:
        raise UsageError(f"{file} is damaged: {_first_problem(error)}") from error


def _read_json(file: Path) -> object:
    try:
        return json.loads(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file.parent} holds no run: can't read {file.name}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not valid JSON: {error}") from error


def _check_format(file: Path, header: object) -> None:
    text = header.get("format") if isinstance(header, dict) else None
    if not isinstance(text, str) or "/" not in text:
        raise UsageError(f"{file} names no format; expected {FORMAT}")
    name, _, version = text.partition("/")
    if name != FORMAT_NAME or not (version.isascii() and version.isdigit()):
        raise UsageError(f"{file} has format {text!r}; this ringtree reads {FORMAT}")
    if int(version) > FORMAT_VERSION:
        raise UsageError(f"{file} has format {text}, newer than {FORMAT}: read it with a newer ringtree")
    if int(version) < FORMAT_VERSION:
        raise UsageError(
            f"{file} has format {text}, older than {FORMAT}: read it with the ringtree that wrote it "
            "(the file names its version), or measure again"
        )


def _read_launches(file: Path) -> tuple[list[Launch], list[str]]:
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        return [], [f"{file.name} is missing: the run stored no launch"]
    except OSError as error:
        raise UsageError(f"can't read {file}: {error.strerror}") from error
    lines = raw.split(b"\n")
    torn = lines.pop()  # what follows the last newline: nothing, unless the writer was killed while appending
    notes = [f"dropped a torn last line of {len(torn)} bytes in {file.name}"] if torn else []
    launches: list[Launch] = []
    line_of: dict[int, int] = {}
    for number, line in enumerate(lines, 1):
        try:
            launch = Launch.model_validate_json(line)
        except ValidationError as error:
            raise UsageError(f"{file} is damaged in line {number}: {_first_problem(error)}") from error
        if launch.launch in line_of:
            raise UsageError(
                f"{file} stores launch {launch.launch} twice, in lines {line_of[launch.launch]} and {number}: "
                "two copies of the run were joined; keep one of the lines"
            )
        line_of[launch.launch] = number
        launches.append(launch)
    return launches, notes


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    return f"{'.'.join(str(part) for part in problem['loc']) or 'record'}: {problem['msg']}"
