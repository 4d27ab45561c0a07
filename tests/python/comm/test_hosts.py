"""Ranks on several hosts: every collective is exact, transfers, groups and parts work, and the network is used as
asked for.

For: hosts that are network namespaces, what users see. Not for: what goes wrong (test_hosts_refused.py,
test_faults_hosts.py), frames and streams (tests/core/transport, tests/core/net).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fault_support import Job, left_in_shared_memory, places_on
from hosts_ranks import call_all, open_and_close, send_some, transfer_and_split
from hosts_support import Hosts, why_no_hosts

pytestmark = pytest.mark.skipif(bool(why_no_hosts()), reason=f"no network namespaces: {why_no_hosts()}")

SHAPES = [(2, 1), (2, 2), (3, 1), (4, 2), (8, 1), (2, 4), (8, 4)]  # hosts, ranks on each


@pytest.mark.parametrize(("count", "each"), SHAPES)
def test_every_collective_is_exact(count: int, each: int) -> None:
    with Hosts(count, each) as hosts, Job(hosts.num_ranks, call_all, places=places_on(hosts)) as job:
        seen = [job.hear(rank) for rank in range(hosts.num_ranks)]
    for wrong, on_hosts, (sent, received) in seen:
        assert wrong == []
        assert on_hosts == [hosts.host_of(rank) for rank in range(hosts.num_ranks)]
        assert sent > 0
        assert received > 0
    assert sum(sent for _, _, (sent, _) in seen) == pytest.approx(
        sum(received for _, _, (_, received) in seen), rel=0.01
    ), "what one rank sent another received; credits of the last call may be under way"


@pytest.mark.parametrize(("count", "each"), [(2, 1), (2, 2), (3, 1)])
def test_transfers_groups_and_parts(count: int, each: int) -> None:
    with Hosts(count, each) as hosts, Job(hosts.num_ranks, transfer_and_split, places=places_on(hosts)) as job:
        for rank in range(hosts.num_ranks):
            total = sum(1 + other for other in range(hosts.num_ranks) if other % 2 == rank % 2)
            assert job.hear(rank) == (True, True, total)


def test_the_bytes_on_the_network_are_those_of_the_algorithm() -> None:
    size = 4_000_000
    with Hosts(2) as hosts, Job(2, send_some, size, places=places_on(hosts)) as job:
        for rank in range(2):
            sent, received = job.hear(rank)
            assert size <= sent <= 1.05 * size, "two ranks: each sends half, then a sum of half"
            assert 0.8 * size <= received <= 1.05 * size, "what came early was counted before"


def test_hosts_with_ipv6_alone() -> None:
    with Hosts(2, ipv6=True) as hosts, Job(2, call_all, places=places_on(hosts)) as job:
        for rank in range(2):
            assert job.hear(rank)[0] == []


def test_a_slow_network() -> None:
    with Hosts(2, rate="400mbit") as hosts, Job(2, send_some, 1_000_000, places=places_on(hosts)) as job:
        for rank in range(2):
            assert job.hear(rank)[0] >= 1_000_000


def test_hosts_that_share_a_directory(tmp_path: Path) -> None:
    with Hosts(2) as hosts:
        places = places_on(hosts, {"RINGTREE_IFNAME": "eth0"}, store=f"file:{tmp_path}")
        with Job(2, call_all, places=places) as job:
            for rank in range(2):
                assert job.hear(rank)[0] == []


@pytest.mark.parametrize(
    ("pattern", "cards"),
    [("eth1", {"eth1"}), ("=eth0", {"eth0"}), ("^eth1,^lo", {"eth0"})],
)
def test_data_take_the_cards_that_were_asked_for(pattern: str, cards: set[str]) -> None:
    with Hosts(2, cards=2) as hosts:
        chosen = {"RINGTREE_IFNAME": pattern, "RINGTREE_STREAMS": "2"}
        before = {f"eth{card}": hosts.bytes_sent(0, card) for card in range(2)}
        with Job(2, send_some, 4_000_000, places=places_on(hosts, chosen)) as job:
            for rank in range(2):
                job.hear(rank)
            used = {card for card in before if hosts.bytes_sent(0, int(card[-1])) - before[card] > 1_000_000}
    assert used == cards


@pytest.mark.alone
@pytest.mark.parametrize("ipv6", [False, True], ids=["ipv4", "ipv6"])
def test_nobody_listens_on_all_addresses_and_nothing_is_left(ipv6: bool) -> None:
    with Hosts(2, 2, ipv6=ipv6) as hosts:
        namespaces = {Path(hosts.namespace(host)).stat().st_ino for host in range(2)}
        with Job(4, open_and_close, places=places_on(hosts)) as job:
            pids = [job.pid(rank) for rank in range(4)]
            for rank in range(4):
                assert job.hear(rank) == "up"
            sockets = [socket for host in range(2) for socket in hosts.sockets(host)]
            assert any(socket.listens for socket in sockets), "rank 0 serves the store"
            assert not any(socket.on_wildcard for socket in sockets if socket.listens)
            for rank in range(4):
                job.tell(rank, "close")
            for rank in range(4):
                assert job.hear(rank) == 0, "descriptors that a communicator left behind"
        assert [socket for host in range(2) for socket in hosts.sockets(host)] == []
    assert _namespaces_in_use().isdisjoint(namespaces)
    assert left_in_shared_memory(pids) == []


def _namespaces_in_use() -> set[int]:
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.add((process / "ns" / "net").stat().st_ino)
        except OSError:  # it has ended
            continue
    return found


def test_a_file_left_in_shared_memory_is_found() -> None:
    mine, anothers = (Path(f"/dev/shm/{name}") for name in (f"x_{os.getpid()}_1", f"x_{os.getpid()}1_1"))
    for file in (mine, anothers):
        file.touch()
    try:
        assert left_in_shared_memory([os.getpid()]) == [mine.name]
    finally:
        for file in (mine, anothers):
            file.unlink()
