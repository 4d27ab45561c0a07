"""Views of somebody's logs: files in, one view for each question that their tables answer.

For: collecting tables as far as there is room, and what is said of a view as a whole. Not for: its cells (cells.py),
naming its arms and holding them against the audit (log_arms.py), formats (ringtree.logs).

Tables of one collective, number of ranks, type and operation stand in one view, whatever file they are from. A view
holds so much and no more; what is left out is said. A log is one run: its figures have no interval, and a difference
between two of them is not a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from ringtree.audit import Audit, AuditRun, FileReport, Finding, Setup, Subject
from ringtree.audit.words import listed
from ringtree.judge.runs import SINGLE
from ringtree.logs import IN_PLACE, NOT_STATED, OUT_OF_PLACE, Imported, Item, Table, read_stream
from ringtree.show.views.cells import compare_with
from ringtree.show.views.log_arms import LogArm, Question, arms_of, finding_row, labels_of, limit_lines, provenance_of
from ringtree.show.views.view import Place, View, ViewCell, ViewRow
from ringtree.units import count

MAX_VIEWS, MAX_ARMS, MAX_SIDES = 40, 16, 8_000
PLACES = {OUT_OF_PLACE: "out of place", IN_PLACE: "in place", NOT_STATED: "in place or not is not stated"}


@dataclass
class _File:
    """What is kept of a file. `short`: what to call it."""

    short: str
    tables: list[Table] = field(default_factory=list)
    sides_left_out: int = 0

    def take(self, item: Item, room: int) -> int:
        """Keeps a table if there is room for it; returns how much it took."""
        if not isinstance(item, Table):
            return 0
        sides = sum(len(row.sides) for row in item.rows)
        if sides > room:
            self.sides_left_out += sides
            return 0
        self.tables.append(item)
        return sides


class LogBook:
    """`add_…` for each log, then `views`. Raises UsageError for a file that can't be read."""

    def __init__(self, setup: Setup | None = None) -> None:
        self._setup = setup or Setup()
        self._session = AuditRun(self._setup)
        self._files: dict[str, _File] = {}
        self._room = MAX_SIDES

    def __len__(self) -> int:
        return len(self._files)

    def add_stream(self, stream: BinaryIO, name: str) -> None:
        """Reads a stream."""
        self.add_reading(name, lambda emit: read_stream(stream, name, emit))

    def add_reading(self, name: str, read: Callable[[Callable[[Item], None]], Imported]) -> None:
        """Takes what `read` gives, item by item, to the function that it is called with."""
        file = _File(Path(name).name)

        def both(emit: Callable[[Item], None]) -> Imported:
            def take(item: Item) -> None:
                self._room -= file.take(item, self._room)
                emit(item)

            return read(take)

        self._files[self._session.add_reading(name, both)] = file

    def views(self) -> list[View]:
        """Returns the views, in the order in which their tables came; a file without tables has one of its own."""
        audit = self._session.finish()
        short = self._short_names()
        arms: dict[Question, list[LogArm]] = {}
        for name, file in self._files.items():
            for table in file.tables:
                subject = Subject(name, table, self._setup, links=self._session.links[name])
                for question, arm in arms_of(subject, short[name], self._session.executed[name]).items():
                    arms.setdefault(question, []).append(arm)
        drawn = {question: of[:MAX_ARMS] for question, of in list(arms.items())[:MAX_VIEWS]}
        views = [_view(question, of, audit) for question, of in drawn.items()]
        told = {report for one in views for report in one.files}
        views += [_facts_view(name, short[name], audit) for name in self._files if name not in told]
        if views:
            views[0].left_out.update(self._left_out(arms, short))
            unseen = _unseen(audit, [arm for of in drawn.values() for arm in of])
            if unseen:
                views[0].left_out[count(unseen, "finding")] = "about tables that are not here; `ringtree audit` has all"
        return views

    def title(self) -> str:
        """Returns the names of the files, as far as a title has room."""
        return listed(list(self._short_names().values()), 3)

    def _short_names(self) -> dict[str, str]:
        """Returns by file what to call it: without its folders, unless another one is then called the same."""
        names = [file.short for file in self._files.values()]
        return {name: file.short if names.count(file.short) == 1 else name for name, file in self._files.items()}

    def _left_out(self, arms: dict[Question, list[LogArm]], short: dict[str, str]) -> dict[str, str]:
        found = {
            short[name]: f"{file.sides_left_out} measurements; the page holds {MAX_SIDES}"
            for name, file in self._files.items()
            if file.sides_left_out
        }
        if len(arms) > MAX_VIEWS:
            found[f"{len(arms) - MAX_VIEWS} kinds of tables"] = f"the page holds {MAX_VIEWS}"
        more = sum(len(of) - MAX_ARMS for of in arms.values() if len(of) > MAX_ARMS)
        if more:
            found[count(more, "table")] = f"a chart holds {MAX_ARMS}"
        return found


