"""A simulated call as the player shows it: the times of one of its channels.

For: `ringtree play --cluster`. Not for: the player (ringtree.show.player), the simulation (recorded.py).

Channels do the same side by side, each on its part of the data, and would be drawn on top of each other. So the one
that finishes last is played, of a mix one for each share; its messages share links with those of all others, and its
end is the call's.
"""

from __future__ import annotations

from typing import TypedDict

from ringtree.errors import UsageError
from ringtree.schedules.schedule import Schedule, verify_report
from ringtree.simulate.cluster import Cluster
from ringtree.simulate.recorded import RecordedCall, messages_of, record_call, slices_of
from ringtree.units import count

MOST_PLAYED = 200_000  # slices and messages of a channel: beyond, a browser is not a place to watch them
_PROTOCOL = "simple"


class Timeline(TypedDict):
    """Times in whole picoseconds from the call's begin. `slices`: rank, step of its program, pass, begin, end, in the
    order in which they ended; `messages`: from, to, bytes on the wire, begin and end of crossing, arrival, and the
    slices that sent and that read it, in the order in which they were sent."""

    end: int
    launch: int
    channel: int
    channels: int
    shares: int
    passes: int
    slices: list[tuple[int, int, int, int, int]]
    messages: list[tuple[int, int, int, int, int, int, int, int]]


def hosts_of(cluster: Cluster, nodes: int) -> tuple[int, ...]:
    """Returns the host of each rank. Raises UsageError for fewer than two ranks."""
    ranks = cluster.host.ranks
    if nodes * ranks < 2:
        raise UsageError("one rank sends nothing: use more --nodes")
    return tuple(host for host in range(nodes) for _ in range(ranks))


def simulated(cluster: Cluster, of: Schedule, nodes: int, size_bytes: int) -> RecordedCall:
    """Simulates a call on all ranks of `nodes` hosts. Raises UsageError for a schedule of other ranks or one that is
    refuted, and as record_call()."""
    hosts = hosts_of(cluster, nodes)
    if of.num_ranks != len(hosts):
        raise UsageError(
            f"{of.name} is for {count(of.num_ranks, 'rank')}, and {count(nodes, 'node')} of {cluster.name} have "
            f"{len(hosts)}"
        )
    if not verify_report(of)["ok"]:
        raise UsageError(
            f"{of.name} is not a correct schedule, so its time means nothing: play it without --cluster to see why"
        )
    return record_call(cluster, of, hosts, size_bytes, channels=cluster.channel.count, protocol=_PROTOCOL)


def played(call: RecordedCall) -> Timeline:
    """Returns the times of the channel that finishes last. Raises UsageError for more than MOST_PLAYED of them."""
    slices = slices_of(call.recording)
    last = max(slices, key=lambda one: one.end)
    number: dict[int, int] = {}
    for index, one in enumerate(slices):
        if one.channel == last.channel:
            number[index] = len(number)
    messages = [one for one in messages_of(call.recording) if one.channel == last.channel]
    there = len(number) + len(messages)
    if there > MOST_PLAYED:
        raise UsageError(
            f"a channel of {call.schedule.name} has {there} slices and messages: the player takes "
            f"{MOST_PLAYED}; use fewer bytes or ranks"
        )
    shown = [slices[index] for index in number]
    return Timeline(
        end=last.end,
        launch=min(one.begin for one in shown),
        channel=last.channel,
        channels=call.point.channels,
        shares=call.schedule.shares,
        passes=1 + max(one.number for one in shown),
        slices=[(one.rank, one.step, one.number, one.begin, one.end) for one in shown],
        messages=[
            (
                one.source,
                one.target,
                one.bytes,
                one.begin,
                one.end,
                one.arrival,
                number[one.sent_by],
                number[one.read_by],
            )
            for one in messages
        ],
    )
