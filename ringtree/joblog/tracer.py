"""Records every collective that this process issues through torch.distributed, from PyTorch's dispatcher.

For: `install(folder)`, called in a rank (by ringtree_autoload under `ringtree trace`, or by a program itself), and
`stop()`. Not for: reading what was recorded (reading.py), nor when a call ran on a GPU, which the host can't tell
(on_gpu).

Each collective of torch.distributed is an operator `c10d::…`, whoever asks for it: Python's functions, FSDP2 and
functional collectives, DDP's reducer in C++. Each of them gets a kernel in PyTorch's dispatcher, in C++
(csrc/trace/recorder.h in ringtree/torch), which keeps what the call says and when it began and ended; a kernel in
Python took some 100 µs a call. A profiler was rejected (it records all operators, and a job pays for all of them), so
was a wrapped ProcessGroup (DDP and FSDP look for the real one). Here are the steps, which end with the optimizer's,
and the file.

One step of some is timed (timed_steps.py), and of the others calls and bytes alone are recorded. What goes past the
dispatcher is not seen: symmetric memory, ProcessGroups in Python.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ringtree.compiling import BuildError
from ringtree.joblog.environment import EVERY, FOLDER, TIME_EVERY
from ringtree.joblog.on_gpu.steps import DeviceSteps
from ringtree.joblog.operators import described_group, read_operators
from ringtree.joblog.timed_steps import TimedSteps
from ringtree.joblog.waits import Waits
from ringtree.joblog.writing import RankFile
from ringtree.torch.building import load

_LAST_CALLS = 1.0  # seconds that stop() waits for calls that are under way
_CAPACITY = 1 << 16  # calls that are kept between two steps before they are written: 8 MB
_active: Tracer | None = None


def install(folder: Path | str, optimizer_steps: int = 1, time_every: int | None = None) -> None:
    """Begins to record this process's collectives into a file of `folder`, which exists. A step ends with every
    `optimizer_steps`-th optimizer step; one of `time_every` is timed, by default of ten or, on GPUs, of more where that
    takes too long. Does nothing where it has been called before.

    Compiles ringtree's part in C++ if that has not been done. Raises BuildError: it cannot be (the text says how to).
    """
    global _active
    if _active is None:
        tracer = Tracer(Path(folder), optimizer_steps, time_every)
        tracer.start()
        _active = tracer


def install_from_environment() -> None:
    """install() as `ringtree trace` asked for it, with a file that tells it that this process came so far, or why it
    came no further."""
    folder = os.environ.get(FOLDER)
    if folder:
        marker = Path(folder) / f"loaded-{os.getpid()}"
        marker.touch()
        every, time_every = (os.environ.get(name) for name in (EVERY, TIME_EVERY))
        try:
            install(folder, int(every or 1), int(time_every) if time_every else None)
        except Exception as error:
            kind = "" if isinstance(error, BuildError) else f"{type(error).__name__}: "
            marker.write_text(" ".join(f"{kind}{error}".split()))
            raise


def mark_step() -> None:
    """Ends a step here, for a loop without an optimizer of torch.optim; does nothing where nothing is recorded."""
    if _active is not None:
        _active.end_step()


def stop() -> None:
    """Ends the recording and its file; does nothing where nothing is recorded."""
    global _active
    if _active is not None:
        _active.stop()
        _active = None


class Tracer:
    """The recording of one process."""

    def __init__(self, folder: Path, optimizer_steps: int, time_every: int | None) -> None:
        timed = TimedSteps(time_every)
        self._gpu = DeviceSteps(timed)
        self._waits = Waits()
        self._recorder: Any = load().Recorder(
            group=self._number_of_group,
            make_room=self._make_room,
            watch=lambda: self._waits.watch(self._recorder),
            capacity=_CAPACITY,
        )
        self._file = RankFile(folder, timed, self._recorder)
        self._every = optimizer_steps
        self._pid = os.getpid()
        self._gave_up = False
        self._hook: Any = None
        self._leader: Callable[[], object] | None = None
        self._optimizer_steps = 0
        self._lock = threading.Lock()  # of the file: groups may be new to several threads

    def start(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        for operator in read_operators():
            self._recorder.add(operator.name, operator.collective, operator.roles)
        self._recorder.start()
        self._gpu.start()
        self._hook = register_optimizer_step_post_hook(self._optimizer_stepped)
        atexit.register(self.stop)

    def stop(self) -> None:
        if self._hook is None or os.getpid() != self._pid:  # locks may be held for ever in a fork of the rank
            return
        self._hook.remove()
        self._hook = None
        self._recorder.stop()
        self._waits.stop()
        self._gpu.stop()
        atexit.unregister(self.stop)
        if not self._is_on():
            return
        until = time.monotonic() + _LAST_CALLS
        while self._recorder.awaits_an_end() and time.monotonic() < until:
            time.sleep(0.001)  # the backend's threads note the ends
        self._write(self._file.close)

    def end_step(self) -> None:
        if not self._is_on():
            return
        turns = self._gpu.settle(self._file.num_steps + 1)
        self._write(self._end_step)
        self._recorder.drop_waits()
        if turns:
            self._write(self._turn)

    def _end_step(self, now: float, ran: float) -> None:
        if line := self._file.end_step(now, ran):
            self._gpu.note_length(line.step, line.end - line.begin, line.timed)

    def _turn(self, *_: float) -> None:
        """Between two steps, in none of which this counts."""
        if (ended := self._file.ended_step()) is not None:
            self._file.add(self._gpu.turn(ended, self._file.num_steps))
            self._file.keep_calls(self._gpu.is_recording)
            self._file.begin_step(*self._recorder.read_clocks())

    def _is_on(self) -> bool:
        """Says whether this process is recorded: not if that has failed, nor in a fork of the rank."""
        if self._gave_up or os.getpid() != self._pid:
            return False
        if error := self._recorder.error():
            self._give_up(error)
        return not self._gave_up

    def _write(self, write: Callable[[float, float], None]) -> None:
        try:
            with self._lock:
                write(*self._recorder.read_clocks())
        except OSError as error:
            self._give_up(f"{type(error).__name__}: {error}")

    def _give_up(self, why: str) -> None:
        """Whatever happens to the trace, the job goes on: a line says that it does so untraced."""
        self._gave_up = True
        self._recorder.give_up(why)
        self._recorder.drop_waits()
        print(f"ringtree: process {self._pid} is not traced any more: {' '.join(why.split())}", file=sys.stderr)

    def _number_of_group(self, group: Any, device: str) -> int:
        """Of the recorder, at the first call of a group."""
        try:
            described = described_group(group, device)
            self._gpu.meet(device, described.size)
            with self._lock:
                return self._file.number_of(described, *self._recorder.read_clocks())
        except Exception as error:
            self._give_up(f"{type(error).__name__}: {error}")
            return -1

    def _make_room(self) -> None:
        """Of the recorder, when it has many calls: a job whose steps are long, or which has none."""
        self._write(self._file.make_room)

    def _optimizer_stepped(self, optimizer: object, *_: object) -> None:
        """Counts the steps of one optimizer, the first that was seen and is still there."""
        if self._leader is None or self._leader() is None:
            self._leader = weakref.ref(optimizer)
        if self._leader() is optimizer:
            self._optimizer_steps += 1
            if self._optimizer_steps % self._every == 0:
                self.end_step()
