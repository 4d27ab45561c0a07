"""Records one step of a rank, in its own process: its collectives with begin, end and what of them is exposed.

For: the one step of a training of ours that is looked at and not timed (ringtree.train). Not for: other people's jobs
(tracer.py, whose place in PyTorch's dispatcher this takes: the two can't be active at once), nor GPUs, whose
collectives the host can't time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ringtree.joblog.exposure import exposed_spans
from ringtree.joblog.operators import Group, described_group, read_operators
from ringtree.joblog.records import LINE, CallLine, StepLine
from ringtree.joblog.sizes import size_of_call
from ringtree.joblog.waits import Waits
from ringtree.results import RecordedCall, RecordedStep
from ringtree.torch.building import load

_LAST_CALLS = 1.0  # seconds that calls may still be under way after the step
_CAPACITY = 1 << 14  # calls of the step; of one with more nothing is said


class StepRecording:
    """The recording of one step, between begins() and ends()."""

    def __init__(self) -> None:
        """Compiles ringtree's part in C++ if that has not been done; raises BuildError if it can't be."""
        self._waits, self._groups = Waits(), list[Group]()
        self._recorder: Any = load().Recorder(
            group=self._number_of_group,
            make_room=lambda: None,
            watch=lambda: self._waits.watch(self._recorder),
            capacity=_CAPACITY,
        )
        self._begin = self._end = (0.0, 0.0)

    def start(self) -> None:
        for operator in read_operators():
            self._recorder.add(operator.name, operator.collective, operator.roles)
        self._recorder.enter_step(0, True)
        self._recorder.start()

    def begins(self) -> None:
        self._begin = self._recorder.read_clocks()

    def ends(self) -> None:
        self._end = self._recorder.read_clocks()

    def stop(self) -> None:
        self._recorder.stop()
        self._waits.stop()

    def recorded(self) -> RecordedStep | None:
        """After stop(): the step, without calls of groups of one rank, which send nothing. None: it could not be
        recorded, or something of it ran on a GPU."""
        until = time.monotonic() + _LAST_CALLS
        while self._recorder.awaits_an_end() and time.monotonic() < until:
            time.sleep(0.001)  # the backend's threads note the ends
        texts = self._recorder.take(0, 0).splitlines()
        self._recorder.drop_waits()
        if self._recorder.error():
            return None
        lines = [line for line in map(LINE.validate_json, texts) if isinstance(line, CallLine)]
        if any(line.device != "cpu" for line in lines):
            return None
        (begin, ran_begin), (end, ran_end) = self._begin, self._end
        step = StepLine(kind="step", step=0, begin=begin, end=end, ran_begin=ran_begin, ran_end=ran_end, timed=True)
        spans = exposed_spans(lines, [step])
        calls = [
            RecordedCall(
                collective=line.collective,
                group=group.name,
                group_size=group.size,
                size_bytes=size_of_call(line.collective, line.in_bytes, line.out_bytes, group.size),
                begin=line.begin - begin,
                end=None if line.end is None else line.end - begin,
                exposed=[(first - begin, min(last, end) - begin) for first, last in spans.get(line.call, [])],
            )
            for line in sorted(lines, key=lambda line: line.call)
            if (group := self._groups[line.group]).size > 1
        ]
        return RecordedStep(seconds=end - begin, calls=calls)

    def _number_of_group(self, group: Any, device: str) -> int:
        """Of the recorder, at the first call of a group."""
        self._groups.append(described_group(group, device))
        return len(self._groups) - 1


@contextmanager
def recording() -> Iterator[StepRecording]:
    """A recording that is on while the context lasts. Raises BuildError."""
    one = StepRecording()
    one.start()
    try:
        yield one
    finally:
        one.stop()
