"""Where two algorithms change places between hosts: measured, and as the model says from the links' α and β.

For: holding ringtree.model against real sockets. Not for: finding the measured crossover (ringtree.stats.crossover, by
ringtree.judge.summary) or α and β (links.py).

The model is the sliced recurrence: a latency, a rate, and nothing else that takes time. It is asked for the size at
which two schedules take equally long, at the medians of α and β and at the corners of their intervals.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import ringtree
from bench.hosts.links import Link
from ringtree import model

ITEM = 4  # float32
SMALLEST, LARGEST = 16, 4 << 20  # bytes, between which a crossover is looked for
STEPS = 12  # bisections in the logarithm of the size: to two in ten thousand


@dataclass(frozen=True)
class Predicted:
    """Bytes at which two algorithms take equally long; `low`, `high`: over the corners of the intervals of α and β."""

    estimate: float
    low: float
    high: float
    faster_below: str


def seconds(algorithm: str, hosts: int, ranks_per_host: int, size_bytes: int, alpha: float, beta: float) -> float:
    """Returns the model's time of one all_reduce."""
    cluster = ringtree.Emulation(hosts=hosts, ranks_per_host=ranks_per_host, alpha=alpha, beta=beta)
    return model.time_on_cluster(_schedule(algorithm, hosts, ranks_per_host), size_bytes // ITEM, ITEM, cluster)


def predict(first: str, second: str, hosts: int, ranks_per_host: int, link: Link) -> Predicted | None:
    """Returns where the model has the two change places; None if it has one of them ahead everywhere."""

    def crossing(alpha: float, beta: float) -> tuple[float, bool] | None:
        def difference(size: float) -> float:
            a, b = (seconds(name, hosts, ranks_per_host, round(size), alpha, beta) for name in (first, second))
            return a - b

        return _crossing(difference)

    found = crossing(link.alpha.median, link.beta.median)
    if found is None:
        return None
    corners = itertools.product((link.alpha.low, link.alpha.high), (link.beta.low, link.beta.high))
    ends = [at[0] for at in itertools.starmap(crossing, corners) if at is not None]
    return Predicted(found[0], min([found[0], *ends]), max([found[0], *ends]), first if found[1] else second)


def _crossing(difference: Callable[[float], float]) -> tuple[float, bool] | None:
    """Where `difference` changes its sign first, and whether it is negative before."""
    low, high = float(SMALLEST), 2.0 * SMALLEST
    before = difference(low) < 0
    # From below, as the model takes longest for large sizes.
    while (difference(high) < 0) == before:
        low, high = high, 2 * high
        if high > LARGEST:
            return None
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        if (difference(middle) < 0) == before:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high), before


@cache
def _schedule(algorithm: str, hosts: int, ranks_per_host: int) -> ringtree.Schedule:
    of_ranks = [rank // ranks_per_host for rank in range(hosts * ranks_per_host)]
    return ringtree.schedule("all_reduce", algorithm, ranks=len(of_ranks), hosts=of_ranks)
