"""Which process says why a job's processes did not meet, by the error that each of them got.

For: the decision, with errors made here. Not for: real processes (tests/python/compare/test_compare_agents.py).
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from launchers_support import free_ports

from ringtree.errors import DeadlineError, MismatchError, PeerError, RingtreeError, UsageError
from ringtree.launchers import Identity
from ringtree.measure import refusing, who_speaks
from ringtree.measure.host_speaker import HostSpeaker
from ringtree.measure.refusing import Met, meet_rank_0, refuse_openly
from ringtree.measure.who_speaks import SaidElsewhere, failed_to_meet, jobs_to_tell

LATE = DeadlineError("rank 1 waited", [0])
HINT = "; if hosts start slowly, raise RINGTREE_JOIN_SECONDS (now 7)"
_AT_N0: dict[str, Any] = {
    "address": "n0",
    "port": "29500",
    "sources": {"address": "MASTER_ADDR", "port": "MASTER_PORT"},
}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody speaks elsewhere, so there is nobody to leave the first word to."""
    monkeypatch.setattr(who_speaks, "FIRST_WORD", 0.0)
    monkeypatch.setattr(who_speaks, "STAY", 0.0)


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    return f"{request.node.name[:30]}-{os.getpid()}"


def raised(identity: Identity, error: RingtreeError, key: str) -> RingtreeError:
    """What a process raises that is alone on its host."""
    speaker = HostSpeaker(f"{key}-{identity.rank}", identity.rank)
    try:
        return failed_to_meet(identity, speaker, error, seconds=7)
    finally:
        speaker.close()


def on_one_host(rank: int, **more: Any) -> Identity:
    return Identity("Slurm", rank, 4, local_size=4, job="7", sources={"job": "SLURM_JOB_ID"}, **more)


def test_rank_0_says_who_is_missing(key: str) -> None:
    late = DeadlineError("rank 0 waited", [3])
    said = raised(on_one_host(0), late, key)
    assert type(said) is DeadlineError
    assert str(said) == f"rank 0 waited{HINT}"
    assert isinstance(raised(on_one_host(1), late, key), SaidElsewhere)


def test_a_missing_rank_0_is_said_on_each_host_with_its_name(key: str) -> None:
    for error in (LATE, PeerError("rank 0 ended", [0])):
        said = raised(Identity("Slurm", 5, 8, num_hosts=2, local_rank=1, **_AT_N0), error, key)
        assert type(said) is type(error)
        assert str(said).startswith(f"{os.uname().nodename}: {error}")


def test_a_rank_0_that_comes_when_the_others_have_given_up_is_silent(key: str) -> None:
    assert isinstance(raised(on_one_host(0), LATE, key), SaidElsewhere)


def test_a_launchers_store_tells_who_is_the_lowest_that_came(key: str) -> None:
    late = DeadlineError("rank 2 waited", [0, 1])
    said = [raised(on_one_host(rank, serves_store=True), late, key) for rank in (2, 3)]
    assert [type(one) for one in said] == [DeadlineError, SaidElsewhere]


@pytest.mark.parametrize(
    ("rank", "missing", "speaks"),
    [
        (63, range(63), True),
        (64, range(63), False),
        (70, range(64), True),  # whether 64 came nobody has said
        (64, [*range(62), 63], False),  # 62 did
        (70, [*range(63), 65], False),  # 63 did
        (2, [0, 1, 2], True),  # another process's word, from before this one came
    ],
)
def test_one_speaks_where_a_list_leaves_open_who_is_the_lowest(
    rank: int, missing: Sequence[int], speaks: bool, key: str
) -> None:
    said = raised(replace(on_one_host(rank, serves_store=True), world_size=99), DeadlineError("late", missing), key)
    assert type(said) is (DeadlineError if speaks else SaidElsewhere)


def test_more_time_is_advised_only_where_a_rank_has_not_come(key: str) -> None:
    assert str(raised(on_one_host(0), DeadlineError("rank 0 waited for rank 1 to connect"), key)).endswith("connect")
    assert str(raised(on_one_host(1), LATE, key)).endswith(HINT)


def test_a_mismatch_is_said_by_rank_0_as_a_mistake(key: str) -> None:
    said, silent = (raised(on_one_host(rank), MismatchError("they differ"), key) for rank in (0, 1))
    assert type(said) is UsageError
    assert isinstance(silent, SaidElsewhere)
    assert silent.is_usage


def test_who_reaches_no_store_speaks_for_its_host(key: str) -> None:
    """As where torchrun's can't be reached: rank 0 does not hear of it."""
    said = raised(on_one_host(1, serves_store=True), PeerError("torchrun's store can't be reached"), key)
    assert type(said) is PeerError


def test_who_can_be_another_rank_of_one_store_does_not_open_it() -> None:
    real = Identity("the environment", 1, 2, num_hosts=2, **_AT_N0)
    left_over = Identity("MPICH", 0, 7, num_hosts=2, **_AT_N0)
    elsewhere = Identity("MPICH", 0, 7, num_hosts=1, **_AT_N0)
    assert jobs_to_tell((real, left_over)) == jobs_to_tell((left_over, real)) == [real]
    assert jobs_to_tell((real, elsewhere)) == [real, elsewhere]
    assert jobs_to_tell((left_over, replace(real, world_size=1))) == [left_over]


def on_loopback(rank: int, world_size: int, port: int) -> Identity:
    place = _AT_N0 | {"address": "127.0.0.1", "port": str(port)}
    return Identity("Slurm", rank, world_size, num_hosts=2, **place)


def test_nobody_listens_at_a_name_that_is_none() -> None:
    assert meet_rank_0(Identity("Slurm", 1, 2, num_hosts=2, **{**_AT_N0, "address": "n0..cluster"})) is Met.NOBODY


def test_rank_0_that_has_no_secret_is_known_from_another_that_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    (port,) = free_ports(1)
    caller = on_loopback(1, 2, port)
    assert meet_rank_0(caller) is Met.NOBODY
    with ThreadPoolExecutor(1) as pool, monkeypatch.context() as patch:
        patch.setattr(refusing, "_ANSWER", 60.0)
        refused = pool.submit(refuse_openly, on_loopback(0, 2, port), 60.0)
        until = time.monotonic() + 60
        while (met := meet_rank_0(caller)) is Met.NOBODY:  # until it listens
            assert not refused.done(), "the port was taken meanwhile"
            assert time.monotonic() < until
        assert met is Met.REFUSES
        assert refused.result(60)
    with socket.create_server(("127.0.0.1", port)):
        assert meet_rank_0(caller) is Met.LISTENS
        assert not refuse_openly(on_loopback(0, 2, port), 60.0), "the port is taken"
