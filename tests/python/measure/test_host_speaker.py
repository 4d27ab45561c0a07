"""Which process of a host speaks. A speaker that is closed is a process that has ended."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from ringtree.measure import host_speaker
from ringtree.measure.host_speaker import WORD_SECONDS, HostSpeaker


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    return f"{request.node.name[:40]}-{os.getpid()}"


@contextlib.contextmanager
def speakers(key: str, *ranks: int, started: float | None = None) -> Iterator[list[HostSpeaker]]:
    """Speakers of one job that have come in this order."""
    made = [HostSpeaker(key, rank, started) for rank in ranks]
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


def test_a_word_from_before_a_process_was_started_is_another_jobs(key: str) -> None:
    """It is of a job with the same name, whose processes have not all ended."""
    earlier = HostSpeaker(key, 1)
    earlier.announce()
    with speakers(key, 2, 3, started=host_speaker._now()) as (second, third):
        earlier._say_it()  # to them, who have come meanwhile
        earlier.close()
        assert not second.hears(0)
        assert not third.hears(0)
        assert second.speaks()
        assert not third.speaks(), "they have found each other"


def test_a_word_from_long_before_a_failure_is_another_jobs(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That one hung until its limit, and this job's processes had joined it meanwhile."""
    monkeypatch.setattr(host_speaker, "_now", lambda: 1000.0)
    earlier = HostSpeaker(key, 1)
    earlier.join()
    with speakers(key, 2, 3, started=999.0) as (early, late):
        earlier.announce()
        earlier.close()
        monkeypatch.setattr(host_speaker, "_now", lambda: 1001.0 + WORD_SECONDS)
        assert not late.hears(0)
        monkeypatch.setattr(host_speaker, "_now", lambda: 999.0 + WORD_SECONDS)
        assert early.hears(0), "of one job not all fail at the same moment"


def two_jobs(key: str, monkeypatch: pytest.MonkeyPatch) -> list[list[HostSpeaker]]:
    """Two jobs of one name, ranks 1 and 2 of each: the later one was started before the earlier one failed."""
    monkeypatch.setattr(host_speaker, "_now", lambda: 1010.0)
    jobs = [[HostSpeaker(key, rank, started + 0.1 * rank) for rank in (1, 2)] for started in (1000.0, 1005.0)]
    for one in (*jobs[0], *jobs[1]):
        one.join()
    return jobs


def test_a_job_that_was_started_before_one_of_the_same_name_spoke_says_its_own_word(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [who_speaks(*job) for job in two_jobs(key, monkeypatch)] == [[True, False]] * 2


def test_a_later_job_does_not_silence_one_of_the_same_name(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    earlier, later = two_jobs(key, monkeypatch)
    for one in later:
        one.announce()
        one.close()
    assert who_speaks(*earlier) == [True, False]


def test_the_time_of_a_word_is_handed_on(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_speaker, "_now", lambda: 1000.0)
    with speakers(key, 1, 2, started=999.0) as (first, second):
        rank_0 = HostSpeaker(key, 0)
        rank_0.announce()
        rank_0.close()
        first.note_failure()
        monkeypatch.setattr(host_speaker, "_now", lambda: 1001.0 + WORD_SECONDS)
        assert first.hears(0)
        assert not second.hears(0)


def test_a_process_knows_when_it_was_started() -> None:
    tick = 1 / os.sysconf("SC_CLK_TCK")
    before = host_speaker._now()
    asking = "from ringtree.measure import host_speaker; print(host_speaker._start_of_this_process())"
    child = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True, timeout=300, check=True)
    assert before - tick <= float(child.stdout) <= host_speaker._now()


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


@pytest.mark.parametrize("refused", [errno.EMFILE, errno.EPERM])
def test_where_no_socket_can_be_made_each_is_alone(key: str, refused: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> socket.socket:
        raise OSError(refused, os.strerror(refused))

    monkeypatch.setattr(host_speaker, "_MEET_SECONDS", 0.0)
    monkeypatch.setattr(socket, "socket", refuse)
    with speakers(key, 1, 2) as (first, second):
        assert first.speaks()
        assert second.speaks()


def test_one_that_can_take_no_connection_waits_without_haste(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no descriptor left, and what has come makes its listener ready all the time."""
    first, second = HostSpeaker(key, 1), HostSpeaker(key, 2)
    for one in (first, second):
        one.join()
    num_looks, admit = itertools.count(), first._admit
    monkeypatch.setattr(first, "_admit", lambda: next(num_looks) >= 0 and admit())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        assert not first.hears(0.5)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert 1 < next(num_looks) < 20
    second.announce()
    second.close()
    assert first.hears(60), "with a descriptor it takes it"
    first.close()


def test_one_that_finds_no_room_waits_for_it_only_when_it_has_something_to_hear(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_speaker, "_BACKLOG", 0)  # Linux keeps one more
    monkeypatch.setattr(host_speaker, "_PAUSE", -1.0)  # to sleep so long is an error
    made = first, second, third, fourth = [HostSpeaker(key, rank) for rank in (1, 2, 3, 4)]
    for one in made:
        one.join()
    assert [one._waits_for_room for one in made] == [False, False, True, True]
    assert not first.hears(0)  # makes room
    assert not third.hears(0)  # takes it
    assert not first.hears(0)
    fourth.announce()
    for one in (fourth, first, second, third):
        assert one is fourth or one.hears(60)
        one.close()
