"""Traces of real ranks against what the schedule and the cut say, counted here step by step. Ranks are threads; the
recording itself is tested in C++ (tests/core/engine/test_trace.cpp)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from trace_support import reduced, traces_of

import ringtree
from ringtree import Communicator, RankTrace, Schedule
from ringtree.comm.rank_trace import KINDS, TracedCall
from ringtree.trace import match_messages
from ringtree.trace.programs import Programs

Slices = Counter[tuple[int, int, int, int, int]]  # channel, pass, step, slice, bytes


def expected_slices(schedule: Schedule, rank: int, count: int, item: int, channels: int, call: TracedCall) -> Slices:
    """Every slice step of a rank: its chunks' pieces of a pass laid end to end, cut into slices; passes are even, but
    for rounding up to whole KB."""
    lengths = [length for _, length in schedule.layout(count)]

    def part(chunk: int, channel: int) -> int:
        return (lengths[chunk] // channels + (channel < lengths[chunk] % channels)) * item

    longest = max(part(chunk, 0) for chunk in range(schedule.num_chunks))
    slice_bytes, num_passes = call.slice_bytes, call.num_passes
    pass_bytes = longest if num_passes == 1 else -(-longest // num_passes // 1024) * 1024
    assert min(longest, pass_bytes) * schedule.widest <= 4 * slice_bytes, "half of a link's slots"
    slices: Slices = Counter()
    for channel in range(channels):
        for number in range(num_passes):
            for index, step in enumerate(schedule.program(rank)):
                pieces = [min(max(part(chunk, channel) - number * pass_bytes, 0), pass_bytes) for chunk in step.chunks]
                left = sum(pieces)
                if left == 0 and number > 0:
                    continue
                for place in range(max(1, -(-left // slice_bytes))):
                    slices[channel, number, index, place, min(slice_bytes, left)] += 1
                    left -= slice_bytes
    return slices


def slices_in(trace: RankTrace) -> Slices:
    steps = trace.events[trace.events["kind"] == KINDS.index("step")]
    names = ("channel", "pass", "step", "slice", "bytes")
    return Counter(tuple(int(one[name]) for name in names) for one in steps)  # type: ignore[misc]


@pytest.mark.parametrize("algorithm", ringtree.algorithms.names("all_reduce"))
@pytest.mark.parametrize(("ranks", "count", "channels"), [(2, 10, 1), (3, 100_000, 1), (4, 333_333, 2)])
def test_slice_steps_of_all_reduce_are_those_of_schedule_and_cut(
    algorithm: str, ranks: int, count: int, channels: int
) -> None:
    schedule = ringtree.schedule("all_reduce", algorithm, ranks)
    for trace in traces_of(reduced(count, algorithm), ranks, channels=channels):
        (call,) = trace.calls
        expected = expected_slices(schedule, trace.rank, count, 4, channels, call)
        assert slices_in(trace) == expected
        assert call.schedule.program(trace.rank) == schedule.program(trace.rank)
        assert call.complete
        assert max(number for _, number, *_ in expected) + 1 == call.num_passes


@pytest.mark.parametrize("protocol", ringtree.protocols())
@pytest.mark.parametrize("collective", ["reduce_scatter", "all_gather", "broadcast", "reduce"])
def test_slice_steps_of_other_collectives_and_protocols(collective: str, protocol: str) -> None:
    ranks, count = 3, 50_000

    def work(comm: Communicator) -> Any:
        whole, block = np.zeros(ranks * count, "float32"), np.zeros(count, "float32")
        arrays = {"reduce_scatter": (whole, block), "all_gather": (block, whole)}.get(collective, (block,))
        return getattr(comm, collective)(*arrays, algorithm="ring", protocol=protocol)

    schedule = ringtree.schedule(collective, "ring", ranks)
    for trace in traces_of(work, ranks, num_calls=2):
        once = expected_slices(schedule, trace.rank, count, 4, 1, trace.calls[0])
        assert slices_in(trace) == once + once
        assert [call.protocol for call in trace.calls] == [protocol] * 2


@pytest.mark.parametrize("algorithm", ["ring", "tree", "two_shot", "halving_doubling"])
def test_every_message_is_matched_with_its_receive(algorithm: str) -> None:
    traces = traces_of(reduced(200_000, algorithm), 4, num_calls=2, channels=2)
    messages = match_messages(traces, Programs(traces))
    sends, receives = Counter[int](), Counter[int]()
    for message in messages:
        one, other = traces[message.sender].events[message.sent], traces[message.receiver].events[message.received]
        assert one["bytes"] == other["bytes"] == message.bytes
        assert (one["pass"], one["slice"], one["call"]) == (other["pass"], other["slice"], other["call"])
        assert one["begin_ns"] <= other["end_ns"], "received before it was sent"
        sends[message.sender] += 1
        receives[message.receiver] += 1
    for trace in traces:
        program = trace.calls[0].schedule.program(trace.rank)
        steps = trace.events[trace.events["kind"] == KINDS.index("step")]
        assert sends[trace.rank] == sum(len(program[step].send_to) for step in steps["step"])
        assert receives[trace.rank] == sum(len(program[step].recv) for step in steps["step"])


def test_a_schedule_of_ones_own_is_in_the_trace() -> None:
    def there_and_back(p: ringtree.ProgramBuilder) -> None:
        for step in ringtree.schedule("all_reduce", "naive", 2).program(p.rank):
            p.steps.append(
                ringtree._core.Step(
                    step.verb,
                    step.lane,
                    (step.chunks[0], len(step.chunks), 1),
                    list(step.recv),
                    step.src,
                    step.src_at,
                    step.dst,
                    list(step.send_to),
                    step.send_tag,
                )
            )

    schedule = ringtree.build("all_reduce", there_and_back, ranks=2)
    traces = traces_of(lambda comm: comm.all_reduce(np.ones(10), algorithm=schedule), 2)
    assert [trace.calls[0].schedule.name for trace in traces] == ["there_and_back"] * 2
    assert "there_and_back" in traces[0].calls[0].description


def test_events_that_do_not_fit_are_counted_and_their_calls_incomplete() -> None:
    traces = traces_of(reduced(1000, "ring"), 2, num_calls=20, capacity=10)
    for trace in traces:
        assert len(trace.events) == 10
        assert trace.num_lost >= 20 * (3 + 1) - 10
        assert not trace.calls[0].complete or len(trace.of_call(trace.calls[0].sequence)) >= 4
        assert trace.events["kind"][-1] == KINDS.index("call")


def test_what_is_wrong_is_refused() -> None:
    def work(comm: Communicator) -> None:
        with pytest.raises(ringtree.UsageError, match="start_trace"):
            comm.take_trace()
        with pytest.raises(ringtree.UsageError, match="room for 1 to"):
            comm.start_trace(0)

    ringtree.run(work, 1)


def test_after_a_failure_the_trace_says_what_was_waited_for() -> None:
    def work(comm: Communicator) -> RankTrace | None:
        comm.all_reduce(np.ones(10), algorithm="ring")
        if comm.rank == 1:
            return None  # leaves
        comm.start_trace()
        with pytest.raises(ringtree.PeerError):
            comm.all_reduce(np.ones(10), algorithm="ring")
        return comm.take_trace()

    trace = ringtree.run(work, 2)[0]
    assert trace is not None
    waits = trace.events[trace.events["kind"] == KINDS.index("message")]
    assert waits["peer"].tolist() == [1]
    assert not trace.calls[0].complete
