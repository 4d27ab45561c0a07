"""How many ranks ran: from the lines of ranks, from counts, from the factor between algbw and busbw.

For: the number, or the range in which it lies, with the reason. Not for: deciding which collective it was
(deduce.py).

All intervals are exact for correctly rounded figures: n is concluded only where no other fits all rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ringtree.logs.nccltests.markers import Rank
from ringtree.logs.records import Row, Side
from ringtree.nccl.nccl_tests import DTYPE_BYTES
from ringtree.traits import BLOCKED

MAX_RANKS = 1 << 20
_MAX_ROWS = 400  # that are looked at: more tell nothing new
_GLANCE = 1
_EPSILON = 1e-9  # of doubles that were printed and read again
# Of busbw / algbw: what the factor is for n ranks.
_TWICE = ("all_reduce",)  # 2(n-1)/n
_ONCE = (*BLOCKED, "all_to_all_v")  # (n-1)/n
TELLING = (*_TWICE, *_ONCE)  # of the others it is 1


class RankLines:
    """What "Rank 3 Group 0 Pid 17 on host device 3 [...] name" lines said, in their order."""

    def __init__(self, lines: Sequence[Rank] = ()) -> None:
        self.ranks = {line.rank for line in lines}
        self.hosts = list(dict.fromkeys(line.host for line in lines))
        self.devices = [line.device for line in lines if line.device]
        self.processes = {(line.host, line.pid) for line in lines if line.pid}

    @property
    def num_ranks(self) -> int | None:
        """Returns one more than the highest rank; None without lines."""
        return max(self.ranks) + 1 if self.ranks else None

    @property
    def elided(self) -> bool:
        """Says whether lines are missing between them."""
        return self.num_ranks is not None and len(self.ranks) < self.num_ranks


class Interval(NamedTuple):
    low: float
    high: float

    @property
    def is_empty(self) -> bool:
        """Says whether nothing lies in it: the figures contradict each other."""
        return self.low > self.high


def ranks_of_counts(rows: Iterable[Row]) -> int | None:
    """Returns how many blocks of `count` elements make up a row's size, if it is the same whole number in all rows.

    A gather's size is that of all ranks together: the number of ranks. 1: nothing is cut into blocks. None: sizes and
    counts do not fit, or say nothing.
    """
    found: int | None = None
    for row in rows:
        if not row.size_bytes or not row.count or row.dtype is None:
            continue
        blocks, rest = divmod(row.size_bytes, row.count * DTYPE_BYTES.get(row.dtype, row.size_bytes + 1))
        if rest or not blocks or (found is not None and blocks != found):
            return None
        found = blocks
    return found


def factor(rows: Sequence[Row], at_a_glance: bool = False, with_times: bool = True) -> Interval | None:
    """Returns in which interval busbw / algbw lies, from all rows; None where no row tells anything.

    `at_a_glance`: from the last rows only, which tell most: enough to see whether a known number of ranks fits.
    `with_times`: the column of times is what algbw was computed from, as it is not with -C (cputime).
    """
    low, high = -math.inf, math.inf
    if at_a_glance:
        rows = rows[-_GLANCE:]
    elif len(rows) > _MAX_ROWS:
        rows = [*rows[:: len(rows) // _MAX_ROWS], rows[-1]]
    for row in rows:
        for side in row.sides:
            if (found := _factor_of(row.size_bytes if with_times else None, side)) is not None:
                low, high = max(low, found.low), min(high, found.high)
    return Interval(low - _EPSILON, high + _EPSILON) if high < math.inf else None


def possible_ranks(collective: str, found: Interval, multiple_of: int) -> tuple[int, int | None] | None:
    """Returns the fewest and the most ranks for which the factor is that of a telling collective; most None: no limit.

    None: no number fits. `multiple_of`: ranks of one process.
    """
    if found.is_empty:
        return None
    scale = 2.0 if collective in _TWICE else 1.0
    # factor = scale * (n - 1) / n, so n = scale / (scale - factor)
    fewest = _ceil(scale / (scale - found.low)) if found.low < scale else None
    if fewest is None:
        return None
    most = _floor(scale / (scale - found.high)) if found.high < scale else None
    fewest = max(1, fewest + -fewest % multiple_of)
    most = most - most % multiple_of if most is not None else None
    if fewest > MAX_RANKS or (most is not None and most < fewest):
        return None
    return fewest, most


def _factor_of(size_bytes: int | None, side: Side) -> Interval | None:
    time, algbw, busbw = side.time, side.algbw, side.busbw
    if algbw is None or busbw is None or not (rate := algbw.value) > 0:
        return None
    half = 0.5 * algbw.resolution
    low, high = rate - half, rate + half
    if size_bytes and time is not None and (value := time.value) > (resolution := time.resolution):
        # The time often has more digits than the rate.
        slower, faster = size_bytes / (value + 0.5 * resolution), size_bytes / (value - 0.5 * resolution)
        if slower <= high and low <= faster:
            low, high = max(low, slower), min(high, faster)
    if low <= 0:
        return None
    bus, half = busbw.value, 0.5 * busbw.resolution
    return Interval(max(bus - half, 0.0) / high, (bus + half) / low)


def _ceil(value: float) -> int:
    return math.ceil(min(max(value, 1.0), 2.0 * MAX_RANKS) - _EPSILON)


def _floor(value: float) -> int | None:
    return math.floor(value + _EPSILON) if value < MAX_RANKS else None
