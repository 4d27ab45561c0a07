"""An audit: files in, findings out.

For: `ringtree audit` and whoever audits from Python. Not for: what is found (checks/), reading (ringtree.logs),
printing (ringtree.cli.audit).

A table is looked at as it is read. What needs several tables at once sees those that fit into MAX_KEPT rows, so a file
of any size needs bounded memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from ringtree.audit.checks import CHECKS
from ringtree.audit.executed import Executed, executed_of
from ringtree.audit.findings import Audit, FileReport, Finding, Severity, worst_of
from ringtree.audit.links import Links, links_of
from ringtree.audit.machine import refuse_unknown
from ringtree.audit.material import Material, Subject
from ringtree.audit.rule import FileCheck, FilesCheck, TableCheck
from ringtree.audit.setup import Setup
from ringtree.logs import Document, Imported, Item, RowReason, Skipped, Table, read_file, read_stream

MAX_KEPT = 50_000  # rows of all files together
MAX_DOCUMENTS = 1_000  # of a file
MAX_ALIKE = 20  # findings of one code in a file; more are counted


def audit_files(paths: Iterable[Path], setup: Setup | None = None) -> Audit:
    """Audits files together. Raises UsageError for one that can't be read."""
    session = AuditRun(setup or Setup())
    for path in paths:
        session.add_file(path)
    return session.finish()


class AuditRun:
    """Collects files, then says what was found in them. Raises UsageError for a machine that the catalogue lacks."""

    def __init__(self, setup: Setup) -> None:
        refuse_unknown(setup)
        self._setup = setup
        self._materials: list[Material] = []
        self._found: dict[str, list[Finding]] = {}
        self._counts: dict[str, _Counts] = {}
        self._kept = 0
        self.links: dict[str, Links | None] = {}  # by file, of its topologies
        self.executed: dict[str, Executed] = {}  # by file, by NCCL's lines

    def add_file(self, path: Path) -> None:
        """Reads a file and looks at each of its tables. Raises UsageError if it can't be read."""
        self.add_reading(str(path), partial(read_file, path))

    def add_stream(self, stream: BinaryIO, name: str) -> None:
        """Does the same with a stream."""
        self.add_reading(name, partial(read_stream, stream, name))

    def add_reading(self, name: str, read: Callable[[Callable[[Item], None]], Imported]) -> str:
        """Does the same with what `read` gives, item by item, to the function that it is called with.

        Returns what findings call the file: `name`, with a number where it was there before.
        """
        reading = self._begin(name)
        self._end(reading, read(reading.take))
        return reading.material.file

    def add_items(self, name: str, items: Iterable[Item]) -> None:
        """Does the same with what was read before."""
        reading = self._begin(name)
        for item in items:
            reading.take(item)
        self._end(reading, Imported(name))

    def finish(self) -> Audit:
        """Compares what was kept, and returns all findings."""
        for check in CHECKS:
            if isinstance(check, FileCheck):
                for material in self._materials:
                    self._found[material.file] += check.run(material)
            elif isinstance(check, FilesCheck):
                for finding in check.run(self._materials):
                    self._found[finding.file].append(finding)
        reports = [
            _report(material.file, self._found[material.file], self._counts[material.file])
            for material in self._materials
        ]
        worst = worst_of([report.worst for report in reports if report.worst is not None])
        return Audit(worst=worst, files=reports)

    def _begin(self, name: str) -> _Reading:
        # One file may be named twice; findings go by names.
        unique, number = name, 1
        while unique in self._found:
            number += 1
            unique = f"{name} ({number})"
        self._found[unique] = []
        return _Reading(Material(unique), self._setup, self._found[unique], MAX_KEPT - self._kept)

    def _end(self, reading: _Reading, imported: Imported) -> None:
        material = reading.material
        material.skipped = imported.skipped
        self.links[material.file] = links_of(material.documents)
        self.executed[material.file] = executed_of(material.documents)
        for subject in material.subjects:
            subject.links = self.links[material.file]
        self._kept = MAX_KEPT - reading.room
        self._materials.append(material)
        self._counts[material.file] = _Counts(
            reading.num_tables, reading.num_rows, reading.num_lines, reading.num_documents, imported.skipped
        )


