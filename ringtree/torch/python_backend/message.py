"""A message under way between ranks: what lives until the library says that it is done."""

from __future__ import annotations

import itertools
import threading
import time

import torch

from ringtree.torch.python_backend.communicator import Communicator
from ringtree.torch.python_backend.library import SUCCESS, MessageDone, error_of
from ringtree.torch.python_backend.tensors import Output
from ringtree.torch.python_backend.work import Work


class OpenMessages:
    """How many messages of a group are under way. From any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()  # protects _num
        self._num = 0

    def add(self, number: int) -> None:
        """So many more, or fewer."""
        with self._changed:
            self._num += number
            self._changed.notify_all()

    def wait_until(self, end: float) -> bool:
        """Whether none is under way; waits for that until `end`, as time.monotonic() counts."""
        with self._changed:
            return self._changed.wait_for(lambda: self._num == 0, max(0, end - time.monotonic()))


class Message:
    """Keeps its memory, and itself, until it is done. `is_received`: `memory` is written, else read."""

    def __init__(self, work: Work, memory: Output, is_received: bool, counted_in: OpenMessages) -> None:
        self._work = work
        self._memory = memory
        self._is_received = is_received
        self._inference = torch.is_inference_mode_enabled()  # of who posts it
        self._counted_in = counted_in

    def post(self, peer: int, tag: int, timeout_s: float, comm: Communicator) -> None:
        """Hands it to the library. Raises as library.call(); then nothing has happened."""
        place = self._memory.plain
        function = "rtPostRecv" if self._is_received else "rtPostSend"
        context = next(_contexts)
        _open[context] = self
        self._counted_in.add(1)
        try:
            comm.call(function, place.data_ptr(), place.nbytes, peer, tag, timeout_s, _done, context)
        except BaseException:
            self._counted_in.add(-1)
            del _open[context]
            raise

    def end(self, error: Exception | None) -> None:
        """Completes its Work, in the library's thread."""
        try:
            if error is None and self._is_received:
                with torch.inference_mode(self._inference), torch.no_grad():
                    self._memory.finish()
        except Exception as raised:
            error = raised
        # A callback may wait for another message, which this thread alone moves.
        self._work.complete(error, here=False)
        self._counted_in.add(-1)


_open: dict[int, Message] = {}  # by the context that the library gives back
_contexts = itertools.count(1)


def _end(context: int, result: int, source: int, error: bytes) -> None:
    _open.pop(context).end(None if result == SUCCESS else error_of(result, error.decode()))


_done = MessageDone(_end)  # which lives as long as the library may call it
