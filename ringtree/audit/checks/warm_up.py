"""Times that do not grow with the size as they should.

For: a slow first row, a floor that no link has, sizes at which the bandwidth collapses, rows that jump. Not for:
whether a difference between runs is real: one run can't tell.

All of it is only a sign of how a run went: the figures may be what the program measured.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import NamedTuple

from ringtree.audit.findings import Finding, Severity
from ringtree.audit.material import Point, Subject
from ringtree.audit.rule import info, of_table, warning
from ringtree.audit.words import figure, gigabytes, listed, microseconds, size
from ringtree.logs import OUT_OF_PLACE, Fact, Row

SLOW_FIRST = info(
    "slow-first-row",
    "the first row is slower than larger ones after it",
    "more warm-up (-w), or a run that begins at another size",
)
FLOOR = warning(
    "latency-floor",
    "the times stand on a floor that no link explains",
    "one rank for each device, or the same run with another transport",
)
COLLAPSE = warning(
    "bandwidth-collapse",
    "from some size on the bandwidth collapses",
    "NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=TUNING,NET at a size before and one after the fall",
)
JUMPS = info(
    "times-jump",
    "times jump between neighbouring sizes",
    "several runs: the spread between them is what a difference must exceed",
)
SLOWER = 3.0
FLAT = 1.05
FLAT_ROWS = 4
FLAT_SIZES = 8
FLOOR_SECONDS = 1e-3
FLOOR_RANKS = 8
COLLAPSED = 4.0
COLLAPSED_ROWS = 3
JUMP = 1.5
JUMP_ROWS = 3


class _Timed(NamedTuple):
    row: Row
    seconds: float


@of_table(SLOW_FIRST, FLOOR, COLLAPSE, JUMPS)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields what the course of the times shows."""
    if subject.is_one_rank:
        return
    sides = [timed for timed in _sides(subject) if len(timed) >= FLAT_ROWS]
    for rule_check in (_slow_first, _floor, _collapse, _jumps):
        found = [finding for timed in sides[:1] if (finding := rule_check(subject, timed)) is not None]
        yield from found


def _sides(subject: Subject) -> list[list[_Timed]]:
    """Returns the measurements of each side by sizes, one for each size, out of place first."""
    by_side: dict[str, dict[int, _Timed]] = {}
    for one in subject.points:
        seconds = _seconds(one)
        if seconds is not None and one.row.size_bytes:
            by_side.setdefault(one.side.place, {}).setdefault(one.row.size_bytes, _Timed(one.row, seconds))
    order = sorted(by_side, key=lambda place: place != OUT_OF_PLACE)
    return [[by_side[place][size_bytes] for size_bytes in sorted(by_side[place])] for place in order]


def _seconds(point: Point) -> float | None:
    """Returns the time, or what a rate makes of it; a busbw gives it up to a factor that all rows share."""
    if point.time is not None:
        return point.time.middle if point.time.low > 0 else None
    rate = point.algbw or point.busbw
    if rate is None or not rate.is_narrow or rate.low <= 0 or not point.row.size_bytes:
        return None
    return point.row.size_bytes / rate.middle


def _slow_first(subject: Subject, timed: list[_Timed]) -> Finding | None:
    first, after = timed[0], timed[1:6]
    if timed[0].row is not subject.table.rows[0] and subject.table.rows[0].size_bytes:
        return None
    usual = statistics.median(one.seconds for one in after)
    if first.seconds < SLOWER * usual:
        return None
    return SLOW_FIRST.found(
        subject,
        f"{size(first.row)}: {microseconds(first.seconds)}, {figure(first.seconds / usual)}× the median "
        f"{microseconds(usual)} of the next {len(after)} sizes",
        [first.row],
    )


def _floor(subject: Subject, timed: list[_Timed]) -> Finding | None:
    lowest = min(one.seconds for one in timed)
    flat = [one for one in timed if one.seconds <= FLAT * lowest]
    sizes = [one.row.size_bytes or 0 for one in flat]
    if len(flat) < FLAT_ROWS or lowest < FLOOR_SECONDS or max(sizes) < FLAT_SIZES * min(sizes):
        return None
    ranks = subject.table.num_ranks
    few = ranks is not None and ranks <= FLOOR_RANKS
    return FLOOR.found(
        subject,
        f"{len(flat)} sizes from {size(flat[0].row)} to {size(flat[-1].row)} take {microseconds(lowest)} to "
        f"{microseconds(max(one.seconds for one in flat))}" + (f" with {ranks} ranks" if ranks else ""),
        [one.row for one in flat],
        severity=None if few else Severity.INFO,
    )


def _collapse(subject: Subject, timed: list[_Timed]) -> Finding | None:
    rates = [(one.row.size_bytes or 0) / one.seconds for one in timed]
    peak = max(range(len(rates)), key=lambda index: rates[index])
    after = [index for index in range(peak + 1, len(rates)) if rates[index] * COLLAPSED < rates[peak]]
    lasting = len(after) >= COLLAPSED_ROWS and after == list(range(after[0], len(rates)))
    if not lasting:
        return None
    first = timed[after[0]]
    return COLLAPSE.found(
        subject,
        f"{gigabytes(rates[peak])} at {size(timed[peak].row)}, {gigabytes(rates[after[0]])} at {size(first.row)}, and "
        f"{gigabytes(max(rates[index] for index in after))} at most from there on (size/time)",
        [timed[index].row for index in after],
        severity=Severity.INFO if _is_in_caches(subject) else None,
    )


def _is_in_caches(subject: Subject) -> bool:
    """Whether its messages lie in host memory."""
    return Fact.HOST_MEMORY in subject.table.format.facts and subject.table.settings.get("buffers", "host") == "host"


def _jumps(subject: Subject, timed: list[_Timed]) -> Finding | None:
    if len(timed) > 1 and timed[0].seconds > JUMP * timed[1].seconds:
        timed = timed[1:]  # a slow first row has a rule of its own
    best = float("inf")
    jumping = []
    for one in reversed(timed):
        if one.seconds > JUMP * best:
            jumping.append(one)
        best = min(best, one.seconds)
    if len(jumping) < JUMP_ROWS:
        return None
    jumping.reverse()
    shown = [f"{size(one.row)} {microseconds(one.seconds)}" for one in jumping]
    return JUMPS.found(
        subject,
        f"slower than a larger size by {figure(JUMP)}× or more: {listed(shown)}",
        [one.row for one in jumping],
    )
