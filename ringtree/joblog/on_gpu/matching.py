"""Which kernels a recorded call had.

For: calls of one step and the GPU's events in it, of one rank. Not for: their times (times.py).

A kernel belongs to the call inside which the host launched it: each launch has a time on the host's clock, as has the
begin and the return of each call. A kernel that was launched outside of any is that of the calls before it which have
none, in one group: PyTorch launches what it coalesces when the block ends, and such calls share their kernels. Where
no launch is known, kernels are told by kind and order in their stream, if there are as many as calls; a stream is
taken for a group's if their numbers leave no choice. Anything else is left unmatched, and said.

A call in which copy engines do the work has no kernel, but copies on the GPU that were launched inside it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ringtree.joblog.on_gpu.events import KERNEL_OF, DeviceEvent, fits, is_collective, is_copy_on_device, kind_of_kernel


class HostCall(NamedTuple):
    """A call as the host saw it: from its begin until the backend had taken it."""

    number: int
    collective: str
    group: int
    begin: float
    issued: float


@dataclass
class Matching:
    """`events`: of each call, by its number; several calls may share one. `unmatched`: kernels that belong to no call.
    `lacking`: calls that have none."""

    events: dict[int, list[DeviceEvent]] = field(default_factory=lambda: defaultdict(list))
    unmatched: list[DeviceEvent] = field(default_factory=list)
    lacking: list[HostCall] = field(default_factory=list)


def match(calls: Sequence[HostCall], events: Iterable[DeviceEvent]) -> Matching:
    """Returns which of the events are which call's. `calls`: those that have something to send."""
    events = list(events)
    ordered = sorted(calls, key=lambda call: (call.begin, call.number))
    found = Matching()
    inside = _Inside(ordered)
    outside, unknown = [], []
    for kernel in sorted((event for event in events if is_collective(event.name)), key=lambda event: event.begin):
        if kernel.launched is None:
            unknown.append(kernel)
        elif (call := inside.find(kernel.launched, kernel.name)) is not None:
            found.events[call.number].append(kernel)
        else:
            outside.append(kernel)
    _match_coalesced(ordered, outside, found)
    _match_by_order([call for call in ordered if call.number not in found.events], unknown, found)
    without = {call.number for call in ordered if call.number not in found.events}
    for copy in events:
        if without and copy.launched is not None and is_copy_on_device(copy.name):
            call = inside.find(copy.launched)
            if call is not None and call.number in without:
                found.events[call.number].append(copy)
    found.lacking = [call for call in ordered if call.number not in found.events]
    return found


class _Inside:
    """Finds the call that was under way on the host."""

    def __init__(self, ordered: Sequence[HostCall]) -> None:
        self._calls = ordered
        self._begins = [call.begin for call in ordered]
        self._last_issued: list[float] = []  # the latest return of a call and those before it
        for call in ordered:
            self._last_issued.append(max(call.issued, self._last_issued[-1] if self._last_issued else call.issued))

    def find(self, moment: float, kernel: str | None = None) -> HostCall | None:
        """Of several, as threads may issue calls at once: the latest that fits the kernel, else the latest."""
        latest = None
        for at in range(bisect_right(self._begins, moment) - 1, -1, -1):
            if self._last_issued[at] < moment:
                break
            if self._calls[at].issued >= moment:
                if kernel is None or fits(self._calls[at].collective, kernel):
                    return self._calls[at]
                latest = latest or self._calls[at]
        return latest


def _match_coalesced(ordered: Sequence[HostCall], kernels: Iterable[DeviceEvent], found: Matching) -> None:
    """Kernels that were launched after their calls had returned."""
    begins = [call.begin for call in ordered]
    own = set(found.events)  # calls that have kernels by themselves
    launches: dict[int, float] = {}  # of what calls share, the last
    for kernel in sorted(kernels, key=lambda event: event.launched or 0.0):
        assert kernel.launched is not None, "others are matched by their order"
        block: list[HostCall] = []
        for at in range(bisect_right(begins, kernel.launched) - 1, -1, -1):
            call = ordered[at]
            if call.number in own or not fits(call.collective, kernel.name):
                break
            if block and call.group != block[-1].group:
                break
            if block and launches.get(call.number, block[-1].begin) < block[-1].begin:
                break  # of another block, which ended before this one began
            block.append(call)
        for call in block:
            found.events[call.number].append(kernel)
            launches[call.number] = kernel.launched
        if not block:
            found.unmatched.append(kernel)


def _match_by_order(calls: Iterable[HostCall], kernels: Iterable[DeviceEvent], found: Matching) -> None:
    """Kernels whose launch is not known."""
    by_kind: dict[str, dict[tuple[int, int], list[DeviceEvent]]] = defaultdict(lambda: defaultdict(list))
    for kernel in kernels:
        by_kind[kind_of_kernel(kernel.name)][kernel.device, kernel.stream].append(kernel)
    calls_of: dict[str, dict[int, list[HostCall]]] = defaultdict(lambda: defaultdict(list))
    for call in calls:
        calls_of[KERNEL_OF.get(call.collective, "")][call.group].append(call)
    for kind, streams in by_kind.items():
        pairs = _pair(list(calls_of[kind].values()), list(streams.values()))
        if pairs is None:
            found.unmatched += [kernel for stream in streams.values() for kernel in stream]
            continue
        for group, stream in pairs:
            for call, kernel in zip(group, stream, strict=True):
                found.events[call.number].append(kernel)


def _pair(
    groups: list[list[HostCall]], streams: list[list[DeviceEvent]]
) -> list[tuple[list[HostCall], list[DeviceEvent]]] | None:
    """Returns each group's stream; None where numbers differ, or leave a choice."""
    lengths = sorted(len(group) for group in groups)
    if lengths != sorted(len(stream) for stream in streams) or len(set(lengths)) != len(lengths):
        return None
    return list(zip(sorted(groups, key=len), sorted(streams, key=len), strict=True))
