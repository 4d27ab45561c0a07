"""One simulated call: a schedule's traffic on a network of plain arrays, by the core's discrete events.

For: the time of one collective, what limits it, what each link carries (core/simulate/simulate.h has the rules), and,
if that is asked for, when each slice and message began and ended. Not
for: where networks come from (ringtree.simulate.cluster), sweeps over sizes and hosts, tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ringtree._core import Recording as CoreRecording
from ringtree._core import Traffic, recorded_message, recorded_slice
from ringtree._core import simulate as core_simulate
from ringtree.schedules.schedule import Schedule

Item = TypeVar("Item", bound=np.generic)
TICKS_PER_SECOND = 1e12  # a recording counts whole picoseconds


class MemoryArrays(Protocol):
    """What cores take beside moving messages: as CoreMemory of ringtree.simulate.cluster.network."""

    @property
    def core_rate(self) -> float: ...
    @property
    def bytes(self) -> NDArray[np.float64]: ...
    @property
    def rate(self) -> NDArray[np.float64]: ...
    @property
    def link_core(self) -> NDArray[np.int32]: ...


class NetworkArrays(Protocol):
    """Links of `link_rate` bytes/s and `link_latency` seconds, one direction each; pair i of ranks is joined by the
    links `route_links[route_offsets[i]:route_offsets[i + 1]]`. Rates of ranks are bytes/s of one channel."""

    @property
    def link_rate(self) -> NDArray[np.float64]: ...
    @property
    def link_latency(self) -> NDArray[np.float64]: ...
    @property
    def pair_src(self) -> NDArray[np.int32]: ...
    @property
    def pair_dst(self) -> NDArray[np.int32]: ...
    @property
    def route_offsets(self) -> NDArray[np.int64]: ...
    @property
    def route_links(self) -> NDArray[np.int32]: ...
    @property
    def rank_copy_rate(self) -> NDArray[np.float64]: ...
    @property
    def rank_reduce_rate(self) -> NDArray[np.float64]: ...
    @property
    def launch_cost(self) -> float: ...
    @property
    def memory(self) -> MemoryArrays: ...


class ProtocolCosts(Protocol):
    """Seconds added to each message, payload as a share of what travels, data and flags of a slot, slots of a link."""

    @property
    def step_latency(self) -> float: ...
    @property
    def efficiency(self) -> float: ...
    @property
    def slot_bytes(self) -> int: ...
    @property
    def slots(self) -> int: ...


def _records(size: int, fields: Sequence[tuple[str, str, int]]) -> np.dtype[np.void]:
    names, formats, offsets = zip(*fields, strict=True)
    return np.dtype({"names": list(names), "formats": list(formats), "offsets": list(offsets), "itemsize": size})


# Fields as in core/simulate/recording.h; times in ticks. `step` of a slice is the index in its rank's program.
SLICE = _records(*recorded_slice())
MESSAGE = _records(*recorded_message())


@dataclass(frozen=True)
class Recording:
    """When everything in a call was. `slices`: (n,) of SLICE, in the order in which they ended; `messages`: (m,) of
    MESSAGE, in the order in which they were sent; their `sent_by` and `read_by` count slices."""

    slices: NDArray[np.void]
    messages: NDArray[np.void]


@dataclass(frozen=True)
class SimulatedCall:
    """What was found; times in seconds. `limit`: the accounts of the critical path (launch, latency, link, copy,
    reduce, slots), which add up to `seconds`; `critical_links`: (link, seconds) of the account `link`, most first."""

    seconds: float
    per_rank_seconds: NDArray[np.float64]
    link_bytes: NDArray[np.int64]
    link_busy: NDArray[np.float64]
    limit: dict[str, float]
    critical_links: Sequence[tuple[int, float]]
    events: int
    lanes: int  # that were simulated: one of each class of lanes that are alike
    all_lanes: int
    recording: Recording | None = None


ACCOUNTS = ("launch", "latency", "link", "copy", "reduce", "slots")


class Simulator:
    """A schedule made ready to be simulated, on any network and with any size: making it takes longer than a run."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._traffic = Traffic(schedule.core)

    def pairs(self) -> tuple[list[int], list[int]]:
        """Returns the pairs of ranks that exchange messages: sources and destinations."""
        return self._traffic.pairs()

    def run(
        self,
        network: NetworkArrays,
        protocol: ProtocolCosts,
        *,
        count: int,
        item_size: int,
        channels: int = 1,
        slice_bytes: int = 0,
        symmetry: bool = True,
        record: int = 0,
    ) -> SimulatedCall:
        """Simulates a call of `count` elements (of a block where the collective has blocks, else of the vector).

        `slice_bytes`: 0 for about half as many slices a step as there are slots, as for pipelined schedules; the slot's
        size for whole slots. Without `symmetry` lanes that are alike are simulated one by one, with the same result.
        `record`: if above 0, also says when each slice and message was; everything is then simulated one by one. Raises
        UsageError for a network, protocol or size that can't be, and for more than `record` slices and messages.
        """
        recording = CoreRecording(record) if record > 0 else None
        found = core_simulate(
            self._traffic,
            count,
            item_size,
            channels,
            slice_bytes,
            _array(network.link_rate, np.float64),
            _array(network.link_latency, np.float64),
            _array(network.pair_src, np.int32),
            _array(network.pair_dst, np.int32),
            _array(network.route_offsets, np.int64),
            _array(network.route_links, np.int32),
            _array(network.rank_copy_rate, np.float64),
            _array(network.rank_reduce_rate, np.float64),
            network.launch_cost,
            network.memory.core_rate,
            _array(network.memory.bytes, np.float64),
            _array(network.memory.rate, np.float64),
            _array(network.memory.link_core, np.int32),
            protocol.step_latency,
            protocol.efficiency,
            protocol.slot_bytes,
            protocol.slots,
            symmetry,
            recording,
        )
        return SimulatedCall(
            found.seconds,
            np.array(found.rank_seconds),
            np.array(found.link_bytes, dtype=np.int64),
            np.array(found.link_busy),
            {name: getattr(found.limit, name) for name in ACCOUNTS},
            found.limit.links,
            found.num_events,
            found.num_lanes,
            channels * self._traffic.num_lanes,
            None if recording is None else self._recording(recording),
        )

    def _recording(self, found: CoreRecording) -> Recording:
        slices = np.frombuffer(found.slice_bytes, SLICE).copy()
        # The core counts steps within lanes.
        first: dict[tuple[int, int], int] = {}
        steps: list[int] = []
        for rank in range(self._schedule.num_ranks + len(self._schedule.switches)):
            lanes = [step.lane for step in self._schedule.program(rank)]
            for lane in range(1 + max(lanes, default=-1)):
                first[rank, lane] = len(steps)
                steps += [index for index, of in enumerate(lanes) if of == lane]
        begins = [
            first[rank, lane] for rank, lane in zip(slices["rank"].tolist(), slices["lane"].tolist(), strict=True)
        ]
        slices["step"] = np.array(steps, dtype=np.int32)[np.array(begins, dtype=np.int64) + slices["step"]]
        return Recording(slices, np.frombuffer(found.message_bytes, MESSAGE))


def _array(values: NDArray[Item], kind: type[Item]) -> NDArray[Item]:
    """As the core takes it: contiguous and of this very type, whatever the network has."""
    return np.ascontiguousarray(values, dtype=kind)
