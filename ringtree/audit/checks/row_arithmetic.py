"""Rows whose figures can't belong together.

For: single rows that break the formula which the rest of their table keeps. Not for: columns that hold another formula
throughout (bandwidth_column.py, bus_column.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.checks.bandwidth_column import common_factor, factors, measures_time
from ringtree.audit.findings import Finding
from ringtree.audit.material import Subject
from ringtree.audit.rule import error, of_table
from ringtree.audit.words import between, figure, quoted_rate, quoted_time
from ringtree.logs import Row

NOT_TOGETHER = error(
    "figures-do-not-fit",
    "figures of a row that no measurement gives",
    "the unedited output of the program, or a rerun",
)


@of_table(NOT_TOGETHER)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields one finding for all such rows of a table."""
    if not measures_time(subject):
        return
    pairs = factors(subject.points)
    expected = common_factor([ratio for _, ratio in pairs])
    if expected is not None and 0.98 < expected.middle < 1.02:
        expected = None  # all figures a little off are not a formula
    wrong: list[Row] = []
    shown = ""
    most = 0.0
    for point, ratio in pairs:
        if ratio.meets(expected) if expected is not None else 1.0 in ratio:
            continue
        wrong.append(point.row)
        assert point.base is not None
        off = abs(ratio.middle - 1.0)
        if off >= most and point.side.time is not None and point.side.algbw is not None:
            most = off
            taken = quoted_time(point.side.time)
            shown = (
                f"{point.row.size_bytes} bytes / {taken} = {between(point.base.times(1e-9))} GB/s, "
                f"printed: {quoted_rate(point.side.algbw)}, off by {figure(100 * off)} %"
            )
    if wrong:
        yield NOT_TOGETHER.found(subject, shown, wrong)
