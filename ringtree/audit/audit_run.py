"""An audit: files in, findings out.

For: `ringtree audit` and whoever audits from Python. Not for: what is found (checks/), reading (ringtree.logs),
printing (ringtree.cli.audit).

A table is looked at as it is read. What needs several tables at once sees those that fit into MAX_KEPT rows, so a file
of any size needs bounded memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from ringtree.logs import Document, Imported, Item, RowReason, read_file, read_stream
from ringtree.units import count

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
        self._readings: dict[str, _Reading] = {}
        self._room = MAX_KEPT
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

    def finish(self) -> Audit:
        """Compares what was kept, and returns all findings."""
        materials = [reading.material for reading in self._readings.values()]
        for check in CHECKS:
            if isinstance(check, FileCheck):
                for reading in self._readings.values():
                    reading.found += check.run(reading.material)
            elif isinstance(check, FilesCheck):
                for finding in check.run(materials):
                    self._readings[finding.file].found.append(finding)
        reports = [reading.report() for reading in self._readings.values()]
        worst = worst_of([report.worst for report in reports if report.worst is not None])
        return Audit(worst=worst, files=reports)

    def _begin(self, name: str) -> _Reading:
        # One file may be named twice; findings go by names.
        unique, number = name, 1
        while unique in self._readings:
            number += 1
            unique = f"{name} ({number})"
        return _Reading(Material(unique), self._setup, self._room)

    def _end(self, reading: _Reading, imported: Imported) -> None:
        material = reading.material
        material.skipped = imported.skipped
        self.links[material.file] = links_of(material.documents)
        self.executed[material.file] = executed_of(material.documents)
        for subject in material.subjects:
            subject.links = self.links[material.file]
        self._room = reading.room
        self._readings[material.file] = reading  # one that could not be read to its end is none


class _Reading:
    """One file: while it is read, and what is said of it. `room`: for how many rows more there is."""

    def __init__(self, material: Material, setup: Setup, room: int) -> None:
        self.material = material
        self.room = room
        self.found: list[Finding] = []
        self._num_tables = self._num_rows = self._num_documents = 0
        self._lines: set[int] = set()
        self._setup = setup
        self._continues = False

    def take(self, item: Item) -> None:
        """Looks at an item, and keeps it if there is room."""
        if isinstance(item, Document):
            self._num_documents += 1
            if len(self.material.documents) < MAX_DOCUMENTS:
                self.material.documents.append(item)
            return
        whole = not item.continued and not self._continues
        self._continues = item.continued
        subject = Subject(self.material.file, item, self._setup, whole)
        self._num_tables += 1
        self._num_rows += len(item.rows)
        if len(self._lines) < MAX_KEPT:
            self._lines.update(row.line for row in item.rows)
        for check in CHECKS:
            if isinstance(check, TableCheck):
                self.found += check.run(subject)
        if len(item.rows) <= self.room:
            self.room -= len(item.rows)
            self.material.subjects.append(subject)

    def report(self) -> FileReport:
        """Returns what was read and found."""
        ordered = sorted(_limited(self.found), key=lambda one: (-one.severity.rank, one.table or 0))
        rows = [one for one in self.material.skipped if isinstance(one.reason, RowReason)]
        left_out = sum(one.num_lines for one in rows)
        # The reasons, the commonest first, each with the line of its first row.
        why = "; ".join(
            f"{count(one.num_lines, 'row')}: {one.reason}" + "".join(f" (line {at})" for at, _ in one.examples[:1])
            for one in sorted(rows, key=lambda one: -one.num_lines)
        )
        # Lines with rows, as far as they are counted: one of several configurations has a row for each, and a source
        # without lines one row for each of them.
        lines = len(self._lines - {0}) or self._num_rows
        return FileReport(
            file=self.material.file,
            verdict=self._verdict(lines, left_out, why),
            worst=worst_of([one.severity for one in ordered]),
            num_tables=self._num_tables,
            num_rows=self._num_rows,
            num_documents=self._num_documents,
            num_skipped_lines=sum(one.num_lines for one in self.material.skipped),
            num_rows_left_out=left_out,
            left_out=why,
            mostly_left_out=left_out > lines,
            findings=ordered,
        )

    def _verdict(self, lines: int, left_out: int, why: str) -> str:
        """Returns what the findings say, and never that nothing is wrong of what nobody has read."""
        if not left_out:
            return self._of_findings()
        read = f"{lines} of {count(lines + left_out, 'row')} read"
        above = any(one.severity is not Severity.INFO for one in self.found)
        judged = f"{self._of_findings()}; {read}" if above else f"{read}, in these nothing wrong was found"
        return f"{judged if lines else 'nothing was read'}; left out: {why}"

    def _of_findings(self) -> str:
        of = {severity: sum(one.severity is severity for one in self.found) for severity in Severity}
        if of[Severity.ERROR]:
            more = f", {count(of[Severity.WARNING], 'warning')}" if of[Severity.WARNING] else ""
            return f"don't use it: {count(of[Severity.ERROR], 'error')}{more}"
        if of[Severity.WARNING]:
            return f"use it with care: {count(of[Severity.WARNING], 'warning')}"
        if self._num_rows == 0:
            return "nothing to audit: no table of timings"
        return f"nothing wrong found in {count(self._num_rows, 'row')} of {count(self._num_tables, 'table')}"


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
