"""Calls of a sweep on the core's simulator.

For: from a call of so many bytes to a schedule and a count of elements; a schedule is made ready once. Not for: what is
asked (asked.py), networks (ringtree.simulate.cluster), the simulator itself (run.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtree.errors import UsageError
from ringtree.schedules.schedule import schedule
from ringtree.simulate.cluster import Network, ProtocolCost
from ringtree.simulate.run import Simulator
from ringtree.simulate.sweep import Call
from ringtree.traits import BLOCKED

_ITEM_SIZE = 4


@dataclass(frozen=True)
class CoreOutcome:
    """What the core says of a call; critical links without their seconds, those with most first."""

    seconds: float
    per_rank_seconds: NDArray[np.float64]
    link_bytes: NDArray[np.int64]
    link_busy: NDArray[np.float64]
    limit: dict[str, float]
    critical_links: Sequence[int]
    events: int


class CoreSimulator:
    """A Simulator of a sweep. Keeps the schedule of the last call, which the next one mostly has, too."""

    def __init__(self) -> None:
        self._ready: tuple[tuple[str, str, tuple[int, ...]], Simulator] | None = None

    def pairs(self, call: Call) -> list[tuple[int, int]]:
        """Returns the pairs of ranks between which the call's schedule sends."""
        sources, targets = self._simulator(call).pairs()
        return list(zip(sources, targets, strict=True))

    def run(self, call: Call, network: Network, protocol: ProtocolCost) -> CoreOutcome:
        """Simulates one call. Raises UsageError for a size that is not one of whole elements on every rank."""
        blocks = len(call.hosts) if call.collective in BLOCKED else 1
        count, rest = divmod(call.size_bytes, _ITEM_SIZE * blocks)
        if rest or not count:
            raise UsageError(f"{call.size_bytes} bytes are not whole elements of {_ITEM_SIZE} bytes in {blocks} blocks")
        told = self._simulator(call).run(network, protocol, count=count, item_size=_ITEM_SIZE, channels=call.channels)
        links = sorted(told.critical_links, key=lambda one: -one[1])
        return CoreOutcome(
            told.seconds,
            told.per_rank_seconds,
            told.link_bytes,
            told.link_busy,
            told.limit,
            [link for link, _ in links],
            told.events,
        )

    def _simulator(self, call: Call) -> Simulator:
        key = (call.collective, call.algorithm, call.hosts)
        if self._ready is None or self._ready[0] != key:
            made = schedule(call.collective, call.algorithm, len(call.hosts), hosts=call.hosts)
            self._ready = (key, Simulator(made))
        return self._ready[1]


CORE = CoreSimulator()
