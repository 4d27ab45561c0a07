"""In place and out of place that disagree as a whole.

For: tables whose two halves can't be the same operation. Not for: single noisy sizes, which every log has; the
in-place columns of an all-to-all (in_place_all_to_all.py).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from ringtree.audit.checks.in_place_all_to_all import is_unchecked_artefact
from ringtree.audit.findings import Finding
from ringtree.audit.intervals import Interval
from ringtree.audit.material import Subject
from ringtree.audit.rule import of_table, warning
from ringtree.audit.words import figure, quoted_time, size
from ringtree.logs import IN_PLACE, OUT_OF_PLACE, Printed, Row

DISAGREE = warning(
    "sides-disagree",
    "in place and out of place did not run the same thing",
    "the algorithm of each half: NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING, or the plan's own log",
)
LARGE = 1 << 20
MIN_ROWS, RATIO, SAME_DIRECTION = 4, 1.5, 0.8
NEIGHBOURS, NEIGHBOURS_RATIO = 7, 1.3


class Pair(NamedTuple):
    """The times of a row, out of place and in place. `log`: the logarithm of the second over the first."""

    row: Row
    outer: Printed
    inner: Printed
    log: float


@of_table(DISAGREE)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields one finding, for the large sizes or else for neighbouring ones."""
    if subject.is_one_rank or is_unchecked_artefact(subject):
        return
    pairs = sorted(_pairs(subject), key=lambda pair: pair.row.size_bytes or 0)
    found = _large(pairs) or _neighbours(pairs)
    if not found:
        return
    middle = statistics.median(pair.log for pair in found)
    most = max(found, key=lambda pair: pair.log * middle)
    factor = figure(math.exp(abs(middle)))
    yield DISAGREE.found(
        subject,
        f"{size(most.row)}: {quoted_time(most.outer)} out of place, {quoted_time(most.inner)} in place, "
        f"{figure(math.exp(abs(most.log)))}×; median from {size(found[0].row)} to {size(found[-1].row)}: {factor}×",
        [pair.row for pair in found],
        title=f"in place is {factor} times as {'slow' if middle > 0 else 'fast'} as out of place",
    )


def _large(pairs: list[Pair]) -> list[Pair]:
    large = [pair for pair in pairs if (pair.row.size_bytes or 0) >= LARGE]
    large = large if len(large) >= MIN_ROWS else pairs[len(pairs) // 2 :]
    if len(large) < MIN_ROWS:
        return []
    middle = statistics.median(pair.log for pair in large)
    same = sum(pair.log * middle > 0 for pair in large)
    return large if abs(middle) >= math.log(RATIO) and same >= SAME_DIRECTION * len(large) else []


def _neighbours(pairs: list[Pair]) -> list[Pair]:
    """Returns the longest run of sizes that differ in one direction, if it is long."""
    runs = [list(run) for way, run in groupby(pairs, key=_way) if way]
    longest = max(runs, key=len, default=[])
    return longest if len(longest) >= NEIGHBOURS else []


def _way(pair: Pair) -> int:
    return (pair.log > math.log(NEIGHBOURS_RATIO)) - (pair.log < -math.log(NEIGHBOURS_RATIO))


def _pairs(subject: Subject) -> Iterator[Pair]:
    for row in subject.table.rows:
        times = {side.place: side.time for side in row.sides}
        outer, inner = times.get(OUT_OF_PLACE), times.get(IN_PLACE)
        first, second = Interval.of(outer), Interval.of(inner)
        if outer and inner and first and second and first.low > 0 and second.low > 0 and row.size_bytes:
            yield Pair(row, outer, inner, math.log(second.middle / first.middle))
