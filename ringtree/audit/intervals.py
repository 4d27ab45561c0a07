"""What printed numbers can have been: intervals, and arithmetic on them.

For: saying that a figure can't follow from others, without a tolerance that somebody chose: a number that was printed
as 13.99 was anything from 13.985 to 13.995. Not for: noise between runs, statistics (ringtree.stats).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from ringtree.logs import Printed

Seen = TypeVar("Seen")
_SLACK = 1e-9  # of floating-point arithmetic
_SINGLE = 5e-7  # programs that print many digits may have computed in single precision, in a few steps


class Interval(NamedTuple):
    """From `low` to `high`, both included; never negative, and `high` may be infinite."""

    low: float
    high: float

    @classmethod
    def of(cls, printed: Printed | None) -> Interval | None:
        """Returns what a printed number can have been: half a unit of its last place to both sides.

        None where nothing was printed, and for what is not a finite number that is at least 0.
        """
        if printed is None:
            return None
        value, half = printed.value, printed.resolution / 2
        if not math.isfinite(value) or value < 0 or not math.isfinite(half):
            return None
        half = max(half * (1 + _SLACK), value * _SINGLE)
        return cls(max(0.0, value - half), value + half)

    @classmethod
    def exactly(cls, value: float) -> Interval:
        """Returns the interval of a number that is known, such as a size in bytes."""
        return cls(value * (1 - _SLACK), value * (1 + _SLACK))

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.low <= value <= self.high

    def times(self, factor: float) -> Interval:
        """Returns the interval times a number that is at least 0."""
        return Interval(self.low * factor, self.high * factor)

    def over(self, divisor: Interval) -> Interval:
        """Returns the quotients; without bound where the divisor can be 0."""
        high = self.high / divisor.low if divisor.low > 0 else math.inf
        return Interval(self.low / divisor.high if divisor.high > 0 else 0.0, high)

    def meets(self, other: Interval) -> bool:
        """Whether a number lies in both."""
        return self.low <= other.high and other.low <= self.high

    def common(self, other: Interval) -> Interval | None:
        """Returns what lies in both, None if nothing does."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Interval(low, high) if low <= high else None

    @property
    def middle(self) -> float:
        """Returns the number between both ends, the lower end where there is no upper one."""
        return (self.low + self.high) / 2 if math.isfinite(self.high) else self.low

    @property
    def is_narrow(self) -> bool:
        """Whether the digits say something: the ends differ by less than a quarter of the middle."""
        return math.isfinite(self.high) and self.high - self.low < self.middle / 4


def whole_numbers(interval: Interval, limit: int) -> range:
    """Returns the whole numbers of an interval, from 1 to `limit`."""
    high = limit if interval.high >= limit else math.floor(interval.high)
    return range(max(1, math.ceil(interval.low)), high + 1)


def most_common(intervals: Sequence[Interval]) -> tuple[Interval, list[int]]:
    """Returns where most intervals overlap, and which ones do (indexes, ascending). Raises ValueError for none.

    Among places where equally many overlap, the first.
    """
    if not intervals:
        raise ValueError("no intervals have nothing in common")
    # At equal ends beginnings come first, since intervals are closed.
    ends = sorted([(one.low, 0) for one in intervals] + [(one.high, 1) for one in intervals])
    depth = deepest = 0
    best = 0.0
    for place, is_end in ends:
        if is_end:
            depth -= 1
            continue
        depth += 1
        if depth > deepest:
            deepest, best = depth, place
    members = [index for index, one in enumerate(intervals) if best in one]
    low = max(intervals[index].low for index in members)
    return Interval(low, min(intervals[index].high for index in members)), members


def narrowest(pairs: Iterable[tuple[Seen, Interval]], within: Interval) -> tuple[Seen, Interval]:
    """Returns the pair whose interval says most, of those that are narrow and meet `within`. There must be one."""
    told = [(seen, one) for seen, one in pairs if one.is_narrow and one.meets(within)]
    return min(told, key=lambda pair: pair[1].high - pair[1].low)


def total(intervals: Iterable[Interval]) -> Interval:
    """Returns what a sum can have been."""
    low = high = 0.0
    for one in intervals:
        low, high = low + one.low, high + one.high
    return Interval(low, high)
