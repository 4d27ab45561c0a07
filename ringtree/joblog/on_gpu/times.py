"""When each call of a step was in flight on the GPU, and which part of it is exposed.

For: one rank's step: its calls, the GPU's events. Not for: who took them (record.py), nor sums over steps
(ringtree.joblog.summary).

A call is in flight while one of its kernels runs; a kernel of NCCL also waits in there for ranks that are late. It is
exposed while nothing computes on the same GPU: no other kernel, and no copy within the GPU. What is exposed with
several in flight counts for the one that began first, so that the exposed times of a step add up to no more than the
step. A gap between two kernels is exposed like any other time.

    compute  ■■■■■■■■■■■      ■■■■■■■■
    A            ■■■■■■■■■■■■■■            in flight from begin to end
    B                      ■■■■■■■■■■■■
    exposed             AAAAAA        BB
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ringtree.joblog.on_gpu.events import (
    DeviceEvent,
    Span,
    is_collective,
    is_computing,
    kind_of_kernel,
    length,
    union,
)
from ringtree.joblog.on_gpu.matching import HostCall, match


class CallTime(NamedTuple):
    """Begin of the first of a call's kernels, end of the last, and seconds."""

    begin: float
    end: float
    in_flight: float
    exposed: float


class KernelTotal(NamedTuple):
    """All kernels of one kind."""

    kernel: str
    num: int
    in_flight: float
    exposed: float


@dataclass(frozen=True)
class DeviceStep:
    """A step on the GPU. `exposed`: of all kernels of collectives, whosever they are. `lost`: collectives some of whose
    calls have no kernel that is known for theirs; `unmatched`: kernels of no known call; where there is any of these,
    `kernels` has all by kind."""

    calls: dict[int, CallTime]
    exposed: float
    lost: list[str]
    unmatched: int
    kernels: list[KernelTotal]


def device_step(calls: Sequence[HostCall], events: Iterable[DeviceEvent], begin: float, end: float) -> DeviceStep:
    """Returns the times of a step's calls; those with something to send are given. What lies outside of the step
    (begin, end) does not count."""
    clipped = [
        event if begin <= event.begin and event.end <= end else _clip(event, begin, end)
        for event in events
        if begin < event.end >= event.begin < end
    ]
    found = match(calls, clipped)
    taken = {id(event) for of_call in found.events.values() for event in of_call}
    collective = [event for event in clipped if id(event) in taken or is_collective(event.name)]
    exposed = exposed_of(
        collective, [event for event in clipped if id(event) not in taken and is_computing(event.name)]
    )
    counted: set[int] = set()  # what calls share counts for the first
    times = {}
    for number, of_call in sorted(found.events.items()):
        spans = union((event.begin, event.end) for event in of_call)
        own = sum(exposed[id(event)] for event in of_call if id(event) not in counted)
        counted.update(id(event) for event in of_call)
        first, last = min(event.begin for event in of_call), max(event.end for event in of_call)
        times[number] = CallTime(first, last, length(spans), own)
    lost = sorted({call.collective for call in found.lacking})
    totals = _totals(collective, exposed) if lost or found.unmatched else []
    return DeviceStep(times, sum(exposed.values()), lost, len(found.unmatched), totals)


def _clip(event: DeviceEvent, begin: float, end: float) -> DeviceEvent:
    return event._replace(begin=max(event.begin, begin), end=min(event.end, end))


def exposed_of(collective: Sequence[DeviceEvent], computing: Iterable[DeviceEvent]) -> dict[int, float]:
    """Returns the exposed seconds of each of the collectives' events, by its id()."""
    exposed = {id(event): 0.0 for event in collective}
    busy: dict[int, list[Span]] = defaultdict(list)
    for event in computing:
        busy[event.device].append((event.begin, event.end))
    for device in {event.device for event in collective}:
        of_device = sorted((event for event in collective if event.device == device), key=lambda event: event.begin)
        points: list[tuple[float, int, DeviceEvent | None]] = []
        for begin, end in union(busy[device]):
            points += [(begin, 1, None), (end, -1, None)]
        for event in of_device:
            points += [(event.begin, 1, event), (event.end, -1, event)]
        points.sort(key=lambda point: (point[0], -point[1]))
        under_way: dict[int, None] = {}  # in the order of their begin
        computes, before = 0, 0.0
        for now, change, whose in points:
            if under_way and not computes:
                exposed[next(iter(under_way))] += now - before
            if whose is None:
                computes += change
            elif change > 0:
                under_way[id(whose)] = None
            else:
                under_way.pop(id(whose), None)
            before = now
    return exposed


def _totals(collective: Iterable[DeviceEvent], exposed: dict[int, float]) -> list[KernelTotal]:
    by_kind: dict[str, list[DeviceEvent]] = defaultdict(list)
    for event in collective:
        by_kind[kind_of_kernel(event.name) if is_collective(event.name) else "copies"].append(event)
    return [
        KernelTotal(
            kind, len(of), length(union((one.begin, one.end) for one in of)), sum(exposed[id(one)] for one in of)
        )
        for kind, of in sorted(by_kind.items())
    ]
