"""Figures that appear more often than a clock lets them.

For: rows, sides and tables that are copies of each other. Not for: several runs of one benchmark in a file, whose times
differ.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ringtree.audit.findings import Finding, Severity
from ringtree.audit.material import Material, Subject
from ringtree.audit.rule import error, info, of_files, of_table
from ringtree.audit.words import listed, quoted_time, size
from ringtree.logs import Fact, Printed, Row

COPIED_ROWS = error(
    "copied-figures", "the same times at different sizes, or on both sides", "the unedited output, or a rerun"
)
COPIED_TABLES = error("copied-tables", "two tables have the same times", "the output of both runs")
REPEATED_ROWS = info(
    "repeated-rows",
    "a configuration has several rows",
    "how the rows came about; as repeated runs they say how far runs differ",
)
DIGITS, MIN_COPIES, MIN_SAME, SHARE = 4, 4, 3, 0.8
LARGE = 1 << 20
MAX_SEEN = 100  # tables with one and the same figure that are remembered
_Figure = tuple[int, str, str]
_PACKED = (".gz", ".bz2", ".xz")
_AGAIN = re.compile(r" \(\d+\)$")  # how the session tells files of one name apart
_CHOSEN = re.compile(r"\b(?:best|optimal|optimum|fastest|winner|chosen|selected)\b", re.IGNORECASE)


@of_table(COPIED_ROWS, REPEATED_ROWS)
def check_table(subject: Subject) -> Iterator[Finding]:
    """Yields findings about rows and sides of one table."""
    for look in (_same_sides, _same_at_sizes, _repeated):
        yield from look(subject)


@of_files(COPIED_TABLES)
def check_tables(files: Sequence[Material]) -> Iterator[Finding]:
    """Yields a finding for each table whose times are those of an earlier one, one for a log that is given twice."""
    seen: dict[_Figure, list[int]] = defaultdict(list)
    subjects: list[Subject] = []
    for index, material in enumerate(files):
        same_log = next((other for other in files[:index] if _is_same_log(material, other)), None)
        if same_log is None:
            subjects += material.subjects
        elif material.subjects:
            again = f"all its tables, line by line, are those of {same_log.file}: the same log again"
            yield COPIED_TABLES.found(material.subjects[0], again, severity=Severity.INFO)
    for number, subject in enumerate(subjects):
        figures = _figures(subject)
        # By sizes and sides: rows of one size are near each other, so their times agree by chance.
        same: dict[int, set[tuple[int, str]]] = defaultdict(set)
        for figure in figures:
            for earlier in seen[figure]:
                same[earlier].add(figure[:2])
        measured = len({figure[:2] for figure in figures})
        alike = max(same, key=lambda earlier: len(same[earlier]), default=None)
        if alike is not None and len(same[alike]) >= max(MIN_COPIES, SHARE * measured):
            other = subjects[alike]
            rows = [row for row in subject.table.rows if row.size_bytes]
            where = f"line {other.table.first_line}" + (f" of {other.file}" if other.file != subject.file else "")
            yield COPIED_TABLES.found(
                subject,
                f"{len(same[alike])} of {measured} times are those of the table at {where}",
                rows,
                severity=Severity.INFO if _tells_again(subject, other) else None,
            )
        for figure in figures:
            if len(seen[figure]) < MAX_SEEN:
                seen[figure].append(number)


def _is_same_log(one: Material, two: Material) -> bool:
    """Whether two files are one log: packed and not, or by a link. A copy under a name of its own may be passed off as
    another run, and one that was edited is none."""
    if _log_name(one.file) != _log_name(two.file) or len(one.subjects) != len(two.subjects):
        return False
    pairs = zip(one.subjects, two.subjects, strict=True)
    # What was concluded may name the file.
    return all(replace(ours.table, inferences=[]) == replace(theirs.table, inferences=[]) for ours, theirs in pairs)


def _log_name(file: str) -> str:
    path = Path(_AGAIN.sub("", file)).resolve()
    return str(path.with_suffix("") if path.suffix in _PACKED else path)


def _tells_again(subject: Subject, other: Subject) -> bool:
    """Whether one table may be a summary of what the other one has: written by hand, in the same document, and of no
    configuration that the other one is not of."""
    one, two = subject.table, other.table
    if subject.file != other.file or Fact.RETYPED not in one.format.facts | two.format.facts:
        return False
    if one.format == two.format and one.first_line == two.first_line:  # two columns of it
        return any(_CHOSEN.search(table.settings.get("arm", "")) for table in (one, two))
    names = ("collective", "num_ranks", "num_hosts", "algorithm", "protocol", "library_version")
    stated = ((getattr(one, name), getattr(two, name)) for name in names)
    return all(first is None or second is None or first == second for first, second in stated)


def _digits(printed: Printed) -> int:
    return len(printed.text.lower().partition("e")[0].replace(".", "").lstrip("-+0"))


def _figures(subject: Subject) -> list[_Figure]:
    """Returns (size, side, time) of each measurement whose time has enough digits to be told from others, once."""
    timed = ((one.row.size_bytes, one.side.place, one.side.time) for one in subject.points)
    told = ((size, place, time.text) for size, place, time in timed if size and time and _digits(time) >= DIGITS)
    return list(dict.fromkeys(told))


def _same_sides(subject: Subject) -> Iterator[Finding]:
    timed = [(row, [side.time for side in row.sides if side.time is not None]) for row in subject.table.rows]
    told = [(row, times) for row, times in timed if len(times) > 1 and _digits(times[0]) >= DIGITS]
    same = [(row, times[0]) for row, times in told if len({time.text for time in times}) == 1]
    if len(same) >= max(MIN_COPIES, SHARE * len(told)):
        row, time = same[-1]
        of = f"{len(same)} of {len(told)} rows: the time in place is the time out of place"
        yield COPIED_ROWS.found(subject, f"{of}, {quoted_time(time)} at {size(row)}", [row for row, _ in same])


def _same_at_sizes(subject: Subject) -> Iterator[Finding]:
    # Times of small sizes are latencies: alike, so they agree by chance. Those of large ones grow with the size.
    rows: dict[tuple[str, str], dict[int, Row]] = defaultdict(dict)
    for one in subject.points:
        if one.side.time is not None and (one.row.size_bytes or 0) >= LARGE and _digits(one.side.time) >= DIGITS:
            rows[one.side.place, one.side.time.text].setdefault(one.row.size_bytes or 0, one.row)
    for (_, text), at in rows.items():
        if len(at) >= MIN_SAME and max(at) >= 4 * min(at):
            shown = listed([size(row) for row in at.values()])
            yield COPIED_ROWS.found(subject, f"the time {text} at {len(at)} sizes: {shown}", list(at.values()))
            return


def _repeated(subject: Subject) -> Iterator[Finding]:
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in subject.table.rows:
        if row.size_bytes:
            groups[row.size_bytes, row.count, row.dtype, row.op, row.root].append(row)
    several = [rows for rows in groups.values() if len(rows) > 1]
    if several:
        most = max(several, key=len)
        yield REPEATED_ROWS.found(
            subject,
            f"{len(several)} of {len(groups)} configurations have several rows, {size(most[0])} has {len(most)}",
            [row for rows in several for row in rows],
        )
