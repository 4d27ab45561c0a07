"""What a rank waited for when none of its lanes moved.

For: one answer where several lanes wait: the time up to a slice step counts for what the lane of that step waited for,
as it was its end that let the rank go on. Not for: what each lane waited for, which the events themselves say.

A rank's time in a call is then slice steps, idle times by kind, and the rest: polls, and the engine between slice
steps.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from ringtree.comm.rank_trace import KINDS, Events

NOT_WAITS = ("step", "sleep", "call")
_Lane = tuple[int, int]  # channel, lane; (-1, -1) of what no lane waits for


@dataclass(frozen=True)
class Idle:
    """A part of a rank's time, nanoseconds. `wait`: the event that says for what, an index into the call's events."""

    begin_ns: int
    end_ns: int
    kind: str
    wait: int


def idle_times(events: Events) -> list[Idle]:
    """The idle times of one call, in their order; none overlap. `events`: all of the call's, from
    RankTrace.of_call()."""
    begins, ends = events["begin_ns"].tolist(), events["end_ns"].tolist()
    kinds = [KINDS[kind] for kind in events["kind"].tolist()]
    lanes: list[_Lane] = list(zip(events["channel"].tolist(), events["lane"].tolist(), strict=True))
    waits: dict[_Lane, list[int]] = defaultdict(list)
    for index, kind in enumerate(kinds):
        if kind not in NOT_WAITS:
            waits[lanes[index]].append(index)
    idle: list[Idle] = []
    seen: dict[_Lane, int] = defaultdict(int)  # waits of a lane that were over at its last slice step

    def add(own: list[int], free_since: int, until: int) -> None:
        for index in own:
            begin, end = max(free_since, begins[index]), min(until, ends[index])
            if begin < end:
                idle.append(Idle(begin, end, kinds[index], index))

    call = kinds.index("call")
    free_since = begins[call]
    for step in (index for index, kind in enumerate(kinds) if kind == "step"):
        lane = lanes[step]
        first = seen[lane]
        while seen[lane] < len(waits[lane]) and ends[waits[lane][seen[lane]]] <= begins[step]:
            seen[lane] += 1
        add(waits[lane][first : seen[lane]], free_since, begins[step])
        free_since = ends[step]
    # After the last slice step: peers still read in place or, where the call failed, lanes wait for what never came.
    late = [(begins[index], lane) for lane, own in waits.items() for index in own if ends[index] > free_since]
    if late:
        add(waits[min(late)[1]], free_since, ends[call])
    return idle
