"""The part of NCCL's tuning model that chooses between Ring and Tree for an all_reduce on Hopper GPUs.

For: checking sentences about which algorithm NCCL picks at which size. Not for: predicting times (they are NCCL's own
constants, latency of the network card left out), other collectives, NVLS and CollNet.

Source: NCCL 2.30.7, src/graph/tuning.cc, as summarised in the notes that the project was given. time = latency +
bytes/bandwidth; the least wins. Channels and their rates are what NCCL's search finds on such machines.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ringtree.nccl.constants import BASE_LATENCIES, HOP_LATENCIES
from ringtree.nccl.names import PROTOCOLS


class Machine(NamedTuple):
    """`channels` × `channel_rate` GB/s is the bandwidth of the rings that NCCL's search finds."""

    name: str
    hosts: int
    ranks_per_host: int
    channels: int
    channel_rate: float

    @property
    def num_ranks(self) -> int:
        return self.hosts * self.ranks_per_host


class Choice(NamedTuple):
    """An algorithm and a protocol in NCCL's spelling."""

    algorithm: str
    protocol: str


MACHINES = (
    Machine("one node of 8 Hopper GPUs with NVLink", 1, 8, 12, 30.0),
    Machine("one node of 4 Hopper GPUs with NVLink", 1, 4, 16, 20.0),
    Machine("2 nodes of 8 Hopper GPUs, 8 × 400 Gb/s", 2, 8, 8, 48.0),
    Machine("8 nodes of 8 Hopper GPUs, 8 × 400 Gb/s", 8, 8, 8, 48.0),
)
_OVERHEAD = (1.0, 1.0, 3.0)  # µs of the network for each step, more than one node, Intel and others
# Hopper, by nodes: 1, 2, 4 and more. GB/s.
_LL_MAX = (141.0, 45.0, 35.0)
_RING_LL128 = (36.7, 36.7, 36.7)
_TREE = (38.7, 41.4, 36.0)
_TREE_LL128 = (36.7, 36.7, 29.0)
# What Tree's bandwidth is multiplied with, by log2(bytes / 64).
_CORRECTION = {
    "LL": "1 1 1 1 .9 .8 .7 .7 .7 .7 .6 .5 .4 .4 .5 .6 .7 .8 .9 1 1 1 1",
    "LL128": "1 1 1 1 1 .9 .8 .8 .8 .7 .6 .6 .6 .6 .6 .6 .8 .9 .9 .9 .9 1 1",
    "Simple": ".9 .9 .9 .9 .9 .9 .9 .8 .7 .6 .6 .5 .5 .5 .5 .6 .7 .8 .7 .7 .8 .9 .9",
}


def times(machine: Machine, num_bytes: int) -> dict[Choice, float]:
    """Microseconds that the model has for each choice."""
    return {
        Choice(algorithm, protocol): _latency(machine, algorithm, index)
        + num_bytes / (1000 * _bandwidth(machine, algorithm, index, num_bytes))
        for algorithm in ("Ring", "Tree")
        for index, protocol in enumerate(PROTOCOLS)
    }


def _latency(machine: Machine, algorithm: str, index: int) -> float:
    inside, between = (HOP_LATENCIES[kind][algorithm][index] for kind in ("NVLink", "network"))
    base = BASE_LATENCIES[algorithm][index]
    if _is_ring(algorithm):
        crossing = 2 * (machine.hosts - 1)
        step = max(inside, _OVERHEAD[index]) if machine.hosts > 1 else inside
        return base + (2 * (machine.num_ranks - 1) - crossing) * step + crossing * between
    levels = math.floor(math.log2(machine.hosts))
    return base + 2 * ((machine.ranks_per_host - 1) * inside + levels * between)


def _bandwidth(machine: Machine, algorithm: str, index: int, num_bytes: int) -> float:
    """GB/s of the algorithm: the rings' bandwidth, what the protocol leaves of it, and bytes moved for each byte."""
    row = min(machine.hosts, 4).bit_length() - 1
    bus = machine.channels * machine.channel_rate
    if _is_ring(algorithm):
        of_protocol = (min(_LL_MAX[row], 0.5 * bus), min(0.92 * bus, machine.channels * _RING_LL128[row]), bus)[index]
        return of_protocol * machine.num_ranks / (2 * (machine.num_ranks - 1))
    bus = min(0.92 * bus, machine.channels * _TREE[row])
    share = 7 / 9 if machine.hosts == 1 else 120 / 128
    of_protocol = (min(bus / 3.8, _LL_MAX[row]), min(bus * share, machine.channels * _TREE_LL128[row]), bus)[index]
    table = [float(one) for one in _CORRECTION[PROTOCOLS[index]].split()]
    place = max(0, int(math.log2(max(num_bytes, 64) / 64)))
    return of_protocol * 0.5 * (table[place] if place < len(table) else 1.0)


def _is_ring(algorithm: str) -> bool:
    return algorithm in _RINGS


_RINGS = frozenset(("Ring",))
