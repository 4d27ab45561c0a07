"""Dumps of PyTorch's flight recorder: which calls of which process group did not end.

For: one rank's dump, JSON or pickle. Not for: comparing ranks (that needs all their dumps), stack frames.

A pickle is never given to pickle.load: plain_pickle.py reads plain values, which PyTorch writes, and refuses the rest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

from pydantic import Field

from ringtree.logs.json_stream import give_members, integer, text
from ringtree.logs.plain_pickle import MAX_BYTES, NotPlainError, loads
from ringtree.logs.reading import Context, Sink, UnreadableFileError
from ringtree.logs.records import Document, Format, Shape
from ringtree.logs.words import torch_collective

_MAX_CALLS = 100  # of one group, not completed
_MAX_MISMATCHES = 20
_MAX_GROUPS = 1000
_MAX_NAMES = 50
_PICKLE = "\ufffd"  # 0x80, the first byte, where text was expected
_KEYS = ("entries", "pg_config", "pg_status", "nccl_comm_state", "version", "comm_lib_version")


class RecordedCall(Shape):
    """A call of the flight recorder that has not ended. Times of creation in nanoseconds of the recorder's clock."""

    record_id: int | None
    sequence: int | None = Field(description="collective_seq_id, or p2p_seq_id if is_p2p")
    is_p2p: bool
    name: str
    collective: str | None
    state: str
    input_sizes: list[list[int]]
    input_dtypes: list[str]
    output_sizes: list[list[int]]
    output_dtypes: list[str]
    time_created_ns: int | None
    timeout_ms: int | None


class RecordedGroup(Shape):
    """A process group of the flight recorder. What it says of itself: last sequence numbers (-1: none), as recorded."""

    id: str
    name: str | None
    description: str | None
    ranks: list[int]
    last_enqueued: int | None
    last_started: int | None
    last_completed: int | None
    num_entries: int
    states: dict[str, int]
    num_retired: int = Field(description="entries that are no longer watched: ended, whatever `state` says")
    first_sequence: int | None
    last_sequence: int | None
    num_not_completed: int = Field(description="neither completed nor retired")
    not_completed: list[RecordedCall] = Field(description="the first ones")
    durations: dict[str, float] = Field(description="calls that have a duration, by name: mean seconds")
    mismatches: list[str] = Field(description="what contradicts itself in this file")


class FlightRecorder(Shape):
    """A dump of PyTorch's flight recorder: one rank's view."""

    version: str | None
    library_version: str | None
    num_entries: int
    groups: list[RecordedGroup]
    mismatches: list[str]
    complete: bool = Field(description="the file was read to its end")


