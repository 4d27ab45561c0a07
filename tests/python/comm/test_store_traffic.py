"""How much goes through the store while ranks meet: messages and bytes by the number of ranks.

For: the formulas of docs/explanation/many-ranks.md. Not for: what a store does (tests/core/bootstrap), or time.

Only gets that found their key count: who asks before it is set asks again, and how often depends on time.
"""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from ringtree._core import CallableStore
from ringtree.comm.communicator import init
from ringtree.comm.rank_threads import on_threads

TOKEN_BYTES = 32


class CountedStore:
    """A store in this process that counts messages and bytes of values."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._changed = threading.Condition()  # protects all three
        self.messages: Counter[str] = Counter()
        self.value_bytes: Counter[str] = Counter()

    def set(self, key: str, value: bytes) -> None:
        with self._changed:
            self._values[key] = value
            self._count("set", value)
            self._changed.notify_all()

    def get(self, key: str, seconds: float) -> bytes | None:
        with self._changed:
            if not self._changed.wait_for(lambda: key in self._values, seconds):
                return None
            self._count("get", self._values[key])
            return self._values[key]

    def _count(self, what: str, value: bytes) -> None:
        self.messages[what] += 1
        self.value_bytes[what] += len(value)


@pytest.mark.alone
@pytest.mark.parametrize("num_ranks", [4, 8, 16])
def test_messages_and_bytes_of_a_meeting(num_ranks: int) -> None:
    """Each of n ranks sets its identity: n sets. Ranks 0 and 1 read each of the n - 1 others, and their own again at
    the end, which tells whether a second process has claimed their rank: n gets each. Both set all identities as one
    table, in one part at these sizes, which each of the n - 2 others gets: 3n - 2 gets in all. So each identity passes
    the store three times on its way in and n times on its way out. The table has 12 bytes of its own, and 4 for each
    rank. Rank 0 also sets two texts that all must have alike, what to choose by (here nothing) and a token of 32
    digits, and each of the n - 1 others gets both. What ranks say to each other afterwards, a barrier among it, goes
    through no store.
    """
    counted = CountedStore()

    def meet(rank: int) -> None:
        with init(rank, num_ranks, CallableStore(counted.set, counted.get), profile="") as comm:
            comm.barrier()

    on_threads(meet, num_ranks)
    assert counted.messages == {"set": num_ranks + 4, "get": 3 * num_ranks - 2 + 2 * (num_ranks - 1)}
    framing = 12 + 4 * num_ranks
    identities, odd = divmod(counted.value_bytes["set"] - TOKEN_BYTES - 2 * framing, 3)
    assert odd == 0
    tables = (num_ranks - 2) * framing
    assert counted.value_bytes["get"] == num_ranks * identities + tables + (num_ranks - 1) * TOKEN_BYTES
    assert 200 * num_ranks < identities < 800 * num_ranks, "of the size that the page reckons with"


def test_the_count_sees_one_message_more() -> None:
    counted = CountedStore()
    counted.set("key", b"abc")
    assert counted.get("key", 0.0) == b"abc"
    assert counted.get("other", 0.0) is None
    assert counted.messages == {"set": 1, "get": 1}
    assert counted.value_bytes == {"set": 3, "get": 3}
