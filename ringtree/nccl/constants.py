"""Constants of NCCL that sentences quote.

For: payload and flags of the protocols, buffers, latencies of the tuning model, rates of links and channels. Not for:
choosing algorithms (tuning.py).

Source of all: NCCL 2.30.7, src/include/device.h, src/init.cc, src/graph/tuning.cc, src/graph/topo.h, as summarised in
the notes that the project was given; the buffers have the same formula in every release that was looked at.
"""

from __future__ import annotations

from typing import NamedTuple

RELEASE = "2.30.7"
RELEASED = "2026-06-11"  # the commit that was read


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

# What the tuning model counts for a call, µs: LL, LL128, Simple.
BASE_LATENCIES = {"Ring": (6.6, 14.0, 8.4), "Tree": (6.8, 14.0, 8.4)}

# What it counts for a whole call by NVLS inside a host, µs (Simple; there is nothing else), and the share of the links'
# rate that NVLS reaches (nvlsEfficiency), by the GPU's target.
NVLS_LATENCY = 25.0
NVLS_CHUNK = 128 << 10  # bytes that it moves at a time, at most (NCCL_NVLS_CHUNKSIZE)
NVLS_SHARES = {"sm_90": 0.85, "sm_100": 0.74}

# What its search takes a link to carry, GB/s: one NVLink by the GPU's target, PCIe 3 x16, a network port of 100 Gb/s,
# and what joins two sockets, by the PCIe generation of the processors that have it (Skylake, AMD's, Sapphire Rapids).
NVLINK_RATES = {"sm_60": 18.0, "sm_70": 20.0, "sm_80": 20.0, "sm_86": 12.0, "sm_90": 20.6, "sm_100": 40.1}
PCIE_3_RATE = 12.0
PORT_100_RATE = 12.0
SOCKET_RATES = {"PCIe 3 x16": 10.0, "PCIe 4 x16": 16.0, "PCIe 5 x16": 22.0}

# The most that one channel of a tree moves inside a host, GB/s, by the GPU's target.
CHANNEL_RATES = {"sm_70": 26.5, "sm_80": 24.0, "sm_90": 38.7, "sm_100": 70.0}
