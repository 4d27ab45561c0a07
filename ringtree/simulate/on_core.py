"""Calls of a sweep on the core's simulator.

For: from a call of so many bytes to a schedule and a count of elements; a schedule is made ready once. Not for: what is
asked (asked.py), networks (ringtree.simulate.cluster), the simulator itself (run.py).
"""

from __future__ import annotations

from ringtree.errors import UsageError
from ringtree.schedules.schedule import schedule
from ringtree.simulate.cluster import Network, ProtocolCost
from ringtree.simulate.run import SimulatedCall, Simulator
from ringtree.simulate.sweep import Call
from ringtree.traits import BLOCKED

_ITEM_SIZE = 4


class CoreSimulator:
    """A Simulator of a sweep. Keeps the schedule of the last call, which the next one mostly has, too."""

    def __init__(self) -> None:
        self._ready: tuple[tuple[str, str, tuple[int, ...]], Simulator, bool] | None = None

    def pairs(self, call: Call) -> list[tuple[int, int]]:
        """Returns the pairs of ranks between which the call's schedule sends."""
        sources, targets = self._simulator(call)[0].pairs()
        return list(zip(sources, targets, strict=True))

    def run(self, call: Call, network: Network, protocol: ProtocolCost) -> SimulatedCall:
        """Simulates one call. Raises UsageError for a size that is not one of whole elements on every rank."""
        count = self.check(call)
        simulator, pipelined = self._simulator(call)
        # As the engine cuts (core/engine/call_preparer.cpp): whole slots, unless messages pass through ranks in turn or
        # the cluster is emulated.
        slice_bytes = 0 if pipelined or not protocol.whole_slots else protocol.slot_bytes
        return simulator.run(
            network, protocol, count=count, item_size=_ITEM_SIZE, channels=call.channels, slice_bytes=slice_bytes
        )

    def check(self, call: Call) -> int:
        """Returns how many elements a call has. Raises UsageError as run() does, without simulating."""
        blocks = len(call.hosts) if call.collective in BLOCKED else 1
        count, rest = divmod(call.size_bytes, _ITEM_SIZE * blocks)
        if rest or not count:
            raise UsageError(f"{call.size_bytes} bytes are not whole elements of {_ITEM_SIZE} bytes in {blocks} blocks")
        return count

    def _simulator(self, call: Call) -> tuple[Simulator, bool]:
        """Also whether the schedule is pipelined, as the engine sees it."""
        key = (call.collective, call.algorithm, call.hosts)
        if self._ready is None or self._ready[0] != key:
            made = schedule(call.collective, call.algorithm, len(call.hosts), hosts=call.hosts)
            self._ready = (key, Simulator(made), made.cost().is_pipelined)
        return self._ready[1:]


CORE = CoreSimulator()
