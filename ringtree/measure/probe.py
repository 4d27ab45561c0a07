"""Probes of the machine: the time of a hand-off from core to core, and the rate at which cores copy memory.

    from ringtree.measure.probe import Handoff, copy_rates
    Handoff().measure()                                   # 3.1e-08 seconds between near cores
    copy_rates([1 << 20], num_cores=2, seconds=0.005)     # {1048576: 4.8e+10} bytes per second and core

For: telling near from far placements of virtual cores, and floors under times. Not for: deciding which hand-off is near
(ringtree.stats), or deriving floors (ringtree.measure.limits).
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable

from ringtree._core import HandoffProbe, copy_rate
from ringtree.errors import UsageError

# Seconds of bouncing: more finds a best chunk that is better by a few per cent; waking the threads takes twice this.
DEFAULT_SECONDS = 30e-6
DEFAULT_PATIENCE = 0.05
DEFAULT_PAIRS = 4
DEFAULT_MEMORY_CAP = 1 << 30


def usable_cores() -> list[int]:
    """Returns the cores that the calling thread may run on, ascending."""
    return sorted(os.sched_getaffinity(0))


def core_pairs(affinity: Iterable[int], limit: int = DEFAULT_PAIRS) -> list[tuple[int, int]]:
    """Returns at most `limit` pairs of cores of `affinity` that are next to each other in number.

    More neighbours than that are thinned out evenly, so that pairs from one end to the other stay; the first and the
    last are among them unless `limit` is 1. Empty with fewer than two cores. Raises UsageError if `limit` is below 1.
    """
    if limit < 1:
        raise UsageError(f"at least one pair of cores must be allowed, not {limit}")
    cores = sorted(set(affinity))
    pairs = list(itertools.pairwise(cores))
    if len(pairs) <= limit:
        return pairs
    return [pairs[i * (len(pairs) - 1) // max(1, limit - 1)] for i in range(limit)]


class Handoff:
    """Probes the hand-off time of a few pairs of neighbouring cores, as often as wanted.

    Each pair keeps two threads that sleep between measurements, pinned to their cores; the caller's own affinity is not
    changed. Whoever measures should keep everybody else off these cores meanwhile.
    """

    def __init__(
        self, affinity: Iterable[int] | None = None, limit: int = DEFAULT_PAIRS, patience: float = DEFAULT_PATIENCE
    ) -> None:
        """`affinity`: the cores to choose pairs from, by default those that the caller may use. `limit`: pairs at most.
        `patience`: seconds, 0 to 60, that a pair is waited for beyond its measurement. Raises UsageError.
        """
        self.pairs = core_pairs(usable_cores() if affinity is None else affinity, limit)
        self._probes = [HandoffProbe(a, b, patience) for a, b in self.pairs]

    def times(self, seconds: float = DEFAULT_SECONDS) -> list[float | None]:
        """Probes one pair after the other for `seconds` (0 to 60) each; returns one way from core to core, seconds.

        In the order of `pairs`; None: the pair did not answer in time. Raises UsageError.
        """
        return [probe.measure(seconds) for probe in self._probes]

    def measure(self, seconds: float = DEFAULT_SECONDS) -> float | None:
        """As times(), but returns only the largest: the slowest link of those probed decides near or far.

        A pair that does not answer is left out; None if none answers, and with one core.
        """
        return max((time for time in self.times(seconds) if time is not None), default=None)


def copy_rates(
    sizes: Collection[int], num_cores: int, seconds: float, memory_cap: int = DEFAULT_MEMORY_CAP
) -> dict[int, float]:
    """Returns, for each of `sizes`, the bytes per second that one of `num_cores` cores copies while all of them do.

    Each core copies `size` bytes (read once, written once) between two buffers of its own for `seconds` (0 to 60); the
    figure is the fastest core's best short chunk, as for a lower bound of times. The cores are the first ones that the
    caller may use. A size that could not be measured, because a core did not answer or memory is short, is left out.
    Raises UsageError for a size below 1, a size that needs more than `memory_cap` bytes (twice the size on every core),
    or more cores than there are.
    """
    cores = usable_cores()
    if not 1 <= num_cores <= len(cores):
        raise UsageError(f"{num_cores} cores can't copy, {len(cores)} may be used")
    if any(size < 1 for size in sizes):
        raise UsageError(f"sizes must be at least 1 byte, not {min(sizes)}")
    found = {size: _rate(size, cores[:num_cores], seconds, memory_cap) for size in sizes}
    return {size: rate for size, rate in found.items() if rate is not None}


def _rate(size: int, cores: list[int], seconds: float, memory_cap: int) -> float | None:
    try:
        return copy_rate(size, cores, seconds, memory_cap)
    except MemoryError:
        return None
