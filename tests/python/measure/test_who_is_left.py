"""Which agent says that the lab has died, whatever ranks died with it and in which order each agent notices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pytest

from ringtree.errors import PeerError
from ringtree.measure import who_is_left
from ringtree.measure.who_is_left import word_of_the_lowest

Gone = dict[int, Literal["died", "left"]]


class Looks:
    """A communicator that sees at each look what comes next, and from then on the last."""

    def __init__(self, rank: int, *seen: Gone) -> None:
        self.rank, self._seen = rank, list(seen)

    @property
    def gone(self) -> Gone:
        return self._seen.pop(0) if len(self._seen) > 1 else self._seen[0]


def word(rank: int, *seen: Gone, patience: float = 60.0, found: Sequence[int] = (0,)) -> str | None:
    error = word_of_the_lowest(Looks(rank, *seen), PeerError(f"rank {found[0]} died in a call", found), patience)
    return None if error is None else str(error)


@pytest.fixture(autouse=True)
def looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(who_is_left, "_LOOK_SECONDS", 0.0)


def test_the_first_of_those_that_are_left_speaks() -> None:
    assert word(1, {0: "died"}) == "rank 0 died in a call"


def test_it_waits_until_it_has_seen_all_before_it_die() -> None:
    said = word(2, {1: "died"}, {1: "died"}, {0: "died", 1: "died"}, found=[1])
    assert said == "ranks 0, 1 have ended: rank 1 died in a call"


def test_all_that_died_are_named() -> None:
    assert word(1, {0: "died"}, found=[2]) == "ranks 0, 2 have ended: rank 2 died in a call"
    assert word(1, {0: "died", 2: "died"}) == "ranks 0, 2 have ended: rank 0 died in a call"


def test_a_lab_that_died_is_named_where_the_error_is_about_a_connection() -> None:
    lost = PeerError("a TCP stream between rank 1 and rank 0 can no longer be used", [])
    error = word_of_the_lowest(Looks(1, {0: "died"}), lost, 60.0)
    assert error is not None
    assert str(error) == f"rank 0 has ended: {lost}"
    assert list(error.ranks) == [0]


def test_a_lab_that_left_has_said_it() -> None:
    assert word(1, {2: "died"}, {0: "left", 2: "died"}, found=[2]) is None


def test_one_before_this_one_that_left_has_said_it() -> None:
    assert word(3, {0: "died"}, {0: "died", 1: "left"}, {0: "died", 1: "left", 2: "left"}) is None


def test_one_before_this_one_that_lives_says_it() -> None:
    assert word(2, {0: "died"}, patience=0.0) is None
    assert word(1, {2: "died"}, patience=0.0, found=[2]) is None
