"""Calls of a sweep on the core's simulator.

For: from a call of so many bytes to a schedule and a count of elements; a schedule is made ready once. Not for: what is
asked (asked.py), networks (ringtree.simulate.cluster), the simulator itself (run.py).
"""

from __future__ import annotations

from ringtree.errors import UsageError
from ringtree.nccl.constants import NVLS_CHUNK
from ringtree.schedules import algorithms
from ringtree.schedules.schedule import Schedule, schedule
from ringtree.simulate.cluster import Network, ProtocolCost
from ringtree.simulate.run import SimulatedCall, Simulator
from ringtree.simulate.sweep import Call
from ringtree.traits import BLOCKED

_ITEM_SIZE = 4


class ReadySchedule:
    """A schedule for the simulator, cut as the engine cuts it. `switches`: a rank that is joined to each switch
    that adds up."""

    def __init__(self, of: Schedule) -> None:
        self._blocks = of.num_ranks if of.collective in BLOCKED else 1
        self._name, self._shares = of.name, of.shares
        self._simulator = Simulator(of)
        self._pipelined = of.is_pipelined
        self.switches = list(of.switches)

    def pairs(self) -> list[tuple[int, int]]:
        """Returns the pairs of ranks between which the schedule sends."""
        sources, targets = self._simulator.pairs()
        return list(zip(sources, targets, strict=True))

    def run(
        self, size_bytes: int, channels: int, network: Network, protocol: ProtocolCost, *, record: int = 0
    ) -> SimulatedCall:
        """Simulates a call. `channels`: of all shares of a mix together. Raises UsageError for a size that is not one
        of whole elements on every rank, for channels that a mix can't share, and with `record` for more slices and
        messages than that."""
        # As the engine cuts (core/engine/call_preparer.cpp): whole slots, unless messages pass through ranks in turn or
        # the cluster is emulated.
        slice_bytes = 0 if self._pipelined or not protocol.whole_slots else protocol.slot_bytes
        if self.switches:  # NCCL cuts NVLS finer, so that the ways up and down overlap
            slice_bytes = min(protocol.slot_bytes, NVLS_CHUNK)
        return self._simulator.run(
            network,
            protocol,
            count=_count(size_bytes, self._blocks),
            item_size=_ITEM_SIZE,
            channels=self._copies(channels),
            slice_bytes=slice_bytes,
            record=record,
        )

    def _copies(self, channels: int) -> int:
        """How often the schedule is there, each time with a part of the data: a mix has a channel for each share. One
        channel does them all, as in the engine."""
        copies, rest = divmod(channels, self._shares)
        if rest and channels > 1:
            few, more = copies * self._shares, (copies + 1) * self._shares
            raise UsageError(
                f"{self._name} has {self._shares} shares, which can't share {channels} channels evenly: ask for "
                f"--channels {f'{few} or {more}' if few else more}"
            )
        return max(1, copies)


class CoreSimulator:
    """A Simulator of a sweep. Keeps the schedule of the last call, which the next one mostly has, too."""

    def __init__(self) -> None:
        self._ready: tuple[tuple[str, str, tuple[int, ...]], ReadySchedule] | None = None

    def pairs(self, call: Call) -> list[tuple[int, int]]:
        """Returns the pairs of ranks between which the call's schedule sends."""
        return self._of(call).pairs()

    def switches(self, call: Call) -> list[int]:
        """Returns a rank that is joined to each switch that reduces for the schedule."""
        return self._of(call).switches

    def run(self, call: Call, network: Network, protocol: ProtocolCost) -> SimulatedCall:
        """Simulates one call. Raises UsageError for a size that is not one of whole elements on every rank."""
        self.check(call)
        return self._of(call).run(call.size_bytes, call.channels, network, protocol)

    def check(self, call: Call) -> int:
        """Returns how many elements a call has. Raises UsageError as run() does, without simulating."""
        return _count(call.size_bytes, len(call.hosts) if call.collective in BLOCKED else 1)

    def _of(self, call: Call) -> ReadySchedule:
        key = (call.collective, call.algorithm, call.hosts)
        if self._ready is None or self._ready[0] != key:
            self._ready = (key, ReadySchedule(schedule_of(call)))
        return self._ready[1]


def schedule_of(call: Call) -> Schedule:
    """Returns the schedule of a call. For switches that reduce, hosts that one switch joins count as one."""
    hosts = call.hosts
    if algorithms.uses_switch(call.algorithm):
        hosts = tuple(host // call.domain_hosts for host in hosts)
    return schedule(call.collective, call.algorithm, len(hosts), hosts=hosts)


def _count(size_bytes: int, blocks: int) -> int:
    count, rest = divmod(size_bytes, _ITEM_SIZE * blocks)
    if rest or not count:
        raise UsageError(f"{size_bytes} bytes are not whole elements of {_ITEM_SIZE} bytes in {blocks} blocks")
    return count


CORE = CoreSimulator()
