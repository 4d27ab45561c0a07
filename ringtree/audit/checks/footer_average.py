"""Does the footer's average belong to the rows above it?

For: nccl-tests' "Avg bus bandwidth", which is the mean of every printed busbw, both sides, rows of size 0 too. Not for:
whether an average over sizes means anything (it doesn't say how fast any size is).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.checks.rows_missing import why_incomplete
from ringtree.audit.findings import Finding
from ringtree.audit.intervals import Interval, total
from ringtree.audit.material import Subject
from ringtree.audit.rule import error, info, of_table
from ringtree.audit.words import between, listed

DIFFERS = error("average-differs", "the average of the footer is not that of the rows", "the unedited output")
OF_MORE_ROWS = info(
    "average-of-more-rows", "the average of the footer counts rows that are missing here", "the whole output"
)


@of_table(DIFFERS, OF_MORE_ROWS)
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
    stands = f"printed: {subject.table.average_busbw.text} GB/s"
    shown = f"mean of {len(rates)} figures: {between(mean.times(1e-9))} GB/s, {stands}"
    missing = why_incomplete(subject)
    rule, more = (OF_MORE_ROWS, f"; {listed(missing, 2)}") if missing else (DIFFERS, "")
    yield rule.found(subject, shown + more, subject.table.rows)
