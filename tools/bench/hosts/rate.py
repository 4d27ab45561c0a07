"""How much of a link's rate all_reduce uses, and the most that it could use.

For: busbw over the rate of the token bucket. Not for: measuring.

The most that TCP can carry over Ethernet: tc's token bucket counts a packet with its Ethernet header but neither
preamble nor checksum, and of every full packet the payload is

    1448 of 1514 bytes: Ethernet 14, IPv4 20, TCP 20, its timestamps 12        95.64 %

Acknowledgements (66 bytes, at most one for two packets) go the other way, where a ring sends too: with them 93.6 % are
left at worst. A host's bucket holds a burst that passes at once after a pause: that much of a call costs no time.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.effects import World
from bench.hosts.worlds import BURST_BYTES, LINK_BPS, RATE
from ringtree.stats import MedianInterval, bus_factor, busbw

MTU, ETHERNET, IP, TCP, TIMESTAMPS = 1500, 14, 20, 20, 12
HEADERS = IP + TCP + TIMESTAMPS
PACKET = MTU + ETHERNET
PAYLOAD_SHARE = (MTU - HEADERS) / PACKET
ACKNOWLEDGED_SHARE = (MTU - HEADERS) / (PACKET + (HEADERS + ETHERNET) / 2)


@dataclass(frozen=True)
class Share:
    """busbw of one arm at one size over the link's rate, with the interval that its time has."""

    size_bytes: int
    arm: str
    time: MedianInterval
    share: float
    low: float
    high: float


def most(size_bytes: int, num_ranks: int) -> float:
    """Returns the largest share that a call can have: the payload's, and a burst that was saved up before it."""
    sent = bus_factor("all_reduce", num_ranks) * size_bytes / PAYLOAD_SHARE
    return PAYLOAD_SHARE * sent / max(sent - BURST_BYTES, 1.0)


def shares(world: World) -> list[Share]:
    """Returns what every arm reached at every size."""
    found = []
    for place in world.places:
        for size in world.sizes:
            for label in world.labels:
                time = world.time(size, label, place)
                if time is not None:
                    times = (time.median, time.high, time.low)
                    of_times = [share_of(size, one, world.plan.num_ranks) for one in times]
                    found.append(Share(size, label, time, *of_times))
    return found


def share_of(size_bytes: int, seconds: float, num_ranks: int) -> float:
    """Returns busbw over the link's rate."""
    return busbw("all_reduce", size_bytes, seconds, num_ranks) * 8 / LINK_BPS[RATE]


def range_text(share: float, low: float, high: float) -> str:
    """Returns "94.2 % (94.0–94.3 %)"."""
    return f"{100 * share:.1f} % ({100 * low:.1f}–{100 * high:.1f} %)"
