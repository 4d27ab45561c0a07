"""Times that do not grow with the size as they should.

For: a slow first row, a floor that no link has, sizes at which the bandwidth collapses, rows that jump. Not for:
whether a difference between runs is real: one run can't tell.

All of it is only a sign of how a run went: the figures may be what the program measured.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from itertools import accumulate
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
    "the times have a floor that no link explains",
    "one rank for each device, or the same run with another transport",
)
COLLAPSE = warning(
    "bandwidth-collapse",
    "above some size the bandwidth collapses",
    "NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=TUNING,NET at a size before and one after the fall",
)
JUMPS = info(
    "times-jump",
    "times jump between neighbouring sizes",
    "several runs: the spread between them is what a difference must exceed",
)
SLOWER = 3.0
FLAT, FLAT_ROWS, FLAT_SIZES = 1.05, 4, 8
FLOOR_SECONDS, FLOOR_RANKS = 1e-3, 8
COLLAPSED, COLLAPSED_ROWS = 4.0, 3
JUMP, JUMP_ROWS = 1.5, 3


class _Timed(NamedTuple):
    row: Row
    seconds: float


@of_table(SLOW_FIRST, FLOOR, COLLAPSE, JUMPS)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields what the course of the times shows, out of place if that side has enough of them."""
    timed = next((side for side in _sides(subject) if len(side) >= FLAT_ROWS), [])
    if timed and not subject.is_one_rank:
        for look in (_slow_first, _floor, _collapse, _jumps):
            yield from look(subject, timed)


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


def _slow_first(subject: Subject, timed: list[_Timed]) -> Iterator[Finding]:
    first, after = timed[0], timed[1:6]
    is_first = first.row is subject.table.rows[0] or not subject.table.rows[0].size_bytes
    usual = statistics.median(one.seconds for one in after)
    if is_first and first.seconds >= SLOWER * usual:
        shown = f"{size(first.row)}: {microseconds(first.seconds)}, {figure(first.seconds / usual)}× the median "
        yield SLOW_FIRST.found(subject, f"{shown}{microseconds(usual)} of the next {len(after)} sizes", [first.row])


def _floor(subject: Subject, timed: list[_Timed]) -> Iterator[Finding]:
    lowest = min(one.seconds for one in timed)
    flat = [one for one in timed if one.seconds <= FLAT * lowest]
    sizes = [one.row.size_bytes or 0 for one in flat]
    if len(flat) < FLAT_ROWS or lowest < FLOOR_SECONDS or max(sizes) < FLAT_SIZES * min(sizes):
        return
    ranks = subject.table.num_ranks
    yield FLOOR.found(
        subject,
        f"{len(flat)} sizes from {size(flat[0].row)} to {size(flat[-1].row)} take {microseconds(lowest)} to "
        f"{microseconds(max(one.seconds for one in flat))}" + (f" with {ranks} ranks" if ranks else ""),
        [one.row for one in flat],
        severity=None if ranks is not None and ranks <= FLOOR_RANKS else Severity.INFO,
    )


def _collapse(subject: Subject, timed: list[_Timed]) -> Iterator[Finding]:
    rates = [(one.row.size_bytes or 0) / one.seconds for one in timed]
    peak = max(range(len(rates)), key=lambda index: rates[index])
    after = [index for index in range(peak + 1, len(rates)) if rates[index] * COLLAPSED < rates[peak]]
    if len(after) < COLLAPSED_ROWS or after != list(range(after[0], len(rates))):
        return
    # In host memory messages outgrow a cache.
    host = Fact.HOST_MEMORY in subject.table.format.facts and subject.table.settings.get("buffers", "host") == "host"
    yield COLLAPSE.found(
        subject,
        f"{gigabytes(rates[peak])} at {size(timed[peak].row)}, {gigabytes(rates[after[0]])} at "
        f"{size(timed[after[0]].row)}, and {gigabytes(max(rates[index] for index in after))} at most from there on "
        "(size/time)",
        [timed[index].row for index in after],
        severity=Severity.INFO if host else None,
    )


def _jumps(subject: Subject, timed: list[_Timed]) -> Iterator[Finding]:
    if timed[0].seconds > JUMP * timed[1].seconds:
        timed = timed[1:]  # a slow first row has a rule of its own
    least = list(accumulate((one.seconds for one in timed[::-1]), min))[::-1]  # of this size and all larger ones
    jumping = [one for one, after in zip(timed, least[1:], strict=False) if one.seconds > JUMP * after]
    if len(jumping) >= JUMP_ROWS:
        shown = listed([f"{size(one.row)} {microseconds(one.seconds)}" for one in jumping])
        said = f"slower than a larger size by {figure(JUMP)}× or more: {shown}"
        yield JUMPS.found(subject, said, [one.row for one in jumping])
