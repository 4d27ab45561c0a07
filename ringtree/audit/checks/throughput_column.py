"""What a column called bandwidth or throughput holds.

For: rates that are neither called algbw nor busbw, against size/time, or against busbw where no time is printed. Not
for: the columns that have these names (bandwidth_column.py, bus_column.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ringtree.audit.checks.bandwidth_column import common_factor, measures_time
from ringtree.audit.checks.row_arithmetic import NOT_TOGETHER
from ringtree.audit.factors import COLLECTIVES, explain_factor, formulas
from ringtree.audit.findings import Finding, Severity
from ringtree.audit.intervals import Interval, narrowest
from ringtree.audit.material import Point, Subject
from ringtree.audit.rule import of_table, warning
from ringtree.audit.words import between, quoted_rate, quoted_time, size
from ringtree.logs import Printed
from ringtree.logs.tables.measures import BANDWIDTH
from ringtree.stats.bandwidth import bus_factor

HOLDS = warning(
    "throughput-holds-other",
    "the throughput is neither algbw nor busbw",
    "the program's source; until then divide by the factor",
)
_RATE = re.compile(r"tput|throughput|bandwidth|\bbw\b|_bw|带宽|吞吐", re.I)
_SUMMARY = re.compile(r"peak|max|min|avg_bus|±|%|best|ideal|theor|line|limit", re.I)
RATE_UNIT = 1e3  # a smaller unit is that of a time or a count


@of_table(HOLDS, NOT_TOGETHER)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields a finding for each such column whose formula can be told."""
    names = {name for one in subject.points for name, printed in one.side.others if _is_rate(name, printed)}
    for name in sorted(names):
        pairs = [pair for one in subject.points if (pair := _multiple(subject, one, name)) is not None]
        factor = common_factor([ratio for _, ratio, _ in pairs])
        if factor is None:
            continue
        if others := [pair for pair in pairs if name == BANDWIDTH and not pair[1].meets(factor)]:
            point, ratio, words = max(others, key=lambda pair: abs(pair[1].middle - factor.middle))
            of = f"{len(pairs) - len(others)} of {len(pairs)} figures: {between(factor)}"
            shown = f"{size(point.row)}: {words} = {between(ratio)}; {of}"
            yield NOT_TOGETHER.found(subject, shown, [one.row for one, _, _ in others])
        collective = subject.table.collective
        some = (collective or "all_reduce") if subject.num_ranks is None else None
        known = explain_factor(factor, formulas(subject.num_ranks, collective, subject.element_bytes), some)
        if 1.0 in factor or known is None:
            continue
        (point, words), ratio = narrowest((((one, words), ratio) for one, ratio, words in pairs), factor)
        yield HOLDS.found(
            subject,
            f"{size(point.row)}: {words} = {between(ratio)}: {known.words}",
            [one.row for one, ratio, _ in pairs if ratio.meets(factor)],
            title=f"the column {subject.table.columns.get(name, name)!r} holds {known.words}",
            severity=Severity.INFO if known.is_busbw else None,
        )


def _is_rate(name: str, printed: Printed) -> bool:
    return printed.unit >= RATE_UNIT and bool(_RATE.search(name)) and not _SUMMARY.search(name)


def _multiple(subject: Subject, point: Point, name: str) -> tuple[Point, Interval, str] | None:
    """Returns what multiple of size/time the column has in a row, and the arithmetic."""
    printed = dict(point.side.others).get(name)
    rate = subject.interval(printed, name)
    if printed is None or rate is None:
        return None
    if measures_time(subject) and point.base is not None and point.side.time is not None:
        words = f"{quoted_rate(printed)} × {quoted_time(point.side.time)} / size"
        return point, rate.over(point.base), words
    ranks, collective = subject.num_ranks or 0, subject.table.collective
    if point.busbw is None or point.side.busbw is None or ranks < 2 or collective not in COLLECTIVES:
        return None
    of_bus = bus_factor(collective, ranks)
    words = f"{quoted_rate(printed)} / busbw {quoted_rate(point.side.busbw)} × {of_bus:.6g} of {ranks} ranks"
    return point, rate.over(point.busbw).times(of_bus), words
