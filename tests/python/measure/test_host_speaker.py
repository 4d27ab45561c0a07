"""Which process of a host speaks. A speaker that is closed is a process that has ended."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator

import pytest

from ringtree.measure.host_speaker import HostSpeaker


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    return f"{request.node.name[:40]}-{os.getpid()}"


@contextlib.contextmanager
def speakers(key: str, *ranks: int) -> Iterator[list[HostSpeaker]]:
    """Speakers of one job that have come in this order."""
    made = [HostSpeaker(key, rank) for rank in ranks]
    for one in made:
        one.join()
    yield made
    for one in made:
        one.close()


def who_speaks(*ended: HostSpeaker) -> list[bool]:
    """Whether each speaks, if they find at once that something must be said, and end when they know."""
    said: dict[int, bool] = {}

    def end(number: int) -> None:
        said[number] = ended[number].speaks()
        ended[number].close()

    threads = [threading.Thread(target=end, args=(number,)) for number in range(len(ended))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [said[number] for number in range(len(ended))]


@pytest.mark.parametrize("ranks", [(1, 2, 3), (3, 2, 1), (5, 2, 9)])
def test_the_lowest_speaks_and_the_others_hear_it(ranks: tuple[int, ...], key: str) -> None:
    made = [HostSpeaker(key, rank) for rank in ranks]
    for one in made:
        one.join()
    assert who_speaks(*made) == [rank == min(ranks) for rank in ranks]


def test_one_that_is_alone_speaks(key: str) -> None:
    with speakers(key, 7) as (alone,):
        assert not alone.hears(0)
        assert alone.speaks()


def test_rank_0_is_heard_by_all_though_it_took_no_place(key: str) -> None:
    with speakers(key, 1, 2) as (first, second):
        rank_0 = HostSpeaker(key, 0)
        rank_0.announce()
        rank_0.close()
        assert not first.speaks()
        assert not second.speaks()


def test_rank_0_stays_for_those_that_come_late(key: str) -> None:
    rank_0 = HostSpeaker(key, 0)
    rank_0.join()  # before the others, so that it can count them
    staying = threading.Thread(target=rank_0.announce, kwargs={"num_others": 2, "linger": 60.0})
    staying.start()
    late = [HostSpeaker(key, rank) for rank in (1, 2)]
    for one in late:
        one.join()
    staying.join()
    rank_0.close()
    for one in late:
        assert one.hears(60)
        one.close()


def test_one_that_ended_without_a_word_is_replaced(key: str) -> None:
    died, left = HostSpeaker(key, 1), HostSpeaker(key, 2)
    for one in (died, left):
        one.join()
    died.close()
    assert left.speaks()
    left.close()


def test_jobs_do_not_hear_each_other(key: str) -> None:
    with speakers(key, 1) as (one,), speakers(f"{key}-other", 1) as (other,):
        assert one.speaks()
        assert not other.hears(0)


def test_a_place_is_free_once_all_have_met(key: str) -> None:
    with speakers(key, 1):
        pass
    with speakers(key, 1) as (again,):
        assert again.speaks()


def test_what_is_no_speaker_is_not_admitted(key: str) -> None:
    """It connects, and ends before it has said its rank."""
    with speakers(key, 3) as (one,):
        stranger = socket.socket(socket.AF_UNIX)
        stranger.connect(one._name)
        stranger.close()
        assert not one.hears(0)
        assert one.speaks()
