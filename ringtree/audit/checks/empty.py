"""Files and tables that hold no measurement: placeholders, summaries, nothing at all.

For: what must not be taken for a measurement. Not for: tables that hold one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ringtree.audit.findings import Finding
from ringtree.audit.material import Material, Subject
from ringtree.audit.rule import error, info, of_file
from ringtree.audit.training import is_of_training
from ringtree.audit.words import listed

PLACEHOLDERS = error("placeholders", "the table has letters where its numbers should be", "the output of a run")
NO_TABLE = info("no-table", "no table of timings", "`ringtree import --dry-run FILE` shows what was skipped and why")
SUMMARY_ONLY = info(
    "summary-only", "only averages or peaks, no time of any size", "the tables that the summary was made from"
)
_PLACEHOLDER = re.compile(r"(?<![A-Za-z])X{2,}(?:\.X+)?(?![A-Za-z])")


@of_file(PLACEHOLDERS, NO_TABLE, SUMMARY_ONLY)
def check(material: Material) -> Iterator[Finding]:
    """Yields what the file is instead of a measurement."""
    hidden = [
        (number, text)
        for skipped in material.skipped
        for number, text in skipped.examples
        if len(_PLACEHOLDER.findall(text)) >= 2
    ]
    if hidden:
        yield PLACEHOLDERS.found(material, f"line {hidden[0][0]}: {' '.join(hidden[0][1].split())[:90]}")
    tables = [subject for subject in material.subjects if subject.table.rows]
    if not tables and not hidden:
        kinds = list(dict.fromkeys(document.kind for document in material.documents))
        found = f"found: {listed(kinds)}" if kinds else "nothing that a reader knows"
        yield NO_TABLE.found(material, found)
    summaries = [subject for subject in tables if _is_summary(subject)]
    if summaries:
        rows = [row for subject in summaries for row in subject.table.rows]
        of = f" of {len(summaries)} tables" if len(summaries) > 1 else ""
        yield SUMMARY_ONLY.found(summaries[0], f"{len(rows)} rows{of} without a size or a time", rows)


def _is_summary(subject: Subject) -> bool:
    timed = any(one.time is not None or one.side.samples for one in subject.points)
    return not is_of_training(subject) and not timed and all(row.size_bytes is None for row in subject.table.rows)
