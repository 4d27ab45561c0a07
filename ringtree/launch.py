"""run(): the shortest way to several ranks, as threads of this process.

For: examples, notebooks and tests. Not for measuring: ranks that are threads share one interpreter (the collectives
themselves run without its lock). `ringtree compare` starts processes; torchrun does too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from ringtree import _core
from ringtree.communicator import Communicator, init
from ringtree.errors import PeerError, UsageError

Result = TypeVar("Result")


def run(function: Callable[[Communicator], Result], ranks: int, **options: Any) -> list[Result]:
    """Calls `function(comm)` on `ranks` threads, each with its rank's communicator, and returns the results by rank.

    options: as for init(). If ranks raise, one error is raised once all have ended: the one that the others are a
    consequence of (they see a rank that left), as far as that can be told.
    """
    if ranks < 1:
        raise UsageError(f"needs at least one rank, not {ranks}")
    store = _core.ThreadStore()
    results: list[Any] = [None] * ranks
    errors: list[BaseException | None] = [None] * ranks

    def one(rank: int) -> None:
        try:
            with init(rank, ranks, store, **options) as comm:
                results[rank] = function(comm)
        except BaseException as error:
            errors[rank] = error

    threads = [threading.Thread(target=one, args=(rank,), name=f"rank {rank}") for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    raised = [error for error in errors if error is not None]
    if raised:
        raise next((error for error in raised if not isinstance(error, PeerError)), raised[0])
    return results
