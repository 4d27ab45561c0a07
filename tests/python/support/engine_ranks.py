"""Ranks as threads that live on between calls: making a communicator for each of thousands of calls would take longer
than the calls.

For: tests that call many collectives. Not for: one function on fresh ranks, which is ringtree.run.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import ringtree
from ringtree import Communicator

Task = Callable[[Communicator], Any]


class Ranks:
    """`count` threads with a communicator each; options as for init(). After an error the communicators are of no use:
    close()."""

    def __init__(self, count: int, **options: Any) -> None:
        self._options = options
        self._store = ringtree.ThreadStore()
        self._tasks: list[queue.SimpleQueue[Task | None]] = [queue.SimpleQueue() for _ in range(count)]
        self._answers: queue.SimpleQueue[tuple[int, Any, BaseException | None]] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._serve, args=(rank, count), name=f"rank {rank}", daemon=True)
            for rank in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def run(self, task: Task) -> list[Any]:
        """Calls task(comm) on every rank; results by rank. Raises what a rank raised, the cause before those who only
        saw another leave."""
        for tasks in self._tasks:
            tasks.put(task)
        answers = sorted((self._answers.get() for _ in self._tasks), key=lambda answer: answer[0])
        errors = [error for _, _, error in answers if error is not None]
        if errors:
            raise next((error for error in errors if not isinstance(error, ringtree.PeerError)), errors[0])
        return [result for _, result, _ in answers]

    def close(self) -> None:
        for tasks in self._tasks:
            tasks.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self, rank: int, count: int) -> None:
        comm: Communicator | None = None
        while (task := self._tasks[rank].get()) is not None:
            try:
                if comm is None:
                    comm = ringtree.init(rank, count, self._store, **self._options)
                self._answers.put((rank, task(comm), None))
            except BaseException as error:
                self._answers.put((rank, None, error))
        if comm is not None:
            comm.close()
