"""From what a user names to what it measured: stored runs, stored imports, and logs as they are.

For: `base.log`, `runs/2026…`, `last`, and several files of one configuration as `name=a.log,b.log`. Not for: formats
(ringtree.logs), judging (judging.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ringtree.compare_runs.from_runs import series_of_run
from ringtree.compare_runs.from_tables import add_tables, merged
from ringtree.compare_runs.series import Series
from ringtree.errors import UsageError
from ringtree.logs import read_file
from ringtree.logs.storing import find_import, read_import
from ringtree.results import find_run, read_run

_MIN_ALIKE = 4  # rows of two runs that may be the same by chance are fewer


@dataclass
class Contender:
    """What is compared: its name, its series, and what had to be said while reading."""

    name: str
    series: list[Series]
    notes: list[str] = field(default_factory=list)


def read_contender(text: str, runs: Path) -> Contender:
    """Reads what `text` names. Raises UsageError if it names nothing, or nothing that can be compared.

    Files and runs after commas are launches of one configuration; what stands before "=" is its name.
    """
    name, parts = _split(text)
    contender = Contender(name, [])
    read: list[tuple[str, list[object]]] = []
    for part in parts:
        stored_log = find_import(runs, part)
        if Path(part).is_file() or stored_log is not None:
            imported = read_file(Path(part)) if stored_log is None else read_import(stored_log)
            if not imported.tables:
                raise UsageError(f"{part} has no table of timings: `ringtree import --dry-run {part}` says what it has")
            _refuse_copies(read, part, [row.sides for table in imported.tables for row in table.rows])
            add_tables(contender.series, imported.tables, contender.notes)
        else:
            stored = read_run(find_run(runs, part))
            _refuse_copies(read, part, [stored.path.resolve()] * _MIN_ALIKE)
            contender.series.extend(series_of_run(stored, contender.notes))
    contender.series = merged(contender.series)
    if not any(series.cells for series in contender.series):
        raise UsageError(f"{text!r} has no times that could be compared")
    return contender


def _refuse_copies(read: list[tuple[str, list[object]]], part: str, times: list[object]) -> None:
    """A log that is given twice is one launch: counted as two it would claim what it can't show."""
    for other, known in read:
        if known == times and (len(times) >= _MIN_ALIKE or Path(other).resolve() == Path(part).resolve()):
            raise UsageError(f"{part} has the same times as {other}: the same log twice is one launch")
    read.append((part, times))


def _split(text: str) -> tuple[str, list[str]]:
    if Path(text).exists():
        return text, [text]
    name, equals, rest = text.partition("=")
    if not equals or "/" in name:
        name, rest = text, text
    parts = [part for part in rest.split(",") if part]
    if not name or not parts:
        raise UsageError(f"{text!r} names no run: write a file, a stored run, or name=file,file")
    return name, parts
