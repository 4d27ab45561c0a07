"""The core's simulator, as sweeps call it.

For: the one place that names the core's functions and the order of their arguments. Not for: what is asked (asked.py),
networks (ringtree.simulate.cluster).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringtree import _core
from ringtree.errors import RingtreeError
from ringtree.simulate.cluster import Network, ProtocolCost
from ringtree.simulate.sweep import Call

_NETWORK = (
    "link_rate",
    "link_latency",
    "pair_src",
    "pair_dst",
    "route_offsets",
    "route_links",
    "rank_copy_rate",
    "rank_reduce_rate",
    "launch_cost",
)
_PROTOCOL = ("step_latency", "efficiency", "slot_bytes", "slots")


@dataclass(frozen=True)
class CoreOutcome:
    """What the core says of a call."""

    seconds: float
    per_rank_seconds: NDArray[np.float64]
    link_bytes: NDArray[np.int64]
    link_busy: NDArray[np.float64]
    limit: Mapping[str, float]
    critical_links: Sequence[int]
    events: int


class CoreSimulator:
    """A Simulator. Raises RingtreeError where the core was built without one."""

    def pairs(self, call: Call) -> list[tuple[int, int]]:
        """Returns the pairs of ranks between which the call's schedule sends."""
        sources, targets = _function("simulate_pairs")(**_asked(call))
        return list(zip(map(int, sources), map(int, targets), strict=True))

    def run(self, call: Call, network: Network, protocol: ProtocolCost) -> CoreOutcome:
        """Simulates one call."""
        told = _function("simulate")(
            **_asked(call),
            **{name: getattr(network, name) for name in _NETWORK},
            **{name: getattr(protocol, name) for name in _PROTOCOL},
        )
        return CoreOutcome(
            float(told.seconds),
            np.asarray(told.per_rank_seconds, dtype=np.float64),
            np.asarray(told.link_bytes, dtype=np.int64),
            np.asarray(told.link_busy, dtype=np.float64),
            dict(told.limit),
            [int(link) for link in told.critical_links],
            int(told.events),
        )


CORE = CoreSimulator()


def _asked(call: Call) -> dict[str, Any]:
    return {
        "collective": call.collective,
        "algorithm": call.algorithm,
        "ranks": len(call.hosts),
        "hosts": list(call.hosts),
        "bytes": call.size_bytes,
        "channels": call.channels,
    }


def _function(name: str) -> Any:
    found = getattr(_core, name, None)
    if found is None:
        raise RingtreeError("this build of ringtree's core has no simulator: build it anew (make build)")
    return found
