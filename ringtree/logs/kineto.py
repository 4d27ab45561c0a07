"""Traces of PyTorch's profiler (Kineto; .json and .json.gz): which collectives a program calls.

For: counting calls and kernels by collective, size, type and group. Not for: timelines, overlap (HTA does that), what
algorithm ran: a kernel's name (…_RING_LL) says what was compiled together and not what was chosen.

NCCL's calls are events record_param_comms, its kernels carry the same description. Other backends (gloo:all_reduce)
describe the call by its input's shape only.
"""

from __future__ import annotations

import math
import statistics
from array import array
from collections import Counter
from random import Random
from typing import Any, BinaryIO, NamedTuple

from pydantic import Field

from ringtree.logs.json_stream import give_members, integer, text
from ringtree.logs.reading import Context, Sink, UnreadableFileError
from ringtree.logs.records import Document, Format, Shape
from ringtree.logs.words import torch_backend, torch_collective

_MAX_KEYS = 1000
_MAX_DURATIONS = 4096  # of one key; beyond, a random sample of them
_MAX_KERNELS = 20
_MICROSECOND = 1e-6
_OTHER_BACKENDS = frozenset(("gloo", "mpi", "ucc", "xccl", "hccl", "ringtree"))
_KERNEL_NAMES = ("nccl", "rccl", "mscclpp")


class TracedCalls(Shape):
    """Calls or kernels that have all of this in common. Durations in seconds.

    A kernel's duration holds the waiting for the slowest rank: it is not a time of the collective. `median_is_exact`:
    from all durations; else from a random sample of 4,096 of them.
    """

    collective: str | None = Field(description="ringtree's word; None where the source's word is none of a collective")
    name: str = Field(description='the source\'s word, "_allgather_base"')
    group_size: int | None
    group: str | None = Field(description='"Process Group Name"')
    group_description: str | None
    dtype: str | None
    in_elements: int | None
    out_elements: int | None
    num_calls: int = Field(description="events of the CPU")
    num_kernels: int = Field(description="events of the GPU")
    kernel_seconds: float = Field(description="sum over kernels")
    kernel_median_seconds: float | None
    kernel_max_seconds: float | None
    median_is_exact: bool
    kernels: dict[str, int] = Field(
        description="kernels by name: what was compiled together, so RING_LL in a name does not say what ran"
    )


class TraceCollectives(Shape):
    """A trace of PyTorch's profiler. `num_bare_kernels`: NCCL kernels that say nothing of their collective."""

    rank: int | None
    world_size: int | None
    backend: str | None
    nccl_version: str | None
    num_events: int
    calls: list[TracedCalls]
    num_bare_kernels: int
    bare_kernel_seconds: float
    complete: bool = Field(description="the file was read to its end")
    left_out: dict[str, int] = Field(description="what did not fit into memory: how many events")


class _Key(NamedTuple):
    name: str
    group_size: int | None
    group: str | None
    group_description: str | None
    dtype: str | None
    in_elements: int | None
    out_elements: int | None


class _Durations:
    """Sum, largest and median of many numbers, the median of a sample of them if they are too many."""

    def __init__(self, random: Random) -> None:
        self.num = 0
        self.sum = 0.0
        self.max = 0.0
        self._random = random
        self._kept = array("d")

    def add(self, seconds: float) -> None:
        self.num += 1
        self.sum += seconds
        self.max = max(self.max, seconds)
        if len(self._kept) < _MAX_DURATIONS:
            self._kept.append(seconds)
        elif (place := self._random.randrange(self.num)) < _MAX_DURATIONS:
            self._kept[place] = seconds

    def median(self) -> float | None:
        return statistics.median(self._kept) if self._kept else None

    @property
    def exact(self) -> bool:
        return self.num <= _MAX_DURATIONS


class _Calls:
    def __init__(self, random: Random) -> None:
        self.num_calls = 0
        self.durations = _Durations(random)
        self.kernels: Counter[str] = Counter()


