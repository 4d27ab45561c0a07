"""From options to calls that can be traced.

For: defaults, and every check that can be made before a process is started. Not for: parsing options (ringtree.cli), or
running.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from ringtree._core import trace_event_bytes
from ringtree.comm.communicator import protocols as known_protocols
from ringtree.comm.rank_trace import DEFAULT_EVENTS
from ringtree.errors import UsageError
from ringtree.measure.environment import available_memory, lacks_memory
from ringtree.measure.exact_data import DTYPES
from ringtree.measure.request import Request, emulated_cluster, num_ranks_of
from ringtree.results import EmulatedCluster, Record
from ringtree.schedules import algorithms as builtin
from ringtree.traits import COLLECTIVES, WHOLE
from ringtree.units import parse_size

AUTO = "auto"
MAX_CALLS = 10_000


@dataclass(frozen=True)
class Asked:
    """The options as they were given; None: not said, take the default."""

    ranks: int | None = None
    size: str = "1M"
    collective: str = "all_reduce"
    algorithm: str = AUTO
    protocol: str = AUTO
    channels: int = 1
    dtype: str = "float32"
    calls: int = 3
    warm_up: int = 5
    events: int = DEFAULT_EVENTS
    shared_buffers: bool = False
    emulate: str | None = None
    alpha: str | None = None
    beta: str | None = None


class Options(Record):
    """Calls that can be made: every choice made, every value checked."""

    collective: str
    algorithm: str
    protocol: str
    num_ranks: int
    num_channels: int
    dtype: str
    count: int = Field(description="elements of the vector, or of one rank's block where the collective has blocks")
    size_bytes: int = Field(description="of the whole vector")
    num_calls: int = Field(description="that are traced; as many are timed untraced before")
    num_warm_up: int
    capacity: int = Field(description="events that each rank has memory for")
    shared_buffers: bool
    emulation: EmulatedCluster | None


def make_options(asked: Asked) -> Options:
    """Returns calls that can be made. Raises UsageError."""
    if asked.collective not in COLLECTIVES:
        raise UsageError(f"unknown collective {asked.collective!r}; choose from: {', '.join(COLLECTIVES)}")
    algorithms = [AUTO, *builtin.names(asked.collective, several_hosts=asked.emulate is not None)]
    if asked.algorithm not in algorithms:
        raise UsageError(
            f"unknown algorithm {asked.algorithm!r} for {asked.collective}; choose from: {', '.join(algorithms)}"
        )
    protocols = [AUTO, *known_protocols()]
    if asked.protocol not in protocols:
        raise UsageError(f"unknown protocol {asked.protocol!r}; choose from: {', '.join(protocols)}")
    if asked.dtype not in DTYPES:
        raise UsageError(f"unknown dtype {asked.dtype!r}; choose from: {', '.join(DTYPES)}")
    request = Request(ranks=asked.ranks, emulate=asked.emulate, alpha=asked.alpha, beta=asked.beta)
    emulation = emulated_cluster(request)
    num_ranks = num_ranks_of(request, emulation)
    _check_range("--calls", asked.calls, 1, MAX_CALLS)
    _check_range("--warm-up", asked.warm_up, 0, MAX_CALLS)
    _check_range("--events", asked.events, 1, 1 << 24)
    _check_range("--channels", asked.channels, 1, 64)
    size_bytes = parse_size(asked.size)
    blocks = 1 if asked.collective in WHOLE else num_ranks
    unit = np.dtype(asked.dtype).itemsize * blocks
    if size_bytes % unit:
        of_blocks = "" if blocks == 1 else f" in {blocks} equal blocks"
        raise UsageError(
            f"--size {asked.size} can't be cut into {asked.dtype}{of_blocks}: use a multiple of {unit} bytes"
        )
    needed = (2 * size_bytes + asked.events * trace_event_bytes()) * num_ranks
    lacks = lacks_memory(needed, num_ranks, available_memory())
    if lacks is not None:
        raise UsageError(f"{lacks}: use a smaller --size or fewer --events")
    return Options(
        collective=asked.collective,
        algorithm=asked.algorithm,
        protocol=asked.protocol,
        num_ranks=num_ranks,
        num_channels=asked.channels,
        dtype=asked.dtype,
        count=size_bytes // unit,
        size_bytes=size_bytes,
        num_calls=asked.calls,
        num_warm_up=asked.warm_up,
        capacity=asked.events,
        shared_buffers=asked.shared_buffers,
        emulation=emulation,
    )


def _check_range(option: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UsageError(f"{option} must lie in {least}..{most}, not {value}")
