"""Records every collective that this process issues through torch.distributed, from PyTorch's dispatcher.

For: `install(folder)`, called in a rank (by ringtree_autoload under `ringtree trace`, or by a program itself), and
`stop()`. Not for: reading what was recorded (reading.py), nor what runs on a GPU (the host can't time it).

Each collective of torch.distributed is an operator `c10d::…`, whoever asks for it: Python's functions, FSDP2 and
functional collectives, DDP's reducer in C++. Here each of them gets a kernel at the dispatch key BackendSelect, the
last stop before the backend's own, which reads the arguments, calls on, and notes when the call's Future completes. A
profiler was rejected (it records all operators, and a job pays for all of them), so was a wrapped ProcessGroup (DDP and
FSDP look for the real one).

That a backend's thread notes a call's end needs the interpreter, which the training has, so it costs the step some
percent: only one step of `time_every` is timed, and of the others calls and bytes alone are recorded. What goes
past the dispatcher is not seen: symmetric memory, ProcessGroups in Python.
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

from ringtree.joblog.environment import DEFAULT_TIME_EVERY, EVERY, FOLDER, TIME_EVERY
from ringtree.joblog.operators import Operator, read_operators
from ringtree.joblog.waits import Waits
from ringtree.joblog.writing import RankFile

_LAST_CALLS = 1.0  # seconds that stop() waits for calls that are under way
_active: Tracer | None = None


def install(folder: Path | str, optimizer_steps: int = 1, time_every: int = DEFAULT_TIME_EVERY) -> None:
    """Begins to record this process's collectives into a file of `folder`, which exists. A step ends with every
    `optimizer_steps`-th optimizer step; one of `time_every` is timed. Does nothing where it has been called before."""
    global _active
    if _active is None:
        _active = Tracer(Path(folder), optimizer_steps, time_every)
        _active.start()


def install_from_environment() -> None:
    """install() as `ringtree trace` asked for it, with a file that tells it that this process came so far."""
    folder = os.environ.get(FOLDER)
    if folder:
        (Path(folder) / f"loaded-{os.getpid()}").touch()
        asked = (
            int(os.environ.get(name) or default) for name, default in ((EVERY, 1), (TIME_EVERY, DEFAULT_TIME_EVERY))
        )
        install(folder, *asked)


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

    def __init__(self, folder: Path, optimizer_steps: int, time_every: int) -> None:
        self._file = RankFile(folder, time_every)
        self._every = optimizer_steps
        self._pid = os.getpid()
        self._gave_up = False
        self._clocks = _Clocks()
        self._waits = Waits()
        self._library: Any = None
        self._hook: Any = None
        self._leader: Callable[[], object] | None = None
        self._optimizer_steps = 0
        self._lock = threading.Lock()  # of the file's list of calls: collectives may be issued by several threads

    def start(self) -> None:
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook

        self._clocks.add_this_thread()
        self._library = torch.library.Library("c10d", "IMPL")  # type: ignore[no-untyped-call]
        for operator in read_operators():
            self._library.impl(operator.name, self._kernel(operator), "BackendSelect", with_keyset=True)
        self._hook = register_optimizer_step_post_hook(self._optimizer_stepped)
        atexit.register(self.stop)

    def stop(self) -> None:
        if self._library is None:
            return
        self._library._destroy()
        self._library = None
        self._hook.remove()
        self._waits.stop()
        atexit.unregister(self.stop)
        if self._gave_up or os.getpid() != self._pid:
            return
        until = time.monotonic() + _LAST_CALLS
        while self._file.awaits_an_end() and time.monotonic() < until:
            time.sleep(0.001)  # lets the backend's threads have the interpreter, in which they note the ends
        try:
            with self._lock:
                self._file.close(*self._clocks.read())
        except OSError as error:
            self._give_up(error)

    def end_step(self) -> None:
        if self._gave_up or os.getpid() != self._pid:
            return
        try:
            with self._lock:
                self._file.end_step(*self._clocks.read())
        except OSError as error:
            self._give_up(error)
        self._waits.drop()

    def _give_up(self, error: Exception) -> None:
        """Whatever happens to the trace, the job goes on: a line says that it does so untraced."""
        self._gave_up = True
        said = " ".join(str(error).split())
        print(f"ringtree: process {self._pid} is not traced any more: {type(error).__name__}: {said}", file=sys.stderr)

    def _optimizer_stepped(self, optimizer: object, *_: object) -> None:
        """Counts the steps of one optimizer, the first that was seen and is still there."""
        if self._leader is None or self._leader() is None:
            self._leader = weakref.ref(optimizer)
        if self._leader() is optimizer:
            self._optimizer_steps += 1
            if self._optimizer_steps % self._every == 0:
                self.end_step()

    def _kernel(self, operator: Operator) -> Callable[..., Any]:
        from torch._C import DispatchKey

        clocks, file, lock, waits = self._clocks, self._file, self._lock, self._waits
        below, redispatch = DispatchKey.BackendSelect, operator.overload.redispatch

        def kernel(keyset: Any, *arguments: Any, **named: Any) -> Any:
            keys = keyset.remove(below)
            if self._gave_up or os.getpid() != self._pid:  # a fork of the rank
                return redispatch(keys, *arguments, **named)
            try:
                clocks.add_this_thread()
                described = operator.describe(arguments, named)
                with lock:
                    call = file.begin_call(described, *clocks.read())
            except Exception as error:
                self._give_up(error)
                return redispatch(keys, *arguments, **named)
            before = time.thread_time()
            result = redispatch(keys, *arguments, **named)
            clocks.not_computing(time.thread_time() - before)
            call.issued = time.monotonic()
            if call.timed:
                operator.when_done(result, lambda _: call.complete(*clocks.read()), waits)
            return result

        return kernel


class _Clocks:
    """The monotonic clock, and the CPU time that the threads which issue collectives have spent on anything else.

    Both may be read from any thread: a collective's end is noticed by one of the backend's. What a thread spends inside
    a call's own code is communication, also where the backend polls there.
    """

    def __init__(self) -> None:
        self._clocks: dict[int, int] = {}
        self._communicating = 0.0

    def add_this_thread(self) -> None:
        thread = threading.get_ident()
        if thread not in self._clocks:
            self._clocks = {**self._clocks, thread: time.pthread_getcpuclockid(thread)}

    def not_computing(self, seconds: float) -> None:
        self._communicating += seconds

    def read(self) -> tuple[float, float]:
        """Seconds on the monotonic clock, seconds of computing so far."""
        now, ran = time.monotonic(), 0.0
        for thread, clock in self._clocks.items():
            try:
                ran += time.clock_gettime(clock)
            except OSError:  # the thread has ended
                self._clocks = {one: kept for one, kept in self._clocks.items() if one != thread}
        return now, ran - self._communicating
