"""Runs that checked no result, and runs of few iterations.

For: what a reader of the figures should know of how they were made. Not for: results that were checked and are wrong
(wrong_results.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.findings import Finding
from ringtree.audit.material import Subject
from ringtree.audit.rule import info, of_table

NOT_CHECKED = info("results-not-checked", "no result was checked", "a rerun with -c 1")
FEW_ITERATIONS = info(
    "few-iterations",
    "each time is from very few iterations",
    "several reruns with 20 iterations or more and a warm-up",
)
FEW = 5


@of_table(NOT_CHECKED, FEW_ITERATIONS)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields what the settings say."""
    if subject.setting("validation") == 0:
        yield NOT_CHECKED.found(subject, "validation: 0", subject.table.rows)
    iterations = subject.setting("iters")
    if iterations is not None and 0 < iterations <= FEW:
        yield FEW_ITERATIONS.found(subject, f"iters: {iterations}", subject.table.rows)
    elif subject.setting("warmup iters") == 0:
        yield FEW_ITERATIONS.found(subject, "warmup iters: 0", subject.table.rows, title="there was no warm-up")
