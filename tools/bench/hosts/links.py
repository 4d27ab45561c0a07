"""What a link itself does: α and β of the models by messages to and fro, and what plain sockets stream through it.

    t(s) = α + s / β, one way: half of a round trip

For: the constants of predictions, measured on the very links by the engine's own send and recv, and the rate that TCP
reaches there. Not for: collectives, or the model (ringtree.model).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from bench.hosts.network import Hosts, run_on_ranks
from ringtree.errors import RingtreeError
from ringtree.results import Record
from ringtree.stats import MedianInterval, median_interval

SMALL, MIDDLE, LARGE = 8, 256 << 10, 1 << 20  # bytes; between the last two, what a byte more costs
BLOCKS, MODES = 8, 2
STREAM_BYTES = 16 << 20
PATIENCE = 300.0  # seconds


class LinkTimes(Record):
    """What the links of one part did: each list has a figure of every block. Seconds are those of a message of so many
    bytes, one way."""

    alone: dict[int, list[float]] = Field(default_factory=dict, description="between the first two ranks")
    together: dict[int, list[float]] = Field(default_factory=dict, description="with all pairs of ranks at once")
    streams: list[float] = Field(
        default_factory=list, description="bytes/s of plain sockets, from host to host in turn"
    )


class Links(Record):
    """By part."""

    parts: dict[str, LinkTimes] = Field(default_factory=dict)


@dataclass(frozen=True)
class Link:
    """`alpha` seconds, `beta` bytes/s, with intervals over blocks."""

    alpha: MedianInterval
    beta: MedianInterval


def link_of(one_way: Mapping[int, Sequence[float]]) -> Link:
    """Returns α, the time of the smallest message, and β, by what a larger message costs more than a middle one.

    Raises RingtreeError if that is nothing, which no link does.
    """
    pairs = zip(one_way[MIDDLE], one_way[LARGE], strict=True)
    betas = [(LARGE - MIDDLE) / (large - middle) for middle, large in pairs if large > middle]
    if not betas:
        raise RingtreeError("messages that are larger did not take longer: these are not times of a link")
    return Link(median_interval(one_way[SMALL]), median_interval(betas))


def measure_messages(hosts: Hosts, seconds: float) -> LinkTimes:
    """Sends messages to and fro for about `seconds`. Raises RingtreeError if a rank fails."""
    sizes = (SMALL, MIDDLE, LARGE)
    each = seconds / MODES / BLOCKS / len(sizes)
    command = [sys.executable, "-m", "bench.hosts.ping", ",".join(map(str, sizes)), str(BLOCKS), f"{each:.4f}"]
    return LinkTimes.model_validate_json(run_on_ranks(hosts, command, PATIENCE + seconds))


def measure_streams(hosts: Hosts) -> list[float]:
    """Returns bytes/s that plain sockets carry from each host to the next, all at once. Raises RingtreeError."""
    addresses = ",".join(hosts.address(host) for host in range(hosts.count))
    command = [sys.executable, "-m", "bench.hosts.stream", str(STREAM_BYTES), str(BLOCKS), addresses]
    return [float(rate) for rate in json.loads(run_on_ranks(hosts, command, PATIENCE))]
