"""What messages take of the cores at their ends: the slow reference of core/simulate/core_work.cpp, in plain sums.

For: the reference simulation of test_event_simulation.py. Not for: networks without `memory`.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from typing import Any

Link = tuple[int, int, int, int]  # from rank, to rank, tag, channel
ALL_CORES = -2


def seconds_per_byte(memory: Any, gone_through: float) -> float:
    """Returns the table's entry; on a straight line over log(bytes) between two; at the ends the end's; 0 if empty."""
    if not len(memory.bytes):
        return 0.0
    points = [(math.log(size), 1 / float(rate)) for size, rate in zip(memory.bytes, memory.rate, strict=True)]
    at = math.log(gone_through) if gone_through > 0 else -math.inf
    if at <= points[0][0]:
        return points[0][1]
    for (x, y), (further, there) in itertools.pairwise(points):
        if at <= further:
            return y + (there - y) * (at - x) / (further - x)
    return points[-1][1]


def folds_of(step: Any) -> int:
    """Returns how often a step folds one operand into another."""
    return max(1, len(step.recv) + bool(step.src) - 1) if "reduce" in step.verb else 0


class CoreWork:
    """Of a verified schedule with chunks of `parts[channel]` bytes, `ring` bytes of data in the slots of a link; ranks
    fold at `reduce_rate[rank]` bytes/s."""

    def __init__(
        self, schedule: Any, parts: list[list[int]], ring: int, memory: Any, efficiency: float, reduce_rate: Any
    ) -> None:
        self._memory, self._efficiency, self._reduce_rate = memory, efficiency, reduce_rate
        messages: dict[tuple[str, Link], list[tuple[float, float, float, float]]] = defaultdict(list)
        self._buffers: dict[int, float] = defaultdict(float)
        for (channel, chunks), rank in itertools.product(
            enumerate(parts), range(schedule.num_ranks + len(schedule.switches))
        ):
            for step in schedule.program(rank):
                size = float(sum(chunks[chunk] for chunk in step.chunks))
                touched = size * (bool(step.src) + bool(step.dst))
                self._buffers[rank] += touched
                ends = [("in", (peer, rank, tag, channel), 1) for peer, tag in step.recv]
                ends += [("out", (rank, peer, step.send_tag, channel), len(step.send_to)) for peer in step.send_to]
                folded = size * folds_of(step) / max(1, len(step.recv))
                for way, link, readers in ends:
                    messages[way, link].append((size, size / readers, touched / len(ends), folded * (way == "in")))
        self._messages = dict(messages)
        self._slots: dict[int, float] = defaultdict(float)
        for way, link in messages:
            if way == "out":
                held = min(ring, sum(size for size, *_ in messages[way, link])) / efficiency
                self._slots[link[0]] += held
                self._slots[link[1]] += held

    def of(self, way: str, link: Link) -> float:
        """Returns what a byte of the link's messages, on the wire, counts on the core of its sender ("out") or
        receiver ("in")."""
        rank = link[0] if way == "out" else link[1]
        size, written, touched, folded = (sum(column) for column in zip(*self._messages[way, link], strict=True))
        if not size:
            return 1.0
        slots, buffers = self._slots[rank], self._buffers[rank]
        in_slots = seconds_per_byte(self._memory, slots + min(slots, buffers))
        in_buffers = seconds_per_byte(self._memory, slots + buffers)
        in_ring = written / self._efficiency
        seconds = in_ring / self._memory.core_rate + in_ring * in_slots + touched * in_buffers
        seconds += folded / self._reduce_rate[rank]
        return float(seconds * self._memory.core_rate / (size / self._efficiency))

    def copy_seconds(self, rank: int) -> float:
        """Returns seconds a byte that the rank copies for itself."""
        return 2 * seconds_per_byte(self._memory, self._slots[rank] + self._buffers[rank])

    def on_link(self, way: str, link: Link, core: int) -> float:
        """Returns what a byte of a message counts on a link of its route that stands for `core`, when sent ("out")
        or read ("in")."""
        return self.of(way, link) if core == ALL_CORES or core in link[:2] else 1.0
