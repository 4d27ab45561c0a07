"""Rounds: both ends post the same messages in the same order, for every built-in schedule.

For: ringtree.backends.rounds without torch: the messages are delivered here by a small simulator that matches them, as
NCCL does, by their order between two ranks only. Not for: tensors (test_backends_interpret.py).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest

import ringtree
from ringtree.backends.rounds import rank_rounds
from ringtree.errors import UsageError

NAMES = list(ringtree.algorithms.names("all_reduce"))


def all_rounds(schedule: Any) -> list[Any]:
    return [rank_rounds(schedule, rank) for rank in range(schedule.num_ranks)]


def schedule_or_skip(name: str, num_ranks: int) -> Any:
    return ringtree.schedule("all_reduce", name, ranks=num_ranks)


def messages_of(schedule: Any) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    """(tag, sending step, receiving step) between each pair, matched the ordinary way, by tag and order."""
    sends: dict[Any, list[int]] = defaultdict(list)
    recvs: dict[Any, list[int]] = defaultdict(list)
    for rank in range(schedule.num_ranks):
        for index, step in enumerate(schedule.program(rank)):
            for peer in step.send_to:
                sends[rank, peer, step.send_tag].append(index)
            for peer, tag in step.recv:
                recvs[peer, rank, tag].append(index)
    assert sends.keys() == recvs.keys()
    pairs: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for (source, destination, tag), indexes in sends.items():
        pairs[source, destination] += [
            (tag, s, r) for s, r in zip(indexes, recvs[source, destination, tag], strict=True)
        ]
    return pairs


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("num_ranks", [1, 2, 3, 4, 5, 8, 13])
def test_order_alone_pairs_every_message_as_its_tag_does(name: str, num_ranks: int) -> None:
    schedule = schedule_or_skip(name, num_ranks)
    rounds = all_rounds(schedule)
    expected = messages_of(schedule)
    found: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for number in range(max(len(of_rank) for of_rank in rounds)):
        at = [of_rank[number] if number < len(of_rank) else None for of_rank in rounds]
        for source in range(num_ranks):
            for destination in range(num_ranks):
                out = [t.step for t in at[source].sends if t.peer == destination] if at[source] else []
                into = [t.step for t in at[destination].recvs if t.peer == source] if at[destination] else []
                assert len(out) == len(into), f"round {number}: {source} -> {destination} is not agreed on"
                found[source, destination] += list(zip(out, into, strict=True))
    for pair, messages in expected.items():
        assert sorted(found[pair]) == sorted((s, r) for _, s, r in messages)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("num_ranks", [2, 3, 5, 8])
def test_every_step_runs_once_after_what_it_waits_for(name: str, num_ranks: int) -> None:
    schedule = schedule_or_skip(name, num_ranks)
    for rank, rounds in enumerate(all_rounds(schedule)):
        place, sent = {}, {}
        for number, current in enumerate(rounds):
            sent.update({transfer.step: number for transfer in current.sends})
            for step in current.steps:
                assert step not in place
                place[step] = (number, len(place))
        steps = list(schedule.program(rank))
        assert sorted(place) == list(range(len(steps)))
        for index, waits in enumerate(schedule.dependencies(rank)):
            same_lane = [j for j in range(index) if steps[j].lane == steps[index].lane]
            for earlier in [d for d in waits if d < index] + same_lane:
                assert place[earlier] < place[index]
                assert sent.get(earlier, 0) <= place[index][0]
            for number, current in enumerate(rounds):
                for transfer in current.recvs:
                    if transfer.step == index:
                        assert number <= place[index][0]


def test_ring_takes_the_textbooks_number_of_rounds() -> None:
    for num_ranks in (2, 3, 4, 7):
        rounds = rank_rounds(schedule_or_skip("ring", num_ranks), 0)
        assert len(rounds) - 1 == 2 * (num_ranks - 1)
        assert all(len(current.sends) == len(current.recvs) == 1 for current in rounds[1:])


@dataclass
class FakeStep:
    """A step with the fields that rounds.py reads."""

    recv: list[tuple[int, int]] = field(default_factory=list)
    send_to: list[int] = field(default_factory=list)
    send_tag: int = 0
    lane: int = 0


@dataclass
class FakeSchedule:
    """A schedule given as one list of steps a rank."""

    programs: list[list[FakeStep]]
    waits: dict[int, list[list[int]]] = field(default_factory=dict)
    name: str = "hand-made"

    @property
    def num_ranks(self) -> int:
        return len(self.programs)

    def program(self, rank: int) -> list[FakeStep]:
        return self.programs[rank]

    def dependencies(self, rank: int) -> list[list[int]]:
        return self.waits.get(rank, [[] for _ in self.programs[rank]])


def test_tags_that_cross_are_posted_in_one_order_at_both_ends() -> None:
    # Rank 0 sends with tags 1 and 0 from two lanes at once; rank 1 receives them in lanes that are the other way round.
    schedule = FakeSchedule(
        [
            [FakeStep(send_to=[1], send_tag=1, lane=0), FakeStep(send_to=[1], send_tag=0, lane=1)],
            [FakeStep(recv=[(0, 1)], lane=1), FakeStep(recv=[(0, 0)], lane=0)],
        ]
    )
    assert [t.step for t in rank_rounds(schedule, 0)[1].sends] == [1, 0]
    assert [t.step for t in rank_rounds(schedule, 1)[1].recvs] == [1, 0]


def test_a_message_into_a_place_that_is_still_read_is_not_direct() -> None:
    # Rank 0's step 1 may overwrite only after step 0 has been sent, in round 1, in which its message arrives already.
    programs = [
        [FakeStep(send_to=[1], lane=0), FakeStep(recv=[(1, 0)], lane=1)],
        [FakeStep(send_to=[0], lane=0), FakeStep(recv=[(0, 0)], lane=1)],
    ]
    waiting = rank_rounds(FakeSchedule(programs, {0: [[], [0]]}), 0)
    free = rank_rounds(FakeSchedule(programs), 0)
    assert [t.direct for t in waiting[1].recvs] == [False]
    assert [t.direct for t in free[1].recvs] == [True]


def test_a_schedule_that_can_not_finish_is_refused() -> None:
    waiting = FakeSchedule([[FakeStep(recv=[(1, 0)], send_to=[1])], [FakeStep(recv=[(0, 0)], send_to=[0])]])
    with pytest.raises(UsageError, match="can't finish: 2 steps"):
        rank_rounds(waiting, 0)
