"""From what a user names to what it measured: stored runs, stored imports, and logs as they are.

For: `base.log`, `runs/2026…`, `last`, and several files of one configuration as `name=a.log,b.log`. Not for: formats
(ringtree.logs), judging (judging.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ringtree.errors import UsageError
from ringtree.judge.observations import observations_of_run
from ringtree.judge.runs.series import Series, seconds_of, series_of
from ringtree.logs.observations import observations_of_table, origin_of
from ringtree.logs.storing import find_log
from ringtree.results import Observation, find_run, read_run

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
    everything: list[Observation] = []
    read: list[tuple[str, Path, list[Observation]]] = []
    for part in parts:
        where, observations = read_observations(part, runs, contender.notes)
        _refuse_copies(read, part, where, observations)
        everything += observations
    contender.series = series_of(everything, contender.notes)
    if not any(series.cells for series in contender.series):
        raise UsageError(f"{text!r} has no times that could be compared")
    return contender


def read_observations(part: str, runs: Path, notes: list[str]) -> tuple[Path, list[Observation]]:
    """Returns where `part`, a run or a log, is stored and what it has; says in `notes` what is left out. Raises
    UsageError for what is neither, and for a log without a table."""
    log = find_log(runs, part)
    if log is None:
        stored = read_run(find_run(runs, part))
        notes.extend(f"{stored.run.run_id}: {note}" for note in stored.notes)
        if stored.run.plan.simulation is not None:
            notes.append(f"{stored.run.run_id}: simulated, not measured: {stored.run.plan.simulation.called}")
        return stored.path.resolve(), list(observations_of_run(stored))
    tables = log.read().tables
    if not tables:
        raise UsageError(f"{part} has no table of timings: `ringtree import --dry-run {part}` says what it has")
    found: list[Observation] = []
    for table in tables:
        origin = origin_of(table, part)
        if table.num_ranks == 1:
            notes.append(f"{origin.called}: one rank has no peer to communicate with; its times are left out")
        else:
            found += observations_of_table(table, origin)
    return Path(part).resolve(), found


def _refuse_copies(
    read: list[tuple[str, Path, list[Observation]]], part: str, where: Path, observations: list[Observation]
) -> None:
    """A log that is given twice is one launch: counted as two it would claim what it can't show."""
    times = [(one.size_bytes, seconds_of(one)) for one in observations]
    rows = {(one.origin.table, one.line, one.size_bytes) for one in observations}
    for other, there, known in read:
        alike = len(rows) >= _MIN_ALIKE and times == [(one.size_bytes, seconds_of(one)) for one in known]
        if there == where or alike:
            raise UsageError(f"{part} has the same times as {other}: the same log twice is one launch")
    read.append((part, where, observations))


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
