"""A simulated call as a timeline for Perfetto and chrome://tracing.

For: what each rank and each link did, by the simulator's clock. Not for: calls that ran (ringtree.trace), the format
(ringtree.trace_events).

A process a rank: a track a lane, with the slices that it folds, copies, sends or receives (those that only send, or
receive what no core reads, take no time), then the messages to each other rank while they cross. A process a link: the
bytes of the messages that are crossing it as a counter, and these messages; of a core those that it writes or reads.
What overlaps lies on tracks side by side. An arrow leads from a message to the slice that reads it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping
from itertools import count
from operator import attrgetter
from pathlib import Path
from typing import Any

from ringtree.schedules.algorithms import parts
from ringtree.schedules.schedule import Schedule
from ringtree.simulate.cluster import Cluster
from ringtree.simulate.cluster.paths import ALL_CORES
from ringtree.simulate.recorded import Message, RecordedCall, Slice, messages_of, slices_of
from ringtree.simulate.run import TICKS_PER_SECOND
from ringtree.trace_events import (
    TraceEvent,
    Tracks,
    arrow,
    counter,
    process_name,
    rank_process,
    span,
    track_name,
    write_trace,
)
from ringtree.units import format_rate

_TICKS_PER_NS = TICKS_PER_SECOND / 1e9
CROSSING = "bytes crossing"


def write_timeline(path: Path, call: RecordedCall, about: Mapping[str, Any]) -> int:
    """Writes the file; returns how many events it has. `about` goes into its otherData, beside the call's figures and
    the cluster with its constants. Raises OSError."""
    return write_trace(path, timeline(call), {**about, **metadata(call)})


def metadata(call: RecordedCall) -> dict[str, Any]:
    """Returns what the file says of itself: that it is simulated, of what, and on what constants it rests."""
    return {"simulated": True, "call": call.point.model_dump(mode="json"), "cluster": _described(call.cluster)}


def timeline(call: RecordedCall) -> Iterator[TraceEvent]:
    """Yields the events: ranks with what they did, then links."""
    writer = _Writer(call)
    yield from writer.ranks()
    yield from writer.links()


def _described(cluster: Cluster) -> dict[str, Any]:
    constants = {key: f"{one} ({one.source}{f', {one.date}' if one.date else ''})" for key, one in cluster.constants()}
    return {
        "name": cluster.name,
        "title": cluster.title,
        "assumptions": cluster.assumptions,
        "faults": [str(fault) for fault in cluster.faults],
        "constants": constants,
    }


class _Writer:
    def __init__(self, call: RecordedCall) -> None:
        self._hosts, self._network = call.hosts, call.network
        self._slices, self._messages = slices_of(call.recording), messages_of(call.recording)
        everyone = call.schedule.num_ranks + len(call.schedule.switches)
        self._steps = [call.schedule.program(rank) for rank in range(everyone)]
        self._shares = [part for part, shares in _parts(call.schedule) for _ in range(shares)]
        self._num_lanes = 1 + max(one.lane for one in self._slices)
        self._num_channels = call.point.channels
        self._arrow = count(1)

    def ranks(self) -> Iterator[TraceEvent]:
        """Lanes, messages and arrows."""
        for rank, host in enumerate(self._hosts):
            yield from process_name(rank_process(rank), f"rank {rank} on host {host} (simulated)", rank)
        for switch in range(len(self._hosts), len(self._steps)):
            yield from process_name(rank_process(switch), f"{self._called(switch)} (simulated)", switch)
        for rank, channel, lane, share in sorted({self._place(one) for one in self._slices}):
            of_channel = f"channel {self._channel(channel, share)}, " if self._num_channels > 1 else ""
            if len(self._shares) > 1:
                of_channel += f"{self._shares[share]}, "
            yield from track_name(rank_process(rank), self._lane_track(channel, lane), f"{of_channel}lane {lane}")
        for piece in self._slices:
            step = self._steps[piece.rank][piece.step]
            args = {"step": piece.step, "pass": piece.number, "slice": piece.slice, "bytes": piece.bytes}
            track = self._lane_track(piece.channel, piece.lane)
            yield self._span(rank_process(piece.rank), track, step.verb, piece, {**args, "chunks": list(step.chunks)})
        to: dict[tuple[int, int], list[Message]] = defaultdict(list)
        for message in self._messages:
            to[message.source, message.target].append(message)
        used: dict[int, int] = defaultdict(lambda: 1 + self._num_lanes * self._num_channels)
        for source, target in sorted(to):
            pid = rank_process(source)
            used[source] += yield from self._side_by_side(
                pid, used[source], f"to {self._called(target)}", to[source, target], arrows=True
            )

    def links(self) -> Iterator[TraceEvent]:
        """Each link's messages, and how many bytes of them are crossing."""
        crossing: list[list[Message]] = [[] for _ in self._network.link_names]
        routes = self._routes()
        for message in self._messages:
            for link in routes[message.source, message.target]:
                crossing[link] += self._legs(message, link)
        for link, messages in enumerate(crossing):
            pid = rank_process(len(self._steps)) + link
            rate = format_rate(float(self._network.link_rate[link]))
            yield from process_name(pid, f"{self._network.link_names[link]}, {rate} (simulated)", pid)
            yield from _bytes_crossing(pid, messages)
            yield from self._side_by_side(pid, 1, "messages", messages, arrows=False)

    def _legs(self, message: Message, link: int) -> list[Message]:
        """Returns a message with the times at which it takes the link, which may be the core that reads it."""
        cores = self._network.memory.link_core
        core = int(cores[link]) if len(cores) else None
        began = self._slices[message.read_by].begin
        reading = message._replace(begin=began, end=message.read, limit=message.read_limit)
        if core == ALL_CORES:
            return [message, reading]
        return [reading if core == message.target else message]

    def _side_by_side(
        self, pid: int, first_track: int, name: str, messages: list[Message], *, arrows: bool
    ) -> Generator[TraceEvent, None, int]:
        """Yields messages on as few tracks as keep them apart; returns how many tracks."""
        tracks = Tracks()
        for message in sorted(messages, key=attrgetter("begin")):
            before = len(tracks)
            track = first_track + tracks.take(message.begin, message.end)
            if len(tracks) > before:
                yield from track_name(pid, track, name)
            chunks = list(self._steps[message.source][self._slices[message.sent_by].step].chunks)
            args: dict[str, Any] = {
                "bytes": message.bytes,
                "channel": self._channel(message.channel, chunks[0] % len(self._shares)),
                "arrived_us": _us(message.arrival),
                "chunks": chunks,
            }
            args |= {"limited_by": "copying" if message.limit < 0 else self._network.link_names[message.limit]}
            called = f"{self._called(message.source)} to {self._called(message.target)}"
            yield self._span(pid, track, called, message, args)
            if arrows:
                reader = self._slices[message.read_by]
                lane = rank_process(reader.rank), self._lane_track(reader.channel, reader.lane), _us(reader.begin)
                yield from arrow(next(self._arrow), "message", (pid, track, _us(message.begin)), lane)
        return len(tracks)

    def _place(self, one: Slice) -> tuple[int, int, int, int]:
        """Rank, channel and lane as recorded, and the share of a mix that the lane works on."""
        return one.rank, one.channel, one.lane, self._steps[one.rank][one.step].chunks[0] % len(self._shares)

    def _channel(self, recorded: int, share: int) -> int:
        """A channel of the call: of a mix each recorded one has one for each share."""
        return recorded * len(self._shares) + share

    def _called(self, rank: int) -> str:
        return f"rank {rank}" if rank < len(self._hosts) else f"switch {rank - len(self._hosts)}"

    def _span(self, pid: int, track: int, name: str, one: Slice | Message, args: dict[str, Any]) -> TraceEvent:
        category = "step" if isinstance(one, Slice) else "message"
        us = round(_us(one.end) - _us(one.begin), 3)
        return span(pid, track, name, category, _us(one.begin), us, args)

    def _lane_track(self, channel: int, lane: int) -> int:
        return 1 + channel * self._num_lanes + lane

    def _routes(self) -> dict[tuple[int, int], list[int]]:
        offsets, links = self._network.route_offsets.tolist(), self._network.route_links.tolist()
        pairs = zip(self._network.pair_src.tolist(), self._network.pair_dst.tolist(), strict=True)
        return {ends: links[offsets[pair] : offsets[pair + 1]] for pair, ends in enumerate(pairs)}


def _parts(of: Schedule) -> list[tuple[str, int]]:
    return parts(of.name) if of.shares > 1 else [(of.name, 1)]


def _bytes_crossing(pid: int, messages: Iterable[Message]) -> Iterator[TraceEvent]:
    changes: dict[int, int] = defaultdict(int)
    for one in messages:
        changes[one.begin] += one.bytes
        changes[one.end] -= one.bytes
    now = 0
    for at in sorted(changes):
        now += changes[at]
        yield counter(pid, CROSSING, _us(at), now)


def _us(ticks: int) -> float:
    """Whole nanoseconds, as viewers count: what ends where the next begins must do so for them, too."""
    return round(ticks / _TICKS_PER_NS) / 1e3
