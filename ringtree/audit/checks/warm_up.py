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
from ringtree.audit.rule import Rule, TableCheck
from ringtree.audit.words import figure, gigabytes, listed, microseconds, size
from ringtree.logs import OUT_OF_PLACE, Fact, Row

SLOW_FIRST = Rule(
    code="slow-first-row",
    severity=Severity.INFO,
    title="the first row is slower than larger ones after it",
    means="What happens once, connections, registration, clocks going up, fell into the first size that was timed. "
    "The row is not a latency.",
    settles="more warm-up (-w), or a run that begins at another size",
    example="1 KB: 800.41 µs, 39.861× the median 20.08 µs of the next 5 sizes",
)
FLOOR = Rule(
    code="latency-floor",
    severity=Severity.WARNING,
    title="the times stand on a floor that no link explains",
    means="Over several sizes the time does not move and is a thousand times what a hop between devices takes: a "
    "timer, a poll interval or a time slice is what was measured. Ranks that share one GPU or one core take turns "
    "that way.",
    settles="one rank for each device, or the same run with another transport",
    example="15 sizes from 1 KB to 16 MB take 2200 µs to 2200 µs with 2 ranks",
)
COLLAPSE = Rule(
    code="bandwidth-collapse",
    severity=Severity.WARNING,
    title="from some size on the bandwidth collapses",
    means="Larger messages are normally at least as fast per byte. A fall by a factor that lasts to the largest size "
    "says that something changed there: another protocol, buffers that are not registered, a path without GPUDirect, "
    "a congested network. The table shows that fault, not the machine. (info: of MPI in host memory, where messages "
    "that outgrow a cache do the same.)",
    settles="NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=TUNING,NET at a size before and one after the fall",
    example="94.376 GB/s at 32 MB, 16.184 GB/s at 64 MB, and 16.636 GB/s at most from there on (size/time)",
)
JUMPS = Rule(
    code="times-jump",
    severity=Severity.INFO,
    title="times jump between neighbouring sizes",
    means="Several rows take much longer than larger ones after them. Single rows of this run say nothing; a "
    "comparison that rests on them compares accidents.",
    settles="several runs: the spread between them is what a difference must exceed",
    example="slower than a larger size by 1.5× or more: 8 KB 180.74 µs, 64 KB 165.24 µs, 512 KB 176.7 µs",
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


CHECK = TableCheck((SLOW_FIRST, FLOOR, COLLAPSE, JUMPS), check)
