"""A training job's step on one rank without its model: computing for as long, and its collectives, which may overlap.

For: playing a script of compute, issue and wait with any arm. Not for: where scripts come from (ringtree.joblog), or
what they say about arms.

Calls run one after the other on a thread of their own, in the order in which they were issued, as on a backend's queue;
the rank's main thread computes meanwhile, and its time in waits is exposed. Operands are zeros, whose sums stay what
they are; an arm's results are checked before, by a cell of the same size.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ringtree.arms import Arm
from ringtree.measure.collective_data import CollectiveData
from ringtree.measure.coordinator import Coordinator
from ringtree.measure.messages import Answer, ReplaySteps

_SCRATCH = 8192  # elements: enough that NumPy lets other threads run meanwhile, few enough to stop in time


def replay_steps(
    asked: ReplaySteps, rank: int, arms: Mapping[str, tuple[Arm, CollectiveData]], sync: Coordinator
) -> Answer:
    """Plays the steps; returns seconds of each timed one, and those in which this rank waited."""
    calls = _bind(asked, arms)
    times, waited = [], []
    with _Queue() as backend:
        for number in range(asked.untimed + asked.timed):
            sync.ready()
            begin = time.perf_counter()
            exposed = _play(asked, rank, calls, backend)
            if number >= asked.untimed:
                times.append(time.perf_counter() - begin)
                waited.append(exposed)
    return Answer(times=times, waited=waited)


def _play(asked: ReplaySteps, rank: int, calls: list[Callable[[], object]], backend: _Queue) -> float:
    under_way: dict[int, _Issued] = {}
    exposed = 0.0
    for action, value in asked.actions[rank]:
        if action == "compute":
            _compute(value)
        elif action == "issue":
            under_way[int(value)] = backend.issue(calls[int(value)])
        else:
            begin = time.perf_counter()
            under_way.pop(int(value)).wait()
            exposed += time.perf_counter() - begin
    return exposed


def _compute(seconds: float) -> None:
    """Uses so many seconds of CPU time, in which other threads get the interpreter."""
    scratch = np.ones(_SCRATCH, dtype=np.float32)
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        np.negative(scratch, out=scratch)


def _bind(asked: ReplaySteps, arms: Mapping[str, tuple[Arm, CollectiveData]]) -> list[Callable[[], object]]:
    """Calls of the same kind share their buffers: only one runs at a time."""
    bound: dict[tuple[str, int], Callable[[], object]] = {}
    for call in asked.calls:
        key = (call.arm, call.size_bytes)
        if key not in bound:
            arm, data = arms[call.arm]
            elements = data.elements(call.size_bytes)
            (source,) = arm.make_buffers(elements.source, 1)
            in_place = elements.source == elements.result and data.shape.can_be_in_place
            (result,) = [source] if in_place else arm.make_buffers(elements.result, 1)
            bound[key] = arm.bind(source, result)
    return [bound[call.arm, call.size_bytes] for call in asked.calls]


class _Issued:
    """A call that was issued."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self._over = threading.Event()
        self._raised: Exception | None = None

    def run(self) -> None:
        try:
            self._call()
        except Exception as raised:  # told to who waits
            self._raised = raised
        self._over.set()

    def wait(self) -> None:
        self._over.wait()  # the call itself has a deadline
        if self._raised is not None:
            raise self._raised


class _Queue:
    """A thread that runs calls in order."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[_Issued | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="replayed calls", daemon=True)

    def __enter__(self) -> _Queue:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._calls.put(None)
        self._thread.join()

    def issue(self, call: Callable[[], object]) -> _Issued:
        issued = _Issued(call)
        self._calls.put(issued)
        return issued

    def _run(self) -> None:
        while (issued := self._calls.get()) is not None:
            issued.run()
