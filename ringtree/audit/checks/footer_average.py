"""Does the footer's average belong to the rows above it?

For: nccl-tests' "Avg bus bandwidth", which is the mean of every printed busbw, both sides, rows of size 0 too. Not for:
whether an average over sizes means anything (it doesn't say how fast any size is).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.checks.rows_missing import why_incomplete
from ringtree.audit.findings import Finding, Severity
from ringtree.audit.intervals import Interval, total
from ringtree.audit.material import Subject
from ringtree.audit.rule import Rule, TableCheck
from ringtree.audit.words import between, listed

DIFFERS = Rule(
    code="average-differs",
    severity=Severity.ERROR,
    title="the average of the footer is not that of the rows",
    means="The program prints the mean of all busbw figures of the table. Recomputed from the rows it is another "
    "number, by more than their digits can hide, though no row is missing: rows were changed, or the footer is that "
    "of another run.",
    settles="the unedited output",
    example="mean of 42 figures: 80.1–80.2 GB/s, printed: 99.1234 GB/s",
)
OF_MORE_ROWS = Rule(
    code="average-of-more-rows",
    severity=Severity.INFO,
    title="the average of the footer counts rows that are not here",
    means="The footer's mean is not that of the rows, and rows are missing: the log was cut. The average can't be "
    "checked.",
    settles="the whole output",
    example="mean of 38 figures: 88.57–88.58 GB/s, printed: 80.1505 GB/s; minBytes 1024, first row 4096",
)


def check(subject: Subject) -> Iterator[Finding]:
    """Yields a finding if the mean of the rows can't be the printed one."""
    printed = Interval.of(subject.table.average_busbw)
    rates = [one.busbw for one in subject.points if one.busbw is not None]
    if printed is None or not rates or not subject.whole:
        return
    mean = total(rates).times(1 / len(rates))
    if mean.meets(printed):
        return
    assert subject.table.average_busbw is not None
    shown = (
        f"mean of {len(rates)} figures: {between(mean.times(1e-9))} GB/s, "
        f"printed: {subject.table.average_busbw.text} GB/s"
    )
    missing = why_incomplete(subject)
    if missing:
        yield OF_MORE_ROWS.found(subject, f"{shown}; {listed(missing, 2)}", subject.table.rows)
    else:
        yield DIFFERS.found(subject, shown, subject.table.rows)


CHECK = TableCheck((DIFFERS, OF_MORE_ROWS), check)
