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

Result = TypeVar("Result")


def run(function: Callable[[Communicator], Result], ranks: int, **options: Any) -> list[Result]:
    """Calls `function(comm)` on `ranks` threads, each with its rank's communicator, and returns the results by rank.

    options: as for init(). If ranks raise, the first rank's error is raised once all have ended.
    """
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
    for error in errors:
        if error is not None:
            raise error
    return results
