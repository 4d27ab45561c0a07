"""One view of logs, as plain JSON: what the page draws of tables that answer the same question.

For: figures as the logs print them, limits of the hardware, and the audit's findings about these tables. Not for:
collecting tables (logs.py), runs of our own (data.py), drawing.

A log is one run: its figures have no interval, and a difference between two of them is no finding. The page draws no
bands then, and leaves every difference grey.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ringtree.audit import Audit, FileReport, Finding, ceiling
from ringtree.audit.words import listed
from ringtree.compare_runs import SINGLE, label_of
from ringtree.lab.units import format_size
from ringtree.logs import IN_PLACE, NOT_STATED, OUT_OF_PLACE
from ringtree.report.run_page.log_arm import LogArm, Question, labels_of, provenance_of
from ringtree.report.run_page.log_cells import cells_of, compare_with
from ringtree.report.run_page.log_limits import limit_lines

PLACES = {OUT_OF_PLACE: "out of place", IN_PLACE: "in place", NOT_STATED: "not said whether in place"}
MAX_NAMED = 6  # sizes that a line names


def log_view(question: Question, arms: Sequence[LogArm], audit: Audit) -> dict[str, Any]:
    """Returns a view as the page reads it."""
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
    held = [ceiling(arm.subject) for arm in arms]
    cells = [
        cell for arm, label, top in zip(arms, labels, held, strict=True) for cell in cells_of(arm, label, top, findings)
    ]
    compare_with(cells, labels[0])
    limits = limit_lines(labels, arms, held)
    sizes = sorted({cell["size"] for cell in cells if cell["size"] is not None})
    places = [place for place in PLACES if any(cell["place"] == place for cell in cells)]
    view = _empty(_called(question, arms), files, list(dict.fromkeys(arm.short for arm in arms)), audit)
    return {
        **view,
        "verdicts": [*view["verdicts"], f"{SINGLE}; another run of the same may differ as much"],
        "collective": question.collective or "collective not stated",
        "op": question.op or "",
        "dtype": question.dtype or "",
        "num_ranks": question.num_ranks,
        "num_hosts": _only({arm.subject.table.num_hosts for arm in arms}),
        "machine": ", ".join(sorted({device for arm in arms for device in arm.subject.table.devices})),
        "reference": labels[0],
        "arms": labels,
        "series": {label: label_of(arm.subject.table) for arm, label in zip(arms, labels, strict=True)},
        "notes": list(_notes(labels, limits, cells)),
        "places": [{"name": place, "title": PLACES[place]} for place in places],
        "rows": [{"size": size, "place": place, "judged": False} for place in places for size in sizes],
        "cells": cells,
        "limits": limits,
        "findings": [_finding(one, {arm.subject.file: arm.short for arm in arms}) for one in findings],
        "provenance": provenance_of(arms, labels),
    }


def facts_view(file: str, short: str, audit: Audit) -> dict[str, Any]:
    """Returns the view of a file that has no table of timings, or none that the page has room for: what was found in
    it all the same."""
    report = _report(audit, file)
    facts = [
        ("file", file),
        ("parts that are no table", str(report.num_documents)),
        ("lines that no reader took", str(report.num_skipped_lines)),
    ]
    what = "its tables have no room here" if report.num_tables else "no table of timings"
    view = _empty(f"{short}: {what}", [file], [short], audit)
    return {**view, "findings": [_finding(one, {file: short}) for one in report.findings], "provenance": facts}


def _empty(heading: str, files: list[str], names: list[str], audit: Audit) -> dict[str, Any]:
    """Everything that a view has, empty but for what the audit says of its files."""
    verdicts = [f"{name}: {_report(audit, file).verdict}" for name, file in zip(names, files, strict=True)]
    return {
        "kind": "log",
        "id": listed(names, 3),
        "heading": heading,
        "files": files,
        "verdicts": verdicts,
        "collective": "",
        "op": "",
        "dtype": "",
        "num_ranks": None,
        "num_hosts": None,
        "machine": "",
        "emulated": False,
        "reference": "",
        "arms": [],
        "series": {},
        "caveats": [],
        "notes": [],
        "left_out": {},
        "places": [],
        "rows": [],
        "cells": [],
        "limits": [],
        "crossovers": [],
        "fastest": [],
        "slowest_ranks": {},
        "findings": [],
        "provenance": [],
    }


def _called(question: Question, arms: Sequence[LogArm]) -> str:
    ranks = "ranks not stated" if question.num_ranks is None else f"{question.num_ranks} ranks"
    kind = " ".join(part for part in (question.dtype, question.op) if part)
    files = len({arm.subject.file for arm in arms})
    where = arms[0].short if files == 1 else f"{files} logs"
    return ", ".join(part for part in (question.collective or "collective not stated", kind, ranks, where) if part)


def _notes(labels: Sequence[str], limits: Sequence[dict[str, Any]], cells: Sequence[dict[str, Any]]) -> Iterator[str]:
    derived = [label for label in labels if any(cell.get("derived") for cell in cells if cell["arm"] == label)]
    if derived:
        yield f"busbw of {listed(derived)} is computed from size and time where the log prints none"
    if any(cell["time"] is None and cell["printed"] for cell in cells):
        yield "rows without a time are in the table, and in the chart of rates if they have one"
    for limit in limits:
        yield f"{limit['name']}: {limit['arithmetic']}"


def _finding(finding: Finding, short: dict[str, str]) -> dict[str, Any]:
    return {
        "severity": finding.severity.value,
        "code": finding.code,
        "title": finding.title,
        "arithmetic": finding.arithmetic,
        "settles": finding.settles,
        "where": ": ".join(part for part in (short[finding.file], finding.title_of_table, _where(finding)) if part),
    }


def _where(finding: Finding) -> str:
    """Returns "lines 20–34, 5 rows: 1 KB, 2 KB and 3 more"."""
    if not finding.rows:
        return "" if finding.table is None else f"table at line {finding.table}"
    first, last = min(finding.rows), max(finding.rows)
    lines = f"line {first}" if first == last else f"lines {first}–{last}, {finding.num_rows} rows"
    sizes = [format_size(size) for size in dict.fromkeys(finding.sizes)]
    return f"{lines}: {listed(sizes, MAX_NAMED)}" if sizes else lines


def _report(audit: Audit, file: str) -> FileReport:
    return next(one for one in audit.files if one.file == file)


def _only(values: set[int | None]) -> int | None:
    return values.pop() if len(values) == 1 else None
