"""What a rank waited for, and what traces add up to: made up events with known answers, and sums that must hold for
real ones."""

from __future__ import annotations

import itertools

import pytest
from trace_support import event, events_of, made_up, reduced, traces_of

import ringtree
from ringtree.trace import idle_times, summarise
from ringtree.trace.idle import Idle


def times(*events: dict[str, int]) -> list[tuple[str, int, int]]:
    """The idle times of a call from 0 to 100 with these events."""
    return [(one.kind, one.begin_ns, one.end_ns) for one in idle_times(events_of(event("call", 0, 100), *events))]


def test_the_wait_of_the_lane_that_goes_on_counts() -> None:
    # Lane 1 waits longer, but it is lane 0 that goes on at 30; then lane 1, at 60.
    assert times(
        event("message", 0, 60, lane=1),
        event("step", 0, 10),
        event("slot", 10, 30),
        event("step", 30, 40),
        event("dependency", 40, 90),
        event("step", 60, 70, lane=1),
        event("step", 90, 95),
    ) == [("slot", 10, 30), ("message", 40, 60), ("dependency", 70, 90)]


def test_waits_one_after_another_count_each_and_only_where_nothing_moved() -> None:
    assert times(
        event("message", 0, 20),
        event("slot", 20, 50),
        event("step", 5, 30, lane=1),
        event("step", 50, 60),
    ) == [("slot", 30, 50)]


def test_polls_between_waits_are_not_idle_times() -> None:
    assert times(event("message", 10, 40), event("step", 50, 60)) == [("message", 10, 40)]


def test_after_the_last_step_peers_read() -> None:
    assert times(event("step", 0, 60), event("readers", 65, 100)) == [("readers", 65, 100)]


def test_of_a_call_that_failed_the_lane_that_waited_first_counts() -> None:
    assert times(event("step", 0, 10), event("message", 20, 100, lane=1), event("slot", 10, 100)) == [("slot", 10, 100)]


def test_idle_times_name_their_event() -> None:
    events = events_of(event("call", 0, 9), event("message", 1, 5, peer=3), event("step", 5, 9))
    assert idle_times(events) == [Idle(1, 5, "message", 0)]
    assert events[0]["peer"] == 3


def test_summary_of_made_up_traces() -> None:
    # The ring of two ranks: each sends, receives and sends on, receives.
    schedule = ringtree.schedule("all_reduce", "ring", 2)
    steps = [event("step", 10 * i, 10 * i + 4, step=i, bytes=1000) for i in range(3)]
    first = made_up(0, schedule, event("call", 0, 40), *steps, event("message", 4, 10), event("sleep", 5, 8))
    second = made_up(1, schedule, event("call", 5, 50), *[{**one, "end_ns": one["end_ns"] + 1} for one in steps])
    summary = summarise([first, second])
    assert (summary.num_calls, summary.num_left_out, summary.num_events, summary.num_lost) == (1, 0, 10, 0)
    assert summary.seconds == pytest.approx(50e-9)
    rank = summary.ranks[0]
    assert (rank.call, rank.steps, rank.asleep) == pytest.approx((40e-9, 12e-9, 3e-9))
    assert rank.idle["message"] == pytest.approx(6e-9)
    assert rank.rest == pytest.approx(22e-9)
    assert summary.ranks[1].idle["message"] == 0
    loads = [(load.sender, load.receiver, load.bytes, load.messages) for load in summary.links]
    assert loads == [(0, 1, 2000, 2), (1, 0, 2000, 2)]


@pytest.mark.parametrize("algorithm", ["ring", "two_shot", "tree"])
def test_the_times_of_a_rank_add_up(algorithm: str) -> None:
    traces = traces_of(reduced(300_000, algorithm), 4, num_calls=3)
    summary = summarise(traces)
    assert summary.num_calls == 3
    for rank in summary.ranks:
        assert 0 < rank.steps < rank.call
        assert rank.rest >= 0
        assert rank.asleep <= rank.call - rank.steps
        assert rank.call <= 1.001 * summary.seconds or summary.num_calls > 1
    for trace in traces:
        for call in trace.calls:
            idle = idle_times(trace.of_call(call.sequence))
            assert all(one.end_ns <= other.begin_ns for one, other in itertools.pairwise(idle))


def test_links_of_a_ring_carry_what_theory_says() -> None:
    summary = summarise(traces_of(reduced(400_000, "ring"), 4))
    assert [(load.sender, load.receiver) for load in summary.links] == [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert [load.bytes for load in summary.links] == [2 * 3 / 4 * 1_600_000] * 4


def test_calls_with_lost_events_are_left_out() -> None:
    # Two complete calls at most: a ring of two ranks has three slice steps, and the call is an event too.
    summary = summarise(traces_of(reduced(10, "ring"), 2, num_calls=30, capacity=8))
    assert summary.num_lost >= 2 * (30 * 4 - 8)
    assert summary.num_calls <= 2
    if summary.num_calls == 0:
        assert summary.ranks == ()
        assert summary.links == ()


def test_one_trace_a_rank_is_needed() -> None:
    traces = traces_of(reduced(10), 2)
    for wrong in (traces[::-1], traces[1:], []):
        with pytest.raises(ringtree.UsageError, match="one trace of each rank"):
            summarise(wrong)
