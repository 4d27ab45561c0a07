"""Ranks on several hosts that cannot meet: each says why, and what to do.

For: secrets, and interfaces that do not fit. Not for: strangers on the network (tests/core/net).
"""

from __future__ import annotations

import re

import pytest
from fault_ranks import Failed, Place
from fault_support import Job, places_on
from hosts_ranks import call_all
from hosts_support import Hosts, why_no_hosts

pytestmark = pytest.mark.skipif(bool(why_no_hosts()), reason=f"no network namespaces: {why_no_hosts()}")

SHORT_S = 5.0


def ends(places: list[Place]) -> list[Failed]:
    """How the ranks fail to meet."""
    with Job(len(places), call_all, places=places) as job:
        failed = [job.hear(rank) for rank in range(len(places))]
    assert all(isinstance(each, Failed) for each in failed), failed
    return failed


def test_without_a_secret_nobody_listens() -> None:
    with Hosts(2) as hosts:
        first = ends(places_on(hosts, {"RINGTREE_SECRET_FILE": ""}, meeting_s=SHORT_S))[0]
    assert first.error == "UsageError"
    assert "RINGTREE_SECRET_FILE" in first.text


def test_another_secret_is_refused() -> None:
    with Hosts(2) as hosts:
        places = places_on(hosts, meeting_s=SHORT_S)
        other = {"RINGTREE_SECRET_FILE": str(hosts.new_secret("other"))}
        stranger = Place(hosts.namespace(1), other, places[1].store, SHORT_S)
        rank_0, rank_1 = ends([places[0], stranger])
    assert "secret" in rank_1.text
    assert rank_0.error == "DeadlineError"
    assert re.search(r"rank 1", rank_0.text)


def test_a_secret_that_others_can_read_is_refused() -> None:
    with Hosts(2) as hosts:
        hosts.secret_file.chmod(0o644)
        for failed in ends(places_on(hosts, meeting_s=SHORT_S)):
            assert failed.error == "UsageError"
            assert "RINGTREE_SECRET_FILE" in failed.text


@pytest.mark.parametrize(("pattern", "says"), [("wlan0", "eth0"), ("=lo", "RINGTREE_IFNAME")])
def test_cards_that_are_not_there_or_lead_nowhere(pattern: str, says: str) -> None:
    with Hosts(2) as hosts:
        failures = ends(places_on(hosts, {"RINGTREE_IFNAME": pattern}, meeting_s=SHORT_S))
    assert all(says in failed.text for failed in failures), failures
    # The first to look refuses; another may hear of that before it has looked.
    assert {failed.error for failed in failures} in ({"UsageError"}, {"UsageError", "PeerError"}), failures