class FlightRecorderReader:
    """A FileReader."""

    format = Format("flight-recorder")

    def sniff(self, head: str) -> bool:
        """Says whether the file begins like a dump: as JSON, or as a pickle of a dict with the dump's keys."""
        if head.startswith(_PICKLE) and head[1:2] in ("\x02", "\x03", "\x04", "\x05"):
            return '"entries"' not in head and ("entries" in head or "pg_config" in head)
        keys = '"profiling_name"' in head or '"pg_config"' in head or '"pg_status"' in head
        return head.startswith("{") and keys and '"traceEvents"' not in head

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Emits one document, of as much as could be read."""
        dump, why = _Dump(), ""
        start = source.tell()
        if source.read(1) == b"\x80":
            source.seek(start)
            for key, value in _unpickled(source):
                dump.member(key, value)
        else:
            source.seek(start)
            why = give_members(source, ("entries",), dump.member)
        if not dump.seen:
            raise UnreadableFileError(why or "no dump of a flight recorder")
        shape = dump.shape(complete=not why)
        title = f"flight recorder: {shape.num_entries} calls"
        sink.emit(Document(self.format, "flight_recorder", 0, shape.plain(), title))
        if why:
            sink.skip("a dump that ends before its end", 0, why)


def _unpickled(source: BinaryIO) -> Iterator[tuple[str, Any]]:
    try:
        value = loads(source.read(MAX_BYTES + 1))
    except NotPlainError as error:
        raise UnreadableFileError(str(error)) from error
    if not isinstance(value, dict):
        raise UnreadableFileError("a pickle that is not a dump of a flight recorder")
    for key, member in value.items():
        if key == "entries" and isinstance(member, (list, tuple)):
            for entry in member:
                yield "entries", entry
        elif isinstance(key, str):
            yield key, member


class _Dump:
    def __init__(self) -> None:
        self.seen = False
        self._num = 0
        self._groups: dict[tuple[str, str], _Group] = {}
        self._members: dict[str, Any] = {}
        self._mismatches: list[str] = []

    def member(self, key: str, value: Any) -> None:
        if key in _KEYS:
            self.seen = True
        if key != "entries":
            if key in _KEYS:
                self._members[key] = value
            return
        if not isinstance(value, dict):
            return
        self._num += 1
        names = _strings(value.get("process_group"))
        identity = (_short(value.get("pg_id")), names[0] if names else "")
        group = self._groups.get(identity)
        if group is None:
            if len(self._groups) >= _MAX_GROUPS:
                return
            group = self._groups[identity] = _Group(identity[0], names)
        group.add(value)

    def shape(self, complete: bool) -> FlightRecorder:
        config, status = _dict(self._members.get("pg_config")), _dict(self._members.get("pg_status"))
        known = {identity for identity, _ in self._groups}
        for key in list(status)[: _MAX_GROUPS - len(self._groups)]:
            if _short(key) not in known:  # a group without calls has a status all the same
                self._groups[_short(key), _short(key)] = _Group(_short(key), [])
        groups = []
        for (identity, name), group in self._groups.items():
            own = _dict(config.get(name))
            if not own and len(config) == 1 and len(self._groups) == 1:
                own = _dict(next(iter(config.values())))  # the only one: its key need not be the group's name
            elif not own and config and group.num:
                self._mismatches.append(f"group {name or identity} has calls, and pg_config does not name it")
            groups.append(group.shape(own, _dict(status.get(identity))))
        return FlightRecorder(
            version=text(self._members.get("version"), 60),
            library_version=text(self._members.get("comm_lib_version"), 60) or None,
            num_entries=self._num,
            groups=groups,
            mismatches=self._mismatches[:_MAX_MISMATCHES],
            complete=complete,
        )


class _Group:
    """One process group's calls, in the order in which they were recorded."""

    def __init__(self, identity: str, names: list[str]) -> None:
        self.num = 0
        self._identity = identity
        self._names = names
        self._states: Counter[str] = Counter()
        self._num_retired = 0
        self._first: int | None = None
        self._last: int | None = None
        self._num_open = 0
        self._open: list[RecordedCall] = []
        self._smallest_open: int | None = None
        self._largest_completed: int | None = None
        self._durations: dict[str, tuple[int, float]] = {}
        self._mismatches: list[str] = []

    def add(self, entry: dict[str, Any]) -> None:
        self.num += 1
        state, retired = _short(entry.get("state")), entry.get("retired") is True
        self._states[state if state in self._states or len(self._states) < _MAX_NAMES else "other"] += 1
        self._num_retired += retired
        is_p2p = entry.get("is_p2p") is True
        sequence = integer(entry.get("p2p_seq_id" if is_p2p else "collective_seq_id"))
        name = _short(entry.get("profiling_name"))
        if not is_p2p and sequence is not None:
            self._follow(sequence)
            if state == "completed":
                before = self._largest_completed
                self._largest_completed = sequence if before is None else max(before, sequence)
            elif not retired:
                before = self._smallest_open
                self._smallest_open = sequence if before is None else min(before, sequence)
        if state != "completed" and not retired:
            self._num_open += 1
            if len(self._open) < _MAX_CALLS:
                self._open.append(_call(entry, name, state, sequence, is_p2p))
        duration = entry.get("duration_ms")
        if isinstance(duration, (int, float)) and 0 <= duration < 1e12:
            num, total = self._durations.get(name, (0, 0.0))
            if num or len(self._durations) < _MAX_NAMES:
                self._durations[name] = (num + 1, total + duration / 1e3)
        self._compare(entry, name, sequence)

    def shape(self, config: dict[Any, Any], status: dict[Any, Any]) -> RecordedGroup:
        enqueued, started, completed = (
            integer(status.get(f"last_{what}_collective")) for what in ("enqueued", "started", "completed")
        )
        smallest, largest = self._smallest_open, self._largest_completed
        if enqueued is not None and self._last is not None and self._last > enqueued >= 0:
            self._mismatch(f"call {self._last} is recorded, and the last one enqueued is {enqueued}")
        if completed is not None and enqueued is not None and completed > enqueued:
            self._mismatch(f"the last one completed is {completed}, the last one enqueued {enqueued}")
        if completed is not None and smallest is not None and smallest <= completed:
            self._mismatch(f"call {smallest} has not completed, and the last one completed is {completed}")
        if smallest is not None and largest is not None and largest > smallest:
            self._mismatch(f"call {largest} has completed, and {smallest}, which is before it, has not")
        name, description = config.get("name"), config.get("desc")
        names = [*self._names, "", ""]
        return RecordedGroup(
            id=self._identity,
            name=(_short(name) if name is not None else names[0]) or names[0] or None,
            description=(_short(description) if description is not None else names[1]) or names[1] or None,
            ranks=_ranks(config.get("ranks")),
            last_enqueued=enqueued,
            last_started=started,
            last_completed=completed,
            num_entries=self.num,
            states=dict(self._states),
            num_retired=self._num_retired,
            first_sequence=self._first,
            last_sequence=self._last,
            num_not_completed=self._num_open,
            not_completed=self._open,
            durations={name: total / num for name, (num, total) in self._durations.items()},
            mismatches=self._mismatches[:_MAX_MISMATCHES],
        )

    def _follow(self, sequence: int) -> None:
        if self._last is not None and sequence > self._last + 1:
            self._mismatch(f"call {sequence} follows call {self._last}")
        elif self._last is not None and sequence < self._last:
            self._mismatch(f"call {sequence} is recorded after call {self._last}")
        self._first = sequence if self._first is None else min(self._first, sequence)
        self._last = sequence if self._last is None else max(self._last, sequence)

    def _compare(self, entry: dict[str, Any], name: str, sequence: int | None) -> None:
        """Holds a call's output against its input, where the collective says how they must be."""
        inputs, outputs = _sizes(entry.get("input_sizes")), _sizes(entry.get("output_sizes"))
        types = _strings(entry.get("input_dtypes")), _strings(entry.get("output_dtypes"))
        word = torch_collective(name)
        if word == "all_reduce" and inputs and outputs and inputs != outputs:
            self._mismatch(f"call {sequence}, {name}: {inputs[:3]} in, {outputs[:3]} out")
        comparable = word in ("all_reduce", "all_gather", "reduce_scatter") and types[0] and types[1]
        if comparable and set(types[0]) != set(types[1]):
            self._mismatch(f"call {sequence}, {name}: {types[0][0]} in, {types[1][0]} out")
        elements = sum(map(math.prod, inputs)), sum(map(math.prod, outputs))
        larger, smaller = (elements[1], elements[0]) if word == "all_gather" else elements
        if word in ("all_gather", "reduce_scatter") and smaller > 0 and larger % smaller:
            self._mismatch(f"call {sequence}, {name}: {elements[0]} elements in, {elements[1]} out")

    def _mismatch(self, text: str) -> None:
        if len(self._mismatches) < _MAX_MISMATCHES:
            self._mismatches.append(text[:300])


