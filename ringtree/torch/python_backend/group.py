"""The life of a group: how it is met, how collectives are started, how it ends. As csrc/backend.h.

A group has two communicators: one for collectives, which run one after another (calls.py), and one for send and recv,
which run as messages come, whatever the collectives do (messages.py).
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import torch

from ringtree.torch.python_backend.calls import CallQueue
from ringtree.torch.python_backend.communicator import Communicator
from ringtree.torch.python_backend.library import REMOTE_ERROR, SUCCESS, TIMEOUT
from ringtree.torch.python_backend.message import OpenMessages
from ringtree.torch.python_backend.tensors import check_alike
from ringtree.torch.python_backend.work import Work

if TYPE_CHECKING:
    from torch._C._distributed_c10d import ErrorType, Store

UNSET = timedelta(milliseconds=-1)  # what PyTorch passes for a timeout that nobody gave
_GRACE_S = 5.0

_groups: weakref.WeakSet[Group] = weakref.WeakSet()  # of this process


class Group:
    """What all collectives need; the classes that derive from it have them, under PyTorch's names."""

    def __init__(self, store: Store, rank: int, size: int, timeout: timedelta, rules: str) -> None:
        self._pid = os.getpid()
        self._group_rank, self._group_size = rank, size
        self._store = store
        self._timeout = timeout
        self._collectives = Communicator(store, "collectives", rank, size, timeout, rules)
        self._messages = Communicator(store, "messages", rank, size, timeout, "")
        self._lock = threading.Lock()  # protects what follows
        self._sequence = 0  # of collectives
        self._leaving = self._left = False
        self._open_messages = OpenMessages()
        self._queue = CallQueue()  # last: __del__() looks for it
        _groups.add(self)

    def __del__(self) -> None:
        if not hasattr(self, "_queue") or self._is_forked:
            return
        if self._queue.is_own_thread:  # which cannot wait for itself
            self._queue.stop()
            self._leave()
        else:
            self.shutdown()

    def shutdown(self) -> None:
        """Waits for what is under way, then leaves. RuntimeError in a callback of this group's calls."""
        if self._is_forked:
            return
        if self._queue.is_own_thread:
            raise RuntimeError("ringtree: a group cannot be destroyed by a callback of its own calls")
        with self._lock:
            if self._leaving:
                return
            self._leaving = True
        self._queue.drain()
        self._left = True
        self._queue.stop()
        self._leave()

    def abort(self) -> None:
        """Ends the group on all ranks: what is under way fails. From any thread."""
        reason = f"rank {self._group_rank} aborted its process group"
        self._collectives.abort(reason)
        self._messages.abort(reason)

    def set_timeout(self, timeout: timedelta) -> None:
        """Of the calls that follow."""
        self._timeout = timeout

    def get_error(self) -> ErrorType:
        """What has become of it."""
        from torch._C._distributed_c10d import ErrorType  # not in PyTorch 2.6, where the rest is tested

        state = self._collectives.state()
        known = {SUCCESS: ErrorType.SUCCESS, TIMEOUT: ErrorType.TIMEOUT, REMOTE_ERROR: ErrorType.REMOTE_ERROR}
        return known.get(state, ErrorType.COMM_ERROR)

    def _get_sequence_number_for_group(self) -> int:
        return self._sequence

    def _set_sequence_number_for_group(self) -> None:
        """The communicators' ranks start together, so numbers do."""

    def _start(self, timeout: timedelta, outputs: Sequence[torch.Tensor], body: Callable[[Communicator], None]) -> Work:
        """Queues a collective. `body` makes the library's calls, in another thread. `outputs`: what the Future gives;
        `timeout` may be UNSET."""
        self._check_usable()
        within = self._timeout if timeout == UNSET else timeout

        def task() -> None:
            self._collectives.set_timeout(within)
            body(self._collectives)

        work = Work(list(outputs))
        with self._lock:
            self._sequence += 1
        self._queue.run(work, task)
        return work

    def _check_usable(self) -> None:
        if self._is_forked:
            raise ValueError(
                "ringtree: this process group was made in the parent, before fork(): a child must make its own"
            )
        if self._left:
            raise RuntimeError("ringtree: this process group was destroyed")

    def _check_root(self, root: int) -> None:
        if not 0 <= root < self._group_size:
            raise ValueError(f"ringtree: invalid root rank: {root} is not a rank of a group of {self._group_size}")

    def _check_lists(self, lists: Sequence[Sequence[torch.Tensor]], what: str) -> None:
        if len(lists) != 1:
            raise ValueError(f"ringtree: {what} takes one list of tensors, not {len(lists)}")
        if len(lists[0]) != self._group_size:
            raise ValueError(f"ringtree: {what}: a list of {len(lists[0])} tensors for {self._group_size} ranks")
        check_alike(lists[0], what)

    @property
    def _is_forked(self) -> bool:
        """Whether this process is a child, made by fork(), of the one that made the group: its threads are not here."""
        return os.getpid() != self._pid

    def _leave(self) -> None:
        self._collectives.leave()
        self._messages.leave()

    def _is_done_by(self, end: float) -> bool:
        """Whether no call and no message is under way; waits for that until `end`, as time.monotonic() counts."""
        return self._queue.drain(end) and self._open_messages.wait_until(end)


@atexit.register
def leave_all() -> None:
    """All groups that are there, when Python ends: calls that are under way get a few seconds, then they are aborted,
    so that a rank which ends by an exception ends."""
    groups = [group for group in _groups if not group._is_forked]
    end = time.monotonic() + _GRACE_S
    for group in groups:  # first, as a callback of one group may wait for another
        if not group._left and not group._is_done_by(end):
            group.abort()
    for group in groups:
        group.shutdown()
