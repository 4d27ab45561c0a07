"""run(): the shortest way to several ranks, as threads of this process.

For: examples, notebooks and tests; on_threads() also for rank processes that hold several ranks. Not for measuring:
ranks that are threads share one interpreter (collectives wait without its lock). `ringtree compare` starts processes;
torchrun does too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from ringtree._core import ThreadStore
from ringtree.comm.communicator import Communicator, init
from ringtree.errors import PeerError, UsageError

Result = TypeVar("Result")


def run(function: Callable[[Communicator], Result], ranks: int, **options: Any) -> list[Result]:
    """Calls `function(comm)` on `ranks` threads, each with its rank's communicator, and returns the results by rank.

    options: as for init(). If ranks raise, one error is raised once all have ended: the one that the others are a
    consequence of (they see a rank that left), as far as that can be told.
    """
    if ranks < 1:
        raise UsageError(f"needs at least one rank, not {ranks}")
    store = ThreadStore()

    def one(rank: int) -> Result:
        with init(rank, ranks, store, **options) as comm:
            return function(comm)

    return on_threads(one, ranks)


def on_threads(function: Callable[[int], Result], count: int) -> list[Result]:
    """Calls `function(i)` for i < count, each on a thread of its own, and returns the results in this order.

    Raises as run() does; a function that fails must leave its communicators, or the others wait for it.
    """
    results: list[Any] = [None] * count
    errors: list[BaseException | None] = [None] * count

    def one(i: int) -> None:
        try:
            results[i] = function(i)
        except BaseException as error:
            errors[i] = error

    threads = [threading.Thread(target=one, args=(i,), name=f"rank {i}") for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    raised = [error for error in errors if error is not None]
    if raised:
        raise next((error for error in raised if not isinstance(error, PeerError)), raised[0])
    return results
