"""Calls in the background: the handle that whoever starts one gets.

work = comm.start("all_reduce", gradients)
...                                              # compute something else
work.wait()

For: waiting for a call and learning how it ended. Not for: running it (core/engine/work.h).
"""

from __future__ import annotations

from typing import Any

from ringtree._core import Communicator
from ringtree._core import Work as CoreWork
from ringtree.comm.collectives import Collectives


class Work:
    """A call that was started. Calls of one communicator run one after the other, in the order in which they were
    started, beside the thread that started them. From any thread."""

    def __init__(self, core: CoreWork, result: Any, held: tuple[Any, ...]) -> None:
        self._core = core
        self._result = result
        self._held = held  # arrays that the call reads or writes

    def test(self) -> bool:
        """Returns whether the call has ended, well or not."""
        return self._core.test()

    def wait(self, timeout: float = 0) -> Any:
        """Waits until the call has ended and returns what the method of that name returns; raises what it raises.

        timeout: seconds, 0 for no limit. DeadlineError: it is still under way then; it goes on, and wait() may be
        called again.
        """
        self._core.wait(timeout)
        return self._result


class Starter(Collectives):
    """Makes a call by starting it in the background; keeps the last one that it started. For one call."""

    def __init__(self, core: Communicator) -> None:
        self._core = core
        self.rank, self.world_size = core.rank, core.world_size
        self.started: CoreWork | None = None
        self.held: tuple[Any, ...] = ()

    def _call(self, *call: Any) -> None:
        self.held = call
        self.started = self._core.start(*call)

    def send(self, array: Any, peer: int, timeout: float = 0) -> Any:
        """As Communicator.send."""
        return self._transfer(True, peer, array, timeout)

    def recv(self, array: Any, peer: int, timeout: float = 0) -> Any:
        """As Communicator.recv."""
        return self._transfer(False, peer, array, timeout)

    def _transfer(self, sends: bool, peer: int, array: Any, timeout: float) -> Any:
        self.held = (array,)
        self.started = self._core.start_transfer([(sends, peer, array)], timeout)
        return array
