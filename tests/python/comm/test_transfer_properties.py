"""Random groups of transfers: any number of messages between any ranks, also to oneself, of any size and dtype, in any
order on each rank, all in one call. Every message must arrive whole and in the order of its direction.

Nothing can lock up by construction: all sends and receives of a rank are under way at once. Ranks are threads of this
process, and the groups are drawn alike in every run. Not for collectives: test_engine_properties.py. Not for what goes
wrong: test_transfers.py.
"""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import pytest
from engine_case import DTYPES
from engine_draws import MOST_BYTES
from engine_oracle import Array
from engine_ranks import Ranks
from engine_support import UNTOUCHED, Guarded
from transfer_support import transfer

from ringtree import Communicator

SEED = 21
NUM_GROUPS = 200  # for each number of ranks
TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Message:
    source: int
    target: int
    dtype: str
    count: int
    offset: int
    shared: bool  # the memory that it is sent from
    seed: int

    def content(self) -> Array:
        """Any bytes, of which every element is equal to itself."""
        size = self.count * np.dtype(self.dtype).itemsize
        return np.random.default_rng(self.seed).integers(0, 256, size, dtype="uint8")


@dataclass(frozen=True)
class Group:
    """messages: those of one direction in their order. orders: of each rank, indices of its messages, those that it
    sends as i and those that it receives as ~i, as it gives them; in one direction always in their order. started: of
    each rank, whether it calls in the background."""

    messages: list[Message]
    orders: list[list[int]]
    started: list[bool]


def draw_group(draw: random.Random, ranks: int) -> Group:
    messages = [draw_message(draw, ranks) for _ in range(draw.choice([1, 2, 3, 5, 10, 30]))]
    orders = []
    for rank in range(ranks):
        mine = [i for i, message in enumerate(messages) if message.source == rank]
        mine += [~i for i, message in enumerate(messages) if message.target == rank]
        orders.append(shuffled_within_directions(draw, messages, mine))
    return Group(messages, orders, [draw.random() < 0.3 for _ in range(ranks)])


def draw_message(draw: random.Random, ranks: int) -> Message:
    dtype = draw.choice(DTYPES)
    most = MOST_BYTES // np.dtype(dtype).itemsize  # more than a link's slots hold
    return Message(
        source=draw.randrange(ranks),
        target=draw.randrange(ranks),
        dtype=dtype,
        count=draw.choice([0, 1, 7, 8, 13, 1000, most // 3, most, draw.randint(0, most)]),
        offset=draw.choice([0, 1, 8, 20, 63]),
        shared=draw.random() < 0.3,
        seed=draw.randrange(2**31),
    )


def shuffled_within_directions(draw: random.Random, messages: list[Message], mine: list[int]) -> list[int]:
    """`mine` in another order, but for those between the same two ranks in the same direction."""

    def direction(i: int) -> tuple[bool, int]:
        return (True, messages[i].target) if i >= 0 else (False, messages[~i].source)

    queues: dict[tuple[bool, int], list[int]] = {}
    for i in mine:
        queues.setdefault(direction(i), []).append(i)
    turns = [direction(i) for i in mine]
    draw.shuffle(turns)
    return [queues[turn].pop(0) for turn in turns]


def run_group(group: Group, comm: Communicator) -> list[str]:
    """Makes one rank's transfers, all in one call; says what is wrong with what it got."""
    places: dict[int, Guarded] = {}
    transfers = []
    for i in group.orders[comm.rank]:
        message = group.messages[i if i >= 0 else ~i]
        place = places[i] = Guarded(message.count, message.dtype, message.offset, message.shared and i >= 0)
        if i >= 0:
            place.array.view("uint8")[:] = message.content()
        transfers.append((i >= 0, message.target if i >= 0 else message.source, place.array))
    transfer(comm, transfers, started=group.started[comm.rank])
    wrong = []
    for i, place in places.items():
        message = group.messages[i if i >= 0 else ~i]
        if not place.intact():
            wrong.append(f"rank {comm.rank} wrote beside {message}")
        if (place.array.view("uint8") != message.content()).any():
            wrong.append(f"rank {comm.rank} {'changed' if i >= 0 else 'has not got'} {message}")
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_every_message_arrives(ranks: int) -> None:
    draw = random.Random(SEED + ranks)
    num_messages = 0
    with closing(Ranks(ranks, timeout=TIMEOUT_S, profile="")) as threads:
        for _ in range(NUM_GROUPS):
            group = draw_group(draw, ranks)
            wrong = [line for lines in threads.run(lambda comm, group=group: run_group(group, comm)) for line in lines]
            assert not wrong, "\n".join([*wrong, repr(group)])
            num_messages += len(group.messages)
    assert num_messages > 3 * NUM_GROUPS


def test_the_check_sees_what_did_not_arrive() -> None:
    group = Group([Message(0, 1, "int32", 100, 0, False, 1)], [[0], [~0]], [False, False])
    lost = Group(group.messages, [[], []], [False, False])
    other = Group([Message(0, 1, "int32", 100, 0, False, 2)], group.orders, group.started)

    def received(comm: Communicator, sent: Group, wanted: Group) -> list[str]:
        return run_group(sent if comm.rank == 0 else wanted, comm)

    with closing(Ranks(2, timeout=TIMEOUT_S, profile="")) as threads:
        assert threads.run(lambda comm: run_group(group, comm)) == [[], []]
        assert threads.run(lambda comm: run_group(lost, comm)) == [[], []]
        assert threads.run(lambda comm: received(comm, other, group)) == [
            [],
            [f"rank 1 has not got {group.messages[0]}"],
        ]
    empty = Guarded(3, "uint8", 0)
    assert (empty.array == UNTOUCHED).all()
