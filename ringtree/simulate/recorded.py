"""One simulated call with the times of everything in it.

For: what timelines (timeline.py) and the player (played.py) are made of. Not for: sweeps (sweep.py), which keep a
call's figures only, the simulation itself (run.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ringtree._core import MOST_RECORDED
from ringtree.errors import UsageError
from ringtree.schedules.schedule import Schedule
from ringtree.simulate.asked import Arm, Sweep
from ringtree.simulate.cluster import Cluster, Network
from ringtree.simulate.on_core import ReadySchedule, schedule_of
from ringtree.simulate.points import Point
from ringtree.simulate.run import Recording
from ringtree.simulate.sweep import Call, point_of


class Slice(NamedTuple):
    """A slice that a lane did; times in ticks. `step`: of its rank's program; `number`: of the pass."""

    begin: int
    end: int
    bytes: int
    rank: int
    channel: int
    lane: int
    step: int
    number: int
    slice: int


class Message(NamedTuple):
    """A message on the wire from `begin` to `end`, there at `arrival`; times in ticks. `read`: when the receiver's core
    had read it, which it began with the slice, 0 where no core reads. `sent_by`, `read_by`: indexes of slices; `limit`,
    `read_limit`: the link that limited it when it ended and when it had been read, -1 for copying."""

    begin: int
    end: int
    arrival: int
    read: int
    bytes: int
    sent_by: int
    read_by: int
    source: int
    target: int
    channel: int
    limit: int
    read_limit: int


def slices_of(recording: Recording) -> list[Slice]:
    """Returns the slices as objects, in the same order."""
    return [Slice(*one) for one in recording.slices.tolist()]


def messages_of(recording: Recording) -> list[Message]:
    """Returns the messages as objects, in the same order."""
    return [Message(*one) for one in recording.messages.tolist()]


@dataclass(frozen=True)
class RecordedCall:
    """`hosts`: the host of each rank. Links of the recording are those of `network`. A channel of the recording has all
    shares of a mix, each with lanes of its own."""

    cluster: Cluster
    hosts: tuple[int, ...]
    schedule: Schedule
    network: Network
    point: Point
    recording: Recording


def record_call(
    cluster: Cluster, of: Schedule, hosts: tuple[int, ...], size_bytes: int, *, channels: int, protocol: str
) -> RecordedCall:
    """Simulates a call of a schedule that is proved right, of as many ranks as `hosts`, which are equal. Raises
    UsageError for a call that can't be, and for one with more slices and messages than can be recorded."""
    nodes = hosts[-1] + 1
    ready = ReadySchedule(of)
    network = cluster.network(ready.pairs(), nodes, len(hosts) // nodes, protocol, ready.switches)
    found = ready.run(size_bytes, channels, network, cluster.protocol(protocol), record=MOST_RECORDED)
    assert found.recording is not None
    call = Call(of.collective, of.name, hosts, size_bytes, channels)
    point = point_of(nodes, Arm(of.name, of.name, protocol), call, network, found)
    return RecordedCall(cluster, hosts, of, network, point, found.recording)


def record_single(sweep: Sweep) -> RecordedCall:
    """Simulates the one call of a sweep. Raises UsageError for a sweep of several, and as record_call()."""
    several = [
        f"{len(what)} {name}"
        for name, what in (("numbers of nodes", sweep.nodes), ("arms", sweep.arms), ("sizes", sweep.sizes))
        if len(what) > 1
    ]
    if several:
        raise UsageError(
            f"a trace is of one call, and these are {', '.join(several)}: give --nodes, --algorithm, --protocol and "
            "--sizes one each"
        )
    arm = sweep.arms[0]
    hosts = tuple(rank // sweep.ranks_per_node for rank in range(sweep.nodes[0] * sweep.ranks_per_node))
    size, domain_hosts = sweep.sizes[0], sweep.cluster.domain_hosts
    made = schedule_of(Call(sweep.collective, arm.algorithm, hosts, size, sweep.channels, domain_hosts))
    return record_call(sweep.cluster, made, hosts, size, channels=sweep.channels, protocol=arm.protocol)
