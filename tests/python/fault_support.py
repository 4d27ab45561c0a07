"""Ranks as processes that may be killed, stopped or let disagree.

For: test_faults_*.py. Not for: what the ranks do (fault_ranks.py), or ranks that behave, which are threads
(engine_ranks.py).

A job's processes are forked by a server that has imported ringtree and has no threads, so that starting some hundred
jobs takes seconds. Each rank talks with the test through a pipe of its own; what is waited for is always a message.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import signal
import time
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

from fault_ranks import PATIENCE_S, Body, be_rank

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["ringtree"])


class Job:
    """`ranks` processes, each of which makes its communicator and calls body(comm, pipe, *arguments). Leaving it ends
    them all, however they are."""

    def __init__(self, ranks: int, body: Body, *arguments: Any) -> None:
        store = f"unix:{secrets.token_hex(16)}"
        self._pipes: list[Connection] = []
        self._processes = []
        for rank in range(ranks):
            ours, theirs = _PROCESSES.Pipe()
            process = _PROCESSES.Process(
                target=be_rank, args=(rank, ranks, store, theirs, body, arguments), daemon=True
            )
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def pid(self, rank: int) -> int:
        pid = self._processes[rank].pid
        assert pid is not None
        return pid

    def name(self, rank: int) -> str:
        """As errors name it."""
        return f"rank {rank} (pid {self.pid(rank)})"

    def hear(self, rank: int) -> Any:
        """What the rank says next."""
        assert self._pipes[rank].poll(PATIENCE_S), f"rank {rank} says nothing"
        return self._pipes[rank].recv()

    def kill(self, rank: int) -> float:
        """Kills the rank; returns when."""
        at = time.monotonic()
        os.kill(self.pid(rank), signal.SIGKILL)
        return at

    def resume(self, rank: int) -> None:
        """Lets a stopped rank run until it says something; it may not have stopped yet when this is called."""
        while not self._pipes[rank].poll(0.02):
            os.kill(self.pid(rank), signal.SIGCONT)

    def __enter__(self) -> Job:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pipe, process in zip(self._pipes, self._processes, strict=True):
            process.kill()
            process.join()
            process.close()
            pipe.close()
