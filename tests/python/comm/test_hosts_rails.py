"""Several cards of a host carry data side by side.

For: how a rank's bytes are spread over the cards. Not for: which cards are taken at all (test_hosts.py).

What guarantees the shares: streams take messages in turn as long as their sockets are not full
(tests/core/transport/test_tcp_port_streams.cpp), and here no socket ever is, as each may hold more than the rank sends
in all. So neither a busy machine nor the network's moods move bytes from one card to another.
"""

from __future__ import annotations

import pytest
from fault_support import Job, places_on
from hosts_ranks import send_some
from hosts_support import Hosts, why_no_hosts

pytestmark = pytest.mark.skipif(bool(why_no_hosts()), reason=f"no network namespaces: {why_no_hosts()}")

SIZE = 8_000_000  # bytes of a vector; two ranks each send as many in an all_reduce, and there are two
NUM_CALLS = 2
SOCKET_BYTES = 8 * SIZE  # the kernel also counts what it needs to keep track


def sent_by_card(hosts: Hosts, interfaces: str, streams: int | None) -> list[list[int]]:
    """By host, then by card: the bytes that left in all-reduces of two ranks."""
    before = [[hosts.bytes_sent(host, card) for card in range(hosts.cards)] for host in range(2)]
    variables = {"RINGTREE_IFNAME": interfaces} | ({} if streams is None else {"RINGTREE_STREAMS": str(streams)})
    with Job(2, send_some, SIZE, places=places_on(hosts, variables)) as job:
        for rank in range(2):
            job.hear(rank)
        return [[hosts.bytes_sent(host, card) - before[host][card] for card in range(hosts.cards)] for host in range(2)]


@pytest.mark.parametrize("streams", [None, 2, 4])
def test_each_of_two_cards_carries_its_share(streams: int | None) -> None:
    with Hosts(2, cards=2) as hosts:
        hosts.hold_in_sockets(SOCKET_BYTES)
        for sent in sent_by_card(hosts, "eth0,eth1", streams):
            assert sum(sent) >= NUM_CALLS * SIZE
            assert min(sent) >= sum(sent) / 3, sent


def test_a_card_that_was_not_asked_for_carries_nothing() -> None:
    with Hosts(2, cards=2) as hosts:
        for eth0, eth1 in sent_by_card(hosts, "eth0", streams=2):
            assert eth0 >= NUM_CALLS * SIZE
            assert eth1 < SIZE / 1000, "the kernel's own packets alone"
