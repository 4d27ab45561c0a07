"""Rounds: both ends post the same messages in the same order, for every built-in schedule.

For: Schedule.rounds (core/schedule/rounds.h): messages are delivered here by a small simulator that matches them, as
NCCL does, by their order between two ranks only. Not for: tensors (test_backends_interpret.py).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

import ringtree
from ringtree.errors import UsageError

NAMES = list(ringtree.algorithms.names("all_reduce"))


def all_rounds(schedule: Any) -> list[Any]:
    return [schedule.rounds(rank) for rank in range(schedule.num_ranks)]


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
                left, right = at[source], at[destination]
                out = [t.step for t in left.sends if t.peer == destination] if left else []
                into = [t.step for t in right.recvs if t.peer == source] if right else []
                assert len(out) == len(into), f"round {number}: {source} -> {destination} is not agreed on"
                found[source, destination] += list(zip(out, into, strict=True))
    for pair, messages in expected.items():
        assert sorted(found[pair]) == sorted((s, r) for _, s, r in messages)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("num_ranks", [2, 3, 5, 8])
def test_every_step_runs_once_after_what_it_waits_for(name: str, num_ranks: int) -> None:
    schedule = schedule_or_skip(name, num_ranks)
    for rank, rounds in enumerate(all_rounds(schedule)):
        place: dict[int, tuple[int, int]] = {}
        sent: dict[int, int] = {}
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
        rounds = schedule_or_skip("ring", num_ranks).rounds(0)
        assert len(rounds) - 1 == 2 * (num_ranks - 1)
        assert all(len(current.sends) == len(current.recvs) == 1 for current in rounds[1:])


def build(program: Any, chunks: int = 2) -> ringtree.Schedule:
    """A hand-made schedule of two ranks; it need not compute anything."""
    return ringtree.build("all_reduce", program, ranks=2, chunks=chunks)


def test_tags_that_cross_are_posted_in_one_order_at_both_ends() -> None:
    # Rank 0 sends with tags 1 and 0 from two lanes at once; rank 1 receives them in lanes that are the other way round.
    def crossing(p: ringtree.ProgramBuilder) -> None:
        if p.rank == 0:
            p.send(0, to=1, tag=1, lane=0)
            p.send(1, to=1, tag=0, lane=1)
        else:
            p.recv(0, source=(0, 1), lane=1)
            p.recv(1, source=(0, 0), lane=0)

    schedule = build(crossing)
    assert [t.step for t in schedule.rounds(0)[1].sends] == [1, 0]
    assert [t.step for t in schedule.rounds(1)[1].recvs] == [1, 0]


@pytest.mark.parametrize(("chunk", "direct"), [(0, False), (1, True)])
def test_a_message_into_a_place_that_is_still_read_is_not_direct(chunk: int, direct: bool) -> None:
    # A rank's step 1 may overwrite chunk 0 only after step 0 has been sent, in round 1, in which its message comes.
    def exchange(p: ringtree.ProgramBuilder) -> None:
        p.send(0, to=1 - p.rank, lane=0, tag=p.rank)
        p.recv(chunk, source=(1 - p.rank, 1 - p.rank), lane=1)

    assert [t.lands for t in build(exchange).rounds(0)[1].recvs] == [direct]


def test_a_schedule_that_can_not_finish_is_refused() -> None:
    def waiting(p: ringtree.ProgramBuilder) -> None:
        p.recv_send(0, source=1 - p.rank, to=1 - p.rank)

    with pytest.raises(UsageError, match="can't finish: 2 steps"):
        build(waiting).rounds(0)