def _view(question: Question, arms: Sequence[LogArm], audit: Audit) -> View:
    labels = labels_of(arms)
    files = list(dict.fromkeys(arm.subject.file for arm in arms))
    tables = {(arm.subject.file, arm.subject.table.first_line) for arm in arms}
    findings = [
        finding
        for report in audit.files
        if report.file in files
        for finding in report.findings
        if finding.table is None or (finding.file, finding.table) in tables
    ]
    cells = [cell for arm, label in zip(arms, labels, strict=True) for cell in arm.cells(label, findings)]
    compare_with(cells, labels[0])
    limits = limit_lines(labels, arms)
    places = [place for place in PLACES if any(cell.place == place for cell in cells)]
    sizes = sorted({cell.size for cell in cells if cell.size is not None})
    hosts = {arm.subject.table.num_hosts for arm in arms}
    view = _empty(_called(question, arms), files, list(dict.fromkeys(arm.short for arm in arms)), audit)
    return replace(
        view,
        subject=view.heading,
        verdicts=[*view.verdicts, f"{SINGLE}; another run of the same may differ as much"],
        collective=question.collective or "collective not stated",
        op=question.op or "",
        dtype=question.dtype or "",
        num_ranks=question.num_ranks,
        num_hosts=hosts.pop() if len(hosts) == 1 else None,
        machine=", ".join(sorted({device for arm in arms for device in arm.subject.table.devices})),
        reference=labels[0],
        arms=labels,
        series={label: arm.origin.label for arm, label in zip(arms, labels, strict=True)},
        notes=[*_notes(labels, cells), *(f"{line.name}: {arithmetic}" for line, arithmetic in limits)],
        places=[Place(place, PLACES[place]) for place in places],
        rows=[ViewRow(size, place) for place in places for size in sizes],
        cells=cells,
        limits=[line for line, _ in limits],
        findings=_rows(findings, {arm.subject.file: arm.short for arm in arms}),
        provenance=provenance_of(arms, labels),
    )


def _facts_view(file: str, short: str, audit: Audit) -> View:
    """Returns the view of a file that has no table of timings, or none that there is room for: what was found in it all
    the same."""
    report = _report(audit, file)
    facts = [
        ("file", file),
        ("parts that are not a table", str(report.num_documents)),
        ("lines that no reader took", str(report.num_skipped_lines)),
    ]
    what = "its tables have no room here" if report.num_tables else "no table of timings"
    view = _empty(f"{short}: {what}", [file], [short], audit)
    return replace(view, findings=_rows(report.findings, {file: short}), provenance=facts)


def _empty(heading: str, files: list[str], names: list[str], audit: Audit) -> View:
    verdicts = [f"{name}: {_report(audit, file).verdict}" for name, file in zip(names, files, strict=True)]
    return View("log", listed(names, 3), heading, files=files, verdicts=verdicts)


def _called(question: Question, arms: Sequence[LogArm]) -> str:
    ranks = "ranks not stated" if question.num_ranks is None else f"{question.num_ranks} ranks"
    kind = " ".join(part for part in (question.dtype, question.op) if part)
    files = len({arm.subject.file for arm in arms})
    where = arms[0].short if files == 1 else f"{files} logs"
    return ", ".join(part for part in (question.collective or "collective not stated", kind, ranks, where) if part)


def _notes(labels: Sequence[str], cells: Sequence[ViewCell]) -> Iterator[str]:
    derived = [label for label in labels if any(cell.derived for cell in cells if cell.arm == label)]
    if derived:
        yield f"busbw of {listed(derived)} is computed from size and time where the log prints none"
    if any(cell.time is None and cell.wrong is None and cell.printed for cell in cells):
        yield "rows without a time are in the table, and in the chart of rates if they have one"


def _rows(findings: Sequence[Finding], short: dict[str, str]) -> list[dict[str, str]]:
    return [finding_row(one, short[one.file]) for one in findings]


def _unseen(audit: Audit, arms: list[LogArm]) -> int:
    """Returns how many findings are about tables that no view shows, of files that have one."""
    tables = {(arm.subject.file, arm.subject.table.first_line) for arm in arms}
    files = {file for file, _ in tables}
    found = [one for report in audit.files if report.file in files for one in report.findings if one.table is not None]
    return sum((one.file, one.table) not in tables for one in found)


def _report(audit: Audit, file: str) -> FileReport:
    return next(one for one in audit.files if one.file == file)
