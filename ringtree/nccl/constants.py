"""Constants of NCCL that sentences quote.

For: payload and flags of the protocols, buffers, hop latencies of the tuning model. Not for: choosing algorithms
(tuning.py). Source of all: NCCL 2.30.7, src/include/device.h, src/init.cc, src/graph/tuning.cc, as summarised in
the notes that the project was given; the buffers have the same formula in every release that was looked at.
"""

from __future__ import annotations

from typing import NamedTuple

RELEASE = "2.30.7"


class Protocol(NamedTuple):
    """Bytes of data and of flags in a line (0: no flags in the data), and a channel's buffer with its slots."""

    data: int
    flags: int
    buffer: int
    formula: str

    @property
    def share(self) -> float:
        """The part of what is sent that is data."""
        return self.data / (self.data + self.flags)

    @property
    def slot(self) -> int:
        """Bytes of one slot."""
        return self.buffer // SLOTS


SLOTS = 8
PROTOCOLS = {
    "Simple": Protocol(1, 0, 4 << 20, "4 MiB"),
    "LL": Protocol(4, 4, 8 * 512 * 8 * 16, "8 lines · 512 threads · 8 slots · 16 B"),
    "LL128": Protocol(120, 8, 120 * 640 * 8 * 8, "120 elements · 640 threads · 8 slots · 8 B"),
}

# What the tuning model counts for a hop, µs: LL, LL128, Simple; of Ring and of Tree.
HOP_LATENCIES = {
    "NVLink": {"Ring": (0.6, 1.9, 3.4), "Tree": (0.6, 1.25, 4.0)},
    "PCIe": {"Ring": (1.0, 2.5, 5.7), "Tree": (1.0, 1.9, 4.0)},
    "network": {"Ring": (2.7, 4.0, 14.0), "Tree": (5.0, 8.5, 14.0)},
}
