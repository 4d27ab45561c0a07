"""Work: one call of a group as PyTorch's callers hold it, to be waited for and turned into a Future.

PyTorch asks a Work of Python's for nothing else: is_completed(), is_success() and source_rank() never come here.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from copy import copy
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.futures import Future


class Work(dist.Work):
    """`outputs`: what result() and the Future give."""

    def __init__(self, outputs: list[torch.Tensor]) -> None:
        super().__init__()
        self._outputs = outputs
        self._pid = os.getpid()
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._lock = threading.Lock()  # protects what follows, and that who asks for a Future is not missed
        self._end: Future[None] | None = None  # of the call; the Future that callers get comes after it
        self._future: Future[list[torch.Tensor]] | None = None

    def complete(self, error: BaseException | None, here: bool = True) -> None:
        """Ends it, well if `error` is None. Once. `here`: callbacks of the Future run in this thread, else in one of
        their own."""
        with self._lock:
            self._error = error
            self._done.set()
            end = self._end
        if end is None:
            return
        if not here:
            with suppress(RuntimeError):  # Python ends and starts no threads any more
                threading.Thread(target=end.set_result, args=(None,), daemon=True).start()
                return
        end.set_result(None)

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Waits until it is complete and raises what the call raised. DistBackendError: not within `timeout` (0: as
        long as it takes); the call goes on. In Python's main thread Ctrl-C ends the wait."""
        if os.getpid() != self._pid and not self._done.is_set():
            raise ValueError(
                "ringtree: this call was started in the parent, before fork(): a child must make its own group"
            )
        if not self._done.wait(timeout.total_seconds() or None):
            milliseconds = timeout // timedelta(milliseconds=1)
            raise dist.DistBackendError(
                f"ringtree: Timed out waiting {milliseconds} ms for a call that is still under way"
            )
        self._raise()
        return True

    def get_future(self) -> Future[list[torch.Tensor]]:
        """A Future of the outputs. What failed has its text in a RuntimeError: a Future keeps no Python exception."""
        with self._lock:
            first = self._future is None
            if first:
                self._end = Future()
                self._future = self._end.then(self._value)
            ended = self._done.is_set()
        assert self._future is not None
        assert self._end is not None
        if first and ended:
            self._end.set_result(None)
        return self._future

    def result(self) -> list[torch.Tensor]:
        """What the call writes."""
        return self._outputs

    def _value(self, _: Future[None]) -> list[torch.Tensor]:
        self._raise()
        return self._outputs

    def _raise(self) -> None:
        """Raises a copy of what the call raised: the traceback of what is caught refers to its catcher's variables."""
        if self._error is not None:
            raise copy(self._error).with_traceback(self._error.__traceback__)
