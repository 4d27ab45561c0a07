"""Ranks as processes that may be killed, stopped or let disagree, or that live on several hosts.

For: test_faults_*.py, test_hosts*.py and tests/faults. Not for: what the ranks do (fault_ranks.py), where hosts come
from (hosts_support.py), or ranks that behave, which are threads (engine_ranks.py).

A job's processes are forked (forked.py), so that starting some hundred jobs takes seconds. Each rank talks with the
test through a pipe of its own; what is waited for is always a message.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from fault_ranks import PATIENCE_S, Body, Place, be_rank
from forked import PROCESSES, close, preload, start
from hosts_support import Hosts

preload("ringtree")

AFTER_DEADLINE_S = 10.0  # beyond a rank's own deadline, at which it says whom it waited for


def places_on(hosts: Hosts, environment: Mapping[str, str] | None = None, **options: Any) -> list[Place]:
    """A place for each rank that the hosts have room for, and a store on host 0 that is new; options as of Place."""
    options = {"store": hosts.store(), **options}
    added = {**hosts.environment(), **(environment or {})}
    return [Place(hosts.namespace(hosts.host_of(rank)), added, **options) for rank in range(hosts.num_ranks)]


def left_in_shared_memory(pids: Sequence[int]) -> list[str]:
    """Files in /dev/shm with ringtree or one of these processes in their name. Other programs' files come and go."""
    of_these = re.compile("|".join(["ringtree", *(rf"(?<!\d){pid}(?!\d)" for pid in pids)]))
    return sorted(path.name for path in Path("/dev/shm").iterdir() if of_these.search(path.name))


class Job:
    """`ranks` processes, each of which makes its communicator and calls body(comm, pipe, *arguments). Leaving it ends
    them all, however they are. places: of the ranks, by default here, with a store of their own."""

    def __init__(self, ranks: int, body: Body, *arguments: Any, places: Sequence[Place] = ()) -> None:
        places = places or [Place(store=f"unix:{secrets.token_hex(16)}")] * ranks
        self._pipes: list[Connection] = []
        self._stderr: list[Connection] = []
        self._processes = []
        for rank in range(ranks):
            ours, theirs = PROCESSES.Pipe()
            said, stderr = PROCESSES.Pipe(duplex=False)
            process = start(be_rank, rank, ranks, places[rank], theirs, stderr, body, arguments)
            theirs.close()
            stderr.close()
            self._pipes.append(ours)
            self._stderr.append(said)
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
        if not self._pipes[rank].poll(PATIENCE_S + AFTER_DEADLINE_S):
            self._ask_for_stacks()
            raise AssertionError(f"rank {rank} says nothing")
        return self._pipes[rank].recv()

    def tell(self, rank: int, what: Any) -> None:
        """What the rank's pipe gives next."""
        self._pipes[rank].send(what)

    def _ask_for_stacks(self) -> None:
        """Has every rank write to stderr where its threads are; __exit__ prints it."""
        for rank, process in enumerate(self._processes):
            if process.is_alive():
                os.kill(self.pid(rank), signal.SIGUSR1)
                wait([self._stderr[rank]], AFTER_DEADLINE_S)

    def stderr(self, rank: int, wait_s: float = 0.0) -> str:
        """What the rank has written to stderr since this was last asked; waits so long for something."""
        said = b""
        while self._stderr[rank].poll(0 if said else wait_s):
            more = os.read(self._stderr[rank].fileno(), 1 << 16)
            if not more:
                break
            said += more
        return said.decode(errors="replace")

    def await_words(self, ranks: Sequence[int], words: re.Pattern[str], until: float) -> dict[int, float]:
        """When each of the ranks has written the words to stderr; who has not by `until` (time.monotonic()) is not in
        it."""
        found: dict[int, float] = {}
        said = dict.fromkeys(ranks, "")
        while len(found) < len(said) and (left := until - time.monotonic()) > 0:
            open_ones = [self._stderr[rank] for rank in ranks if rank not in found]
            for pipe in wait(open_ones, left):
                rank = self._stderr.index(pipe)  # type: ignore[arg-type]
                said[rank] += self.stderr(rank)
                if words.search(said[rank]):
                    found[rank] = time.monotonic()
        return found

    def wait_for_end(self, rank: int) -> None:
        """Waits until the process has ended by itself."""
        self._processes[rank].join(PATIENCE_S)
        assert not self._processes[rank].is_alive(), f"rank {rank} goes on"

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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for process in self._processes:
            process.kill()
        for rank, process in enumerate(self._processes):
            process.join()
            close(process)
            self._pipes[rank].close()
            if kind is not None and (said := self.stderr(rank)):
                print(f"rank {rank} wrote:\n{said}", file=sys.stderr)
            self._stderr[rank].close()
