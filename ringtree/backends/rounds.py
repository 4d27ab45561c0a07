"""Cuts a schedule into rounds of messages that both ends agree on without tags.

For: running a schedule over transports that match messages only by their order between two ranks (NCCL ignores tags).
Not for: moving bytes (interpret.py), or for time: a round is not a unit of time, and nothing here streams.

Every rank computes the same rounds from the whole schedule, so nothing is negotiated:

    local phase 0 | round 1 | local phase 1 | round 2 | local phase 2 | ...

A step runs in the first local phase in which the steps that it waits for are done and all its messages are there; what
it sends travels in the next round. A round's messages between two ranks are posted in order of (tag, place on the link)
at both ends. So the k-th send from a to b meets the k-th receive at b from a, always in the same round: no tags are
needed, and no batch can wait for another batch. Receivers take every message in its round, into a spare buffer if the
step is not ready, so a schedule without deadlock stays without.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ringtree.errors import UsageError

Link = tuple[int, int, int]  # source, destination, tag


@dataclass(frozen=True)
class Transfer:
    """One message of a round: with which peer, for which step of this rank's program.

    `operand`: which of the step's incoming messages it is. `direct`: the step's destination is free by then, so that
    the message may be received into its place.
    """

    peer: int
    step: int
    operand: int = 0
    direct: bool = False


@dataclass
class Round:
    """What one rank does in a round: messages at once, then the steps of the local phase, in order."""

    sends: list[Transfer] = field(default_factory=list)
    recvs: list[Transfer] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)


@dataclass
class _RankState:
    """One rank's program while it is being placed in phases."""

    steps: list[Any]
    waits: list[list[int]]
    lanes: list[list[int]]
    sent_as: list[list[tuple[Link, int]]]  # step -> (link, place on the link) of each outgoing message
    heard_as: list[list[tuple[Link, int]]]  # step -> the same for each incoming message
    phase: list[int]  # step -> phase in which it runs, -1 while unknown
    done: list[int]  # step -> phase from which others may rely on it
    order: list[int] = field(default_factory=list)


def rank_rounds(schedule: Any, rank: int) -> list[Round]:
    """Returns the rounds of `rank`; round 0 has no messages. Raises UsageError if the schedule can't finish.

    Cost: the whole schedule is read, so O(steps of all ranks).
    """
    states = [_rank_state(schedule, r) for r in range(schedule.num_ranks)]
    round_of: dict[tuple[Link, int], int] = {}
    left = sum(len(state.steps) for state in states)
    phase = 0
    while left:
        placed = [(state, _place_phase(state, phase, round_of)) for state in states]
        # A message counts from the next phase on, so the ranks' order inside a phase can't matter.
        for state, steps in placed:
            round_of.update({message: phase + 1 for step in steps for message in state.sent_as[step]})
        num_placed = sum(len(steps) for _, steps in placed)
        if num_placed == 0 and all(at < phase for at in round_of.values()):
            raise UsageError(
                f"schedule {schedule.name!r} can't finish: {left} steps wait for ever; run ringtree verify"
            )
        left -= num_placed
        phase += 1
    return _rounds_of(states[rank], round_of, phase)


def _rank_state(schedule: Any, rank: int) -> _RankState:
    steps = list(schedule.program(rank))
    lanes: dict[int, list[int]] = defaultdict(list)
    used: dict[Link, int] = defaultdict(int)
    sent_as: list[list[tuple[Link, int]]] = []
    heard_as: list[list[tuple[Link, int]]] = []
    for index, step in enumerate(steps):
        lanes[step.lane].append(index)
        sent_as.append([_next_on((rank, peer, step.send_tag), used) for peer in step.send_to])
        heard_as.append([_next_on((peer, rank, tag), used) for peer, tag in step.recv])
    waits = [[d for d in found if d < index] for index, found in enumerate(schedule.dependencies(rank))]
    for lane in lanes.values():
        for before, after in pairwise(lane):
            waits[after] = [*waits[after], before]
    blank = [-1] * len(steps)
    return _RankState(steps, waits, list(lanes.values()), sent_as, heard_as, blank, list(blank))


def _next_on(link: Link, used: dict[Link, int]) -> tuple[Link, int]:
    used[link] += 1
    return link, used[link] - 1


def _place_phase(state: _RankState, phase: int, round_of: dict[tuple[Link, int], int]) -> list[int]:
    """Places every step that can run in `phase`; returns them in the order in which they run."""
    before = len(state.order)
    progress = True
    while progress:
        progress = False
        for lane in state.lanes:
            while lane and _ready(state, lane[0], phase, round_of):
                step = lane.pop(0)
                state.phase[step] = phase
                state.done[step] = phase + 1 if state.sent_as[step] else phase
                state.order.append(step)
                progress = True
    return state.order[before:]


def _ready(state: _RankState, step: int, phase: int, round_of: dict[tuple[Link, int], int]) -> bool:
    return all(0 <= state.done[d] <= phase for d in state.waits[step]) and all(
        round_of.get(message, phase + 1) <= phase for message in state.heard_as[step]
    )


def _rounds_of(state: _RankState, round_of: dict[tuple[Link, int], int], last_phase: int) -> list[Round]:
    rounds = [Round() for _ in range(last_phase + 1)]
    sends: list[list[tuple[int, int, Transfer]]] = [[] for _ in rounds]
    recvs: list[list[tuple[int, int, Transfer]]] = [[] for _ in rounds]
    for index in state.order:
        rounds[state.phase[index]].steps.append(index)
        free_from = max((state.done[d] for d in state.waits[index]), default=0)
        for (_, peer, tag), place in state.sent_as[index]:
            sends[state.phase[index] + 1].append((tag, place, Transfer(peer, index)))
        for operand, message in enumerate(state.heard_as[index]):
            (peer, _, tag), place = message
            at = round_of[message]
            recvs[at].append((tag, place, Transfer(peer, index, operand, direct=free_from < at)))
    for number, current in enumerate(rounds):
        current.sends = [transfer for _, _, transfer in sorted(sends[number], key=_post_order)]
        current.recvs = [transfer for _, _, transfer in sorted(recvs[number], key=_post_order)]
    while len(rounds) > 1 and not (rounds[-1].sends or rounds[-1].recvs or rounds[-1].steps):
        rounds.pop()
    return rounds


def _post_order(entry: tuple[int, int, Transfer]) -> tuple[int, int, int]:
    tag, place, transfer = entry
    return tag, place, transfer.peer
