"""Runs that checked no result, and runs of few iterations.

For: what a reader of the figures should know of how they were made. Not for: results that were checked and are wrong
(wrong_results.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.findings import Finding, Severity
from ringtree.audit.material import Subject
from ringtree.audit.rule import Rule, TableCheck

NOT_CHECKED = Rule(
    code="results-not-checked",
    severity=Severity.INFO,
    title="no result was checked",
    means="The benchmark was told not to check what it computes. The times may be right; that the data were right "
    "nobody knows.",
    settles="the run again with -c 1",
    example="validation: 0",
)
FEW_ITERATIONS = Rule(
    code="few-iterations",
    severity=Severity.INFO,
    title="each time is that of very few iterations",
    means="A time that is the mean of a handful of iterations, or that had no warm-up, contains what happened by "
    "chance and what happens once: connections, registration, clocks.",
    settles="the run again with 20 iterations or more and a warm-up, several times",
    example="iters: 1",
)
FEW = 5


def check(subject: Subject) -> Iterator[Finding]:
    """Yields what the settings say."""
    settings = subject.table.settings
    if _number(settings.get("validation")) == 0:
        yield NOT_CHECKED.found(subject, "validation: 0", subject.table.rows)
    iterations, warm_up = _number(settings.get("iters")), _number(settings.get("warmup iters"))
    if iterations is not None and 0 < iterations <= FEW:
        yield FEW_ITERATIONS.found(subject, f"iters: {iterations}", subject.table.rows)
    elif warm_up == 0:
        yield FEW_ITERATIONS.found(subject, "warmup iters: 0", subject.table.rows, title="there was no warm-up")


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


CHECK = TableCheck((NOT_CHECKED, FEW_ITERATIONS), check)
