"""Measured times beside simulated ones: errors, and whether the order of algorithms is right.

For: what the page says and is judged by. Not for: measuring (measuring.py), the page (page.py).
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ringtree.judge.observations import observations_of_run
from ringtree.results import StoredRun
from ringtree.simulate.calibration import evidence_of
from ringtree.simulate.cluster import Cluster
from ringtree.simulate.on_core import CORE
from ringtree.simulate.sweep import call_seconds

CLEAR = 1.3  # two algorithms whose measured times differ by this much should come in the same order when simulated


@dataclass(frozen=True)
class Held:
    """One cell: seconds measured (median over launches, and their range) and simulated."""

    algorithm: str
    size_bytes: int
    measured: float
    least: float
    most: float
    simulated: float

    @property
    def error(self) -> float:
        """Returns simulated / measured − 1."""
        return self.simulated / self.measured - 1


def hold(stored: StoredRun, cluster: Cluster) -> list[Held]:
    """Returns each cell of a run beside its simulation on `cluster`."""
    found = []
    for cell in evidence_of(list(observations_of_run(stored)), cluster).cells:
        call = cell.call
        seconds = call_seconds(CORE, cluster, call, cell.ranks_per_node, cell.protocol)
        times = cell.seconds.values()
        found.append(Held(call.algorithm, call.size_bytes, cell.median, min(times), max(times), seconds))
    return found


def median_error(cells: Sequence[Held]) -> float:
    """Returns the median of the errors' sizes."""
    return statistics.median(abs(one.error) for one in cells)


def wrong_orders(cells: Sequence[Held]) -> tuple[list[tuple[Held, Held]], int]:
    """Returns the pairs (faster, slower) of one size that differ clearly as measured and are simulated the other way
    round, and how many differ clearly."""
    wrong, clear = [], 0
    for one, other in itertools.permutations(cells, 2):
        if one.size_bytes == other.size_bytes and other.measured > CLEAR * one.measured:
            clear += 1
            if one.simulated > other.simulated:
                wrong.append((one, other))
    return wrong, clear
