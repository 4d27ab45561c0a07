"""Traces for tests: of ranks that are threads, and made up ones.

For: test_trace_*.py. Not for: rank processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import ringtree
from ringtree import Communicator, RankTrace, TracedCall
from ringtree.comm.rank_trace import EVENT, KINDS, Events


def traces_of(
    work: Callable[[Communicator], object], ranks: int, num_calls: int = 1, capacity: int = 100_000, **options: Any
) -> list[RankTrace]:
    """The traces, by rank, of `num_calls` calls of `work`, after one that is not traced."""

    def traced(comm: Communicator) -> RankTrace:
        work(comm)
        comm.start_trace(capacity)
        for _ in range(num_calls):
            work(comm)
        return comm.take_trace()

    return ringtree.run(traced, ranks, **options)


def reduced(count: int, algorithm: str = "ring", **how: Any) -> Callable[[Communicator], object]:
    """An all_reduce of `count` float32."""
    return lambda comm: comm.all_reduce(np.zeros(count, "float32"), algorithm=algorithm, **how)


def event(kind: str, begin_ns: int, end_ns: int, **fields: int) -> dict[str, int]:
    """A made up event of call 1; a step or wait is of lane 0, channel 0, step 0 unless said otherwise."""
    of_lane = kind not in ("call", "sleep", "readers")
    usual = {"call": 1, "lane": 0 if of_lane else -1, "channel": 0 if of_lane else -1, "step": 0 if of_lane else -1}
    usual |= {"peer": -1, "awaited_step": -1}
    return {**usual, **fields, "kind": KINDS.index(kind), "begin_ns": begin_ns, "end_ns": end_ns}


def events_of(*events: dict[str, int]) -> Events:
    """An array of made up events, in the order in which they ended."""
    array = np.zeros(len(events), EVENT)
    for i, fields in enumerate(
        sorted(events, key=lambda fields: (fields["end_ns"], fields["kind"] == KINDS.index("call")))
    ):
        for name, value in fields.items():
            array[name][i] = value
    return array


def made_up(rank: int, schedule: ringtree.Schedule, *events: dict[str, int]) -> RankTrace:
    """The trace of one rank that made call 1."""
    call = TracedCall(1, schedule.collective, "made up", "simple", schedule, 65536, 262144, 1, 1, True)
    return RankTrace(rank, (call,), events_of(*events), 0)
