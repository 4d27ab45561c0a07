"""A curve: seconds of a call by size, of one table of a log.

For: from observations to what floors, plateaus and comparisons are read from. Not for: judging any of it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ringtree.audit import Subject
from ringtree.logs import IN_PLACE, NOT_STATED, OUT_OF_PLACE
from ringtree.logs.observations import observations_of_table, origin_of
from ringtree.results import Observation
from ringtree.stats import bus_factor


@dataclass(frozen=True)
class Curve:
    """`seconds`: by bytes of all blocks together, ascending. Of a table's places it is one, out of place if that is
    there; of several types the first."""

    collective: str
    num_ranks: int
    seconds: Mapping[int, float]
    place: str = NOT_STATED
    dtype: str | None = None

    def at(self, size_bytes: int) -> float | None:
        """The time at a size, between two measured ones on a line of logarithms; None outside of what was measured."""
        sizes = list(self.seconds)
        if not sizes or not sizes[0] * 0.999 <= size_bytes <= sizes[-1] * 1.001:
            return None
        known = np.log([self.seconds[size] for size in sizes])
        return float(math.exp(np.interp(math.log(size_bytes), np.log(sizes), known)))

    def busbw(self, size_bytes: int, seconds: float) -> float:
        """The bus bandwidth in bytes/s."""
        return size_bytes / seconds * bus_factor(self.collective, self.num_ranks)


@dataclass(frozen=True)
class Measured:
    """A table that has a curve, with what several logs are told apart by. `hosts` None: not known."""

    subject: Subject
    curve: Curve
    hosts: int | None
    tool: str


def curve_of(subject: Subject) -> Curve | str:
    """Returns the curve of a table, or why it has none."""
    table, ranks = subject.table, subject.num_ranks or subject.table.num_ranks
    collective = subject.collective or table.collective
    if collective is None:
        return "the log does not name the collective"
    if ranks is None:
        return "the number of ranks is not known: --ranks"
    if ranks == 1 or subject.is_one_rank:
        return "one rank has no peer to communicate with"
    seen = [one for one in observations_of_table(table, origin_of(table, subject.file)) if one.size_bytes]
    if any(one.wrong or one.origin.failed for one in seen):
        return "some of its results are wrong: fix that first (ringtree audit names them)"
    for place in (OUT_OF_PLACE, NOT_STATED, IN_PLACE):
        of_place = [one for one in seen if one.place == place]
        times = _times(of_place, collective, ranks)
        if times:
            return Curve(collective, ranks, times, place, of_place[0].dtype)
    return "it has no times and no rates"


def _times(seen: list[Observation], collective: str, ranks: int) -> dict[int, float]:
    found: dict[int, list[float]] = {}
    for one in seen:
        size = one.origin.size_means.total_bytes(one.size_bytes or 0, ranks)
        seconds = None if size is None else _seconds(one, size, collective, ranks)
        if size is not None and seconds is not None and one.dtype == seen[0].dtype:
            found.setdefault(round(size), []).append(seconds)
    return {size: statistics.median(found[size]) for size in sorted(found)}


def _seconds(one: Observation, size: float, collective: str, ranks: int) -> float | None:
    """The time as printed; where only a rate is, what follows from it."""
    if one.seconds is not None:
        return one.seconds
    for rate, factor in ((one.algbw, 1.0), (one.busbw, bus_factor(collective, ranks))):
        if rate is not None and rate.value > 0:
            return size * factor / rate.value
    return None