@dataclass(frozen=True)
class _Counts:
    """`lines`: those with rows; one of several configurations has a row for each."""

    tables: int
    rows: int
    lines: int
    documents: int
    skipped: list[Skipped]

    @property
    def left_out(self) -> int:
        return sum(one.num_lines for one in self.skipped if isinstance(one.reason, RowReason))

    def why_left_out(self) -> str:
        """Returns the reasons, the commonest first, each with the line of its first row."""
        reasons = [one for one in self.skipped if isinstance(one.reason, RowReason)]
        return "; ".join(
            f"{_number(one.num_lines, 'row')}: {one.reason}" + "".join(f" (line {at})" for at, _ in one.examples[:1])
            for one in sorted(reasons, key=lambda one: -one.num_lines)
        )


class _Reading:
    """One file while it is read."""

    def __init__(self, material: Material, setup: Setup, found: list[Finding], room: int) -> None:
        self.material = material
        self.room = room
        self.num_tables = self.num_rows = self.num_documents = 0
        self._lines: set[int] = set()
        self._setup = setup
        self._found = found
        self._continues = False

    @property
    def num_lines(self) -> int:
        """Returns the lines that hold rows, as far as they are counted; a source without lines has one for each."""
        return len(self._lines - {0}) or self.num_rows

    def take(self, item: Item) -> None:
        """Looks at an item, and keeps it if there is room."""
        if isinstance(item, Document):
            self.num_documents += 1
            if len(self.material.documents) < MAX_DOCUMENTS:
                self.material.documents.append(item)
            return
        self._take_table(item)

    def _take_table(self, table: Table) -> None:
        whole = not table.continued and not self._continues
        self._continues = table.continued
        subject = Subject(self.material.file, table, self._setup, whole)
        self.num_tables += 1
        self.num_rows += len(table.rows)
        if len(self._lines) < MAX_KEPT:
            self._lines.update(row.line for row in table.rows)
        for check in CHECKS:
            if isinstance(check, TableCheck):
                self._found += check.run(subject)
        if len(table.rows) <= self.room:
            self.room -= len(table.rows)
            self.material.subjects.append(subject)


def _report(file: str, findings: list[Finding], counts: _Counts) -> FileReport:
    ordered = sorted(_limited(findings), key=lambda one: (-one.severity.rank, one.table or 0))
    worst = worst_of([one.severity for one in ordered])
    return FileReport(
        file=file,
        verdict=_verdict(findings, counts),
        worst=worst,
        num_tables=counts.tables,
        num_rows=counts.rows,
        num_documents=counts.documents,
        num_skipped_lines=sum(one.num_lines for one in counts.skipped),
        num_rows_left_out=counts.left_out,
        left_out=counts.why_left_out(),
        mostly_left_out=counts.left_out > counts.lines,
        findings=ordered,
    )


def _limited(findings: list[Finding]) -> list[Finding]:
    """Returns the findings, of each code MAX_ALIKE at most; the last one of these says how many more there are."""
    kept: list[Finding] = []
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.code] = counts.get(finding.code, 0) + 1
        if counts[finding.code] <= MAX_ALIKE:
            kept.append(finding)
    for index, finding in enumerate(kept):
        more = counts[finding.code] - MAX_ALIKE
        if more > 0 and all(later.code != finding.code for later in kept[index + 1 :]):
            kept[index] = finding.model_copy(update={"title": f"{finding.title} (and {more} more like this)"})
    return kept


def _verdict(findings: list[Finding], counts: _Counts) -> str:
    """Returns what the findings say, and never that nothing is wrong of what nobody has read."""
    if not counts.left_out:
        return _of_findings(findings, counts)
    read = f"{counts.lines} of {_number(counts.lines + counts.left_out, 'row')} read"
    above = any(one.severity is not Severity.INFO for one in findings)
    judged = f"{_of_findings(findings, counts)}; {read}" if above else f"{read}, in these nothing wrong was found"
    return f"{judged if counts.lines else 'nothing was read'}; left out: {counts.why_left_out()}"


def _of_findings(findings: list[Finding], counts: _Counts) -> str:
    of = {severity: sum(one.severity is severity for one in findings) for severity in Severity}
    if of[Severity.ERROR]:
        more = f", {_number(of[Severity.WARNING], 'warning')}" if of[Severity.WARNING] else ""
        return f"don't use it: {_number(of[Severity.ERROR], 'error')}{more}"
    if of[Severity.WARNING]:
        return f"use it with care: {_number(of[Severity.WARNING], 'warning')}"
    if counts.rows == 0:
        return "nothing to audit: no table of timings"
    return f"nothing wrong found in {_number(counts.rows, 'row')} of {_number(counts.tables, 'table')}"


def _number(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