def _call(entry: dict[str, Any], name: str, state: str, sequence: int | None, is_p2p: bool) -> RecordedCall:
    return RecordedCall(
        sequence=sequence,
        is_p2p=is_p2p,
        name=name,
        collective=torch_collective(name),
        state=state,
        **{field: integer(entry.get(field)) for field in ("record_id", "time_created_ns", "timeout_ms")},
        **{field: _sizes(entry.get(field)) for field in ("input_sizes", "output_sizes")},
        **{field: _strings(entry.get(field)) for field in ("input_dtypes", "output_dtypes")},
    )


def _dict(value: object) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _short(value: object) -> str:
    if isinstance(value, str):
        return value[:100]
    return str(value) if integer(value) is not None else ""


def _strings(value: object) -> list[str]:
    return [_short(item) for item in value[:16]] if isinstance(value, (list, tuple)) else []


def _sizes(value: object) -> list[list[int]]:
    if not isinstance(value, (list, tuple)):
        return []
    rows = [row for row in value[:64] if isinstance(row, (list, tuple))]
    return [[size for size in row[:16] if type(size) is int and 0 <= size < 1 << 48] for row in rows]


def _ranks(value: object) -> list[int]:
    """Returns ranks given as a list or as its text, "[0, 1]"."""
    items = value.strip("[] ").split(",")[:65536] if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)):
        return []
    ranks = (integer(item.strip() if isinstance(item, str) else item) for item in items[:65536])
    return [rank for rank in ranks if rank is not None]
