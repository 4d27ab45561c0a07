"""Ranks on several hosts that die, stop, or are cut off: everybody left is told whom it befell.

For: kinds of errors, names, and times within an order of magnitude, on a loaded machine. Not for: the bars, which
`make faults` holds (tests/faults).
"""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from engine_case import COLLECTIVES
from fault_ranks import Call, Failed, call_on_and_on, call_once, call_or_cut, call_or_stop
from fault_support import Job, places_on
from hosts_support import Hosts, why_no_hosts

pytestmark = pytest.mark.skipif(bool(why_no_hosts()), reason=f"no network namespaces: {why_no_hosts()}")

SHAPES = [(2, 1), (3, 1), (2, 2)]  # hosts, ranks on each
COUNT = 50_000
SOON_S = 5.0  # for what takes milliseconds
DEADLINE_S = 6.0


def names(rank: int, job: Job) -> str:
    """How errors begin to name a rank; the host follows."""
    return f"rank {rank} (pid {job.pid(rank)} on "


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize(("count", "each"), SHAPES)
def test_death_on_another_host_is_told_and_the_others_go_on(collective: str, count: int, each: int) -> None:
    with Hosts(count, each) as hosts:
        ranks, victim = hosts.num_ranks, hosts.num_ranks - 1
        call = Call(collective, COUNT, op="max")
        with Job(ranks, call_on_and_on, call, victim, 5, places=places_on(hosts)) as job:
            assert job.hear(victim) == "in call"
            killed_at = job.kill(victim)
            for rank in range(victim):
                failed = job.hear(rank)
                assert isinstance(failed, Failed)
                assert failed.error == "PeerError", failed
                assert names(victim, job) in failed.text
                assert collective in failed.text
                assert failed.at - killed_at < SOON_S
            for rank in range(victim):
                assert job.hear(rank) == (rank, ranks - 1, ranks - 1.0)


@pytest.mark.parametrize(("count", "each"), SHAPES)
def test_a_rank_that_is_stopped_is_suspected_by_name_and_named_at_the_deadline(count: int, each: int) -> None:
    with Hosts(count, each) as hosts:
        victim = hosts.num_ranks - 1
        job_of = (hosts.num_ranks, call_or_stop, Call("all_reduce"), victim, 4, DEADLINE_S)
        with Job(*job_of, places=places_on(hosts)) as job:
            assert job.hear(victim) == "stops"
            stopped_at = time.monotonic()
            suspicion = re.compile(re.escape(f"ringtree: {names(victim, job)}") + r"[^)]*\) has not been heard of")
            warned = job.await_words(range(victim), suspicion, stopped_at + DEADLINE_S + SOON_S)
            for rank in range(victim):
                failed = job.hear(rank)
                assert failed.error == "DeadlineError", failed
                assert names(victim, job) in failed.text
                assert "silent: stopped or cut off" in failed.text
                assert DEADLINE_S - 1 < failed.at - stopped_at < DEADLINE_S + SOON_S
            assert sorted(warned) == list(range(victim))


@pytest.mark.parametrize("how", ["drops", "link down"])
def test_both_sides_of_a_cut_name_the_other(how: str) -> None:
    with Hosts(2) as hosts, Job(2, call_or_cut, DEADLINE_S, places=places_on(hosts)) as job:
        for rank in range(2):
            assert job.hear(rank) == "calls"
        if how == "drops":
            hosts.cut(1)
        else:
            hosts.set_link(1, "down")
        cut_at = time.monotonic()
        for rank in range(2):
            failed = job.hear(rank)
            assert failed.error == "DeadlineError", failed
            assert names(1 - rank, job) in failed.text
            assert failed.at - cut_at < DEADLINE_S + SOON_S


@pytest.mark.parametrize("what", ["count", "dtype", "op", "collective"])
@pytest.mark.parametrize(("count", "each"), SHAPES)
def test_every_rank_on_every_host_is_told_who_called_what(what: str, count: int, each: int) -> None:
    usual = Call("all_reduce")
    odd = {
        "count": replace(usual, count=1001),
        "dtype": replace(usual, dtype="int32"),
        "op": replace(usual, op="max"),
        "collective": replace(usual, collective="all_gather"),
    }[what]
    with Hosts(count, each) as hosts:
        odd_rank = hosts.num_ranks - 1
        with Job(hosts.num_ranks, call_once, usual, odd, odd_rank, places=places_on(hosts)) as job:
            for rank in range(hosts.num_ranks):
                failed = job.hear(rank)
                assert failed.error == "MismatchError", failed
                assert names(odd_rank, job) in failed.text
                assert failed.text.startswith("the ranks disagree about call #2: "), failed
