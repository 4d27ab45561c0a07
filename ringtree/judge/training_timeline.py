"""An arm's recorded steps: what its ranks waited for, and one of them as a timeline.

For: exposed time by collective and the wait for the slowest rank, each rank's step held against the others'. Not for:
recording (ringtree.joblog.recorded_step), how long a step takes (training.py: recorded steps are not timed).

A rank waits for the slowest where it has nothing to compute in a call that another rank of its group has not begun, and
after its step's end until the last rank's. What it waits in a call after all have begun it is communication. Times are
since each rank was let go, which is the same moment but for what a barrier scatters. On a machine with fewer cores than
threads a rank that waits for a core is late as well.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from ringtree.judge.training_records import StepTimeline, TimelineCall, TimelineSpan
from ringtree.results import RecordedStep

Span = tuple[float, float]


class Waits(NamedTuple):
    """Of one rank: seconds by collective, and for the slowest rank, as spans of its step."""

    exposed: list[tuple[str, Span]]
    waiting: list[Span]


class Division(NamedTuple):
    """Mean seconds of a rank's step with nothing to compute: for the slowest rank, and by collective."""

    waiting: float
    exposed: dict[str, float]

    @property
    def total(self) -> float:
        return self.waiting + sum(self.exposed.values())


def divided(steps: Sequence[Sequence[RecordedStep]]) -> Division:
    """Returns the mean over ranks of several launches' recorded steps."""
    waiting, num = 0.0, sum(len(ranks) for ranks in steps)
    exposed: dict[str, float] = defaultdict(float)
    for ranks in steps:
        for one in waits(ranks):
            waiting += sum(last - first for first, last in one.waiting)
            for name, (first, last) in one.exposed:
                exposed[name] += last - first
    return Division(waiting / num, {name: seconds / num for name, seconds in sorted(exposed.items())})


def waits(ranks: Sequence[RecordedStep]) -> list[Waits]:
    """Returns what each rank waited for."""
    numbered = [_numbered(one) for one in ranks]
    begins: dict[tuple[str, int], list[float]] = defaultdict(list)
    for one, keys in zip(ranks, numbered, strict=True):
        for call, key in zip(one.calls, keys, strict=True):
            begins[key].append(call.begin)
    slowest = max(one.seconds for one in ranks)
    found = []
    for one, keys in zip(ranks, numbered, strict=True):
        exposed: list[tuple[str, Span]] = []
        waiting: list[Span] = []
        for call, key in zip(one.calls, keys, strict=True):
            # Of a call that not all of its group are known to have made (send, recv) nothing says who was late.
            joined = max(begins[key]) if len(begins[key]) == call.group_size else -math.inf
            for first, last in call.exposed:
                until = min(max(first, joined), last)
                waiting += [(first, until)] if until > first else []
                exposed += [(call.collective, (until, last))] if last > until else []
        if slowest > one.seconds:
            waiting.append((one.seconds, slowest))
        found.append(Waits(exposed, waiting))
    return found


def _numbered(step: RecordedStep) -> list[tuple[str, int]]:
    """Each call's group and its number there, the same on all ranks of the group."""
    seen = Counter[str]()
    keys = []
    for call in step.calls:
        keys.append((call.group, seen[call.group]))
        seen[call.group] += 1
    return keys


def timeline(steps: Sequence[Sequence[RecordedStep]]) -> StepTimeline:
    """Returns rank 0's step in the launch whose recorded step is the median one, by its slowest rank."""
    ranks = sorted(steps, key=lambda ranks: max(one.seconds for one in ranks))[len(steps) // 2]
    own, waited = ranks[0], waits(ranks)[0]
    busy = [TimelineSpan(what="input", begin=0.0, end=own.input_seconds)] if own.input_seconds else []
    busy += [TimelineSpan(what=f"exposed {name}", begin=first, end=last) for name, (first, last) in waited.exposed]
    busy += [TimelineSpan(what="waiting", begin=first, end=last) for first, last in waited.waiting]
    spans: list[TimelineSpan] = []
    at, until = 0.0, max(one.seconds for one in ranks)
    for span in sorted(busy, key=lambda one: one.begin):
        if span.begin > at:
            spans.append(TimelineSpan(what="compute", begin=at, end=span.begin))
        spans.append(span)
        at = max(at, span.end)
    if until > at:
        spans.append(TimelineSpan(what="compute", begin=at, end=until))
    calls = [
        TimelineCall(collective=call.collective, size_bytes=call.size_bytes, begin=call.begin, end=call.end)
        for call in own.calls
        if call.end is not None
    ]
    return StepTimeline(seconds=until, spans=spans, calls=calls)
