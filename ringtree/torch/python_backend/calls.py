"""The calls of one group: they run one after another in a thread, in the order in which they were made, as a
communicator wants it. The caller waits in Python, where Ctrl-C reaches it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

import torch
import torch.distributed as dist

from ringtree.torch.python_backend.work import Work

Task = Callable[[], None]


class CallQueue:
    """From any thread, if nothing else is said."""

    def __init__(self) -> None:
        self._changed = threading.Condition()  # protects all that follows
        self._waiting: deque[tuple[Work, Task]] = deque()
        self._busy = False
        self._stopping = False
        self._thread: threading.Thread | None = None

    def run(self, work: Work, task: Task) -> None:
        """Runs `task` under the caller's inference mode and completes `work` by how it ended.

        In the queue's own thread, where the callbacks of Futures run, all that is queued is run first and then this,
        before it returns: such a callback often waits for what it calls (PowerSGD's does), and nobody else would run
        it.
        """
        inference = torch.is_inference_mode_enabled()

        def as_caller() -> None:
            # Results are written into tensors that may require gradients.
            with torch.inference_mode(inference), torch.no_grad():
                task()

        if self.is_own_thread:
            while entry := self._next():
                _execute(*entry)
            _execute(work, as_caller)
            return
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work_off, name="ringtree-calls", daemon=True)
                self._thread.start()
            self._waiting.append((work, as_caller))
            self._changed.notify_all()

    @property
    def is_own_thread(self) -> bool:
        """True in a task, and in the callbacks of what it completes."""
        return threading.current_thread() is self._thread

    def drain(self, end: float | None = None) -> bool:
        """Waits until nothing is under way or queued, or until `end` as time.monotonic() counts. True if nothing is."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not self._busy and not self._waiting, None if end is None else max(0, end - time.monotonic())
            )

    def stop(self) -> None:
        """Runs what is left, then ends the thread, and waits for it unless it is this one. Nothing may be run
        afterwards."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None and not self.is_own_thread:
            self._thread.join()

    def _next(self) -> tuple[Work, Task] | None:
        with self._changed:
            return self._waiting.popleft() if self._waiting else None

    def _work_off(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._stopping or self._waiting)
                if not self._waiting:
                    return
                self._busy = True
            entry = self._next()
            assert entry is not None
            _execute(*entry)
            del entry  # what it holds must not live until the next call


def _execute(work: Work, task: Task) -> None:
    error: BaseException | None = None
    try:
        task()
    except (dist.DistBackendError, ValueError) as raised:  # their texts say all, and their tracebacks hold the group
        error = raised.with_traceback(None)
    except BaseException as raised:  # whatever it is, the caller is to know
        error = raised
    work.complete(error)