class _Trace:
    """What was counted so far."""

    def __init__(self) -> None:
        self._random = Random(0)
        self._calls: dict[_Key, _Calls] = {}
        self._bare = _Durations(self._random)
        self._left_out: Counter[str] = Counter()
        self._info: dict[str, Any] = {}
        self.num_events = 0

    def member(self, key: str, value: Any) -> None:
        if key == "distributedInfo" and isinstance(value, dict):
            self._info = value
        elif key in ("traceEvents", "") and isinstance(value, dict):
            self.num_events += 1
            if value.get("ph") == "X":
                self._event(value)

    def _event(self, event: dict[str, Any]) -> None:
        name, category, args = event.get("name"), event.get("cat"), event.get("args")
        if not isinstance(name, str):
            return
        args = args if isinstance(args, dict) else {}
        described = isinstance(args.get("Collective name"), str)
        if name == "record_param_comms":
            if described and (calls := self._of(_described(args))) is not None:
                calls.num_calls += 1
        elif category == "kernel" and name.startswith(_KERNEL_NAMES):
            seconds = _duration(event)
            if not described:
                self._bare.add(seconds)
            elif (calls := self._of(_described(args))) is not None:
                calls.durations.add(seconds)
                if name in calls.kernels or len(calls.kernels) < _MAX_KERNELS:
                    calls.kernels[name[:200]] += 1
        elif category == "user_annotation" and torch_backend(name) in _OTHER_BACKENDS and torch_collective(name):
            calls = self._of(_by_shape(name, args))
            if calls is not None:
                calls.num_calls += 1

    def _of(self, key: _Key) -> _Calls | None:
        calls = self._calls.get(key)
        if calls is None:
            if len(self._calls) >= _MAX_KEYS:
                self._left_out["calls beyond the first kinds"] += 1
                return None
            calls = self._calls[key] = _Calls(self._random)
        return calls

    def shape(self, complete: bool) -> TraceCollectives:
        ordered = sorted(self._calls.items(), key=lambda item: (-item[1].durations.sum, -item[1].num_calls))
        return TraceCollectives(
            rank=integer(self._info.get("rank")),
            world_size=integer(self._info.get("world_size")),
            backend=text(self._info.get("backend")),
            nccl_version=text(self._info.get("nccl_version")),
            num_events=self.num_events,
            calls=[_record(key, calls) for key, calls in ordered],
            num_bare_kernels=self._bare.num,
            bare_kernel_seconds=self._bare.sum,
            complete=complete,
            left_out=dict(self._left_out),
        )


class KinetoReader:
    """A FileReader."""

    format = Format("kineto-trace")

    def sniff(self, head: str) -> bool:
        """Says whether the file begins like a trace."""
        if head.startswith("["):
            return '"ph"' in head and '"ts"' in head
        return head.startswith("{") and (
            '"traceEvents"' in head or ('"schemaVersion"' in head and '"deviceProp' in head)
        )

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Emits one document, of as much of the trace as could be read."""
        trace = _Trace()
        why = give_members(source, ("traceEvents",), trace.member)
        if why and not trace.num_events:
            raise UnreadableFileError(f"a trace without events: {why}")
        title = "collectives of a trace" if trace.num_events else "a trace without events"
        sink.emit(Document(self.format, "trace_collectives", 0, trace.shape(not why).plain(), title))
        if why:
            sink.skip("a trace that ends before its end", 0, why)


def _described(args: dict[str, Any]) -> _Key:
    return _Key(
        name=args["Collective name"][:60],
        group_size=integer(args.get("Group size")),
        group=text(args.get("Process Group Name")),
        group_description=text(args.get("Process Group Description")),
        dtype=text(args.get("dtype")),
        in_elements=integer(args.get("In msg nelems")),
        out_elements=integer(args.get("Out msg nelems")),
    )


def _by_shape(name: str, args: dict[str, Any]) -> _Key:
    dims, types = args.get("Input Dims"), args.get("Input type")
    elements: int | None = None
    if isinstance(dims, list) and all(isinstance(dim, list) for dim in dims):
        flat = [number for dim in dims for number in dim]
        if all(isinstance(number, int) and 0 <= number < 1 << 48 for number in flat) and len(flat) <= 64:
            elements = sum(math.prod(dim) for dim in dims)
    first = types[0] if isinstance(types, list) and types else None
    return _Key(name[:60], None, None, None, text(first), elements, None)


def _record(key: _Key, calls: _Calls) -> TracedCalls:
    durations = calls.durations
    return TracedCalls(
        **key._asdict(),
        collective=torch_collective(key.name),
        num_calls=calls.num_calls,
        num_kernels=durations.num,
        kernel_seconds=durations.sum,
        kernel_median_seconds=durations.median(),
        kernel_max_seconds=durations.max if durations.num else None,
        median_is_exact=durations.exact,
        kernels=dict(calls.kernels),
    )


def _duration(event: dict[str, Any]) -> float:
    """Returns an event's duration in seconds; 0 where it has none that is one."""
    try:
        duration = float(event.get("dur") or 0)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return duration * _MICROSECOND if 0 <= duration < 1e15 else 0.0
