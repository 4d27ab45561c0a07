"""What the processes of a Job do: a rank that calls until something goes wrong, and says how.

For: the ranks of test_faults_*.py, test_hosts*.py and tests/faults. Not for: starting them (fault_support.py). Imports
nothing that is slow to import: each process does it anew.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from forked import enter_namespace

import ringtree
from ringtree import Communicator

PATIENCE_S = 60.0  # for what should take milliseconds: a hang is a failed test, not a stuck one

Body = Callable[..., None]  # called with the communicator, the pipe and what the job was given


@dataclass(frozen=True)
class Call:
    """A call that ranks make: `count` elements of the vector or, where there are blocks, of a block."""

    collective: str
    count: int = 1000
    dtype: str = "float32"
    op: str = "sum"
    root: int = 0

    def make(self, comm: Communicator, timeout: float = 0) -> None:
        """Makes the call as this rank, out of place."""
        whole, block = (np.ones(count, self.dtype) for count in (self.count * comm.world_size, self.count))
        whole_out, block_out = np.empty_like(whole), np.empty_like(block)
        if self.collective in ("all_reduce", "reduce"):
            root = {"root": self.root} if self.collective == "reduce" else {}
            getattr(comm, self.collective)(block, op=self.op, out=block_out, timeout=timeout, **root)
        elif self.collective == "reduce_scatter":
            comm.reduce_scatter(whole, block_out, op=self.op, timeout=timeout)
        elif self.collective == "all_gather":
            comm.all_gather(block, whole_out, timeout=timeout)
        elif self.collective == "broadcast":
            comm.broadcast(block, out=block_out, root=self.root, timeout=timeout)
        elif self.collective == "gather":
            comm.gather(block, whole_out, root=self.root, timeout=timeout)
        elif self.collective == "scatter":
            comm.scatter(whole, block_out, root=self.root, timeout=timeout)
        else:
            comm.all_to_all(whole, whole_out, timeout=timeout)


@dataclass(frozen=True)
class Failed:
    """How a rank's calls ended: the error's name and text, and when it was raised (time.monotonic(), alike in all
    processes)."""

    error: str
    text: str
    at: float


def until_failure(calls: Callable[[], None]) -> Failed:
    """Runs `calls`, which must end by an error of ringtree's."""
    try:
        calls()
    except ringtree.RingtreeError as error:
        return Failed(type(error).__name__, str(error), time.monotonic())
    return Failed("none", "", time.monotonic())


@dataclass(frozen=True)
class Place:
    """Where a rank runs and how it meets the others. namespace: path of the network namespace to enter, "": as it is.
    environment: added to what it has. store: a name, or called in the rank with its number for a store. meeting_s: how
    long init() waits for the others."""

    namespace: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    store: str | Callable[[int], ringtree._core.Store] = ""
    meeting_s: float = PATIENCE_S

    def enter(self) -> None:
        """To be called before the process has threads."""
        os.environ.update(self.environment)
        if self.namespace:
            enter_namespace(self.namespace)


def num_descriptors() -> int:
    """How many this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def be_rank(
    rank: int,
    ranks: int,
    place: Place,
    pipe: Connection,
    stderr: Connection,
    body: Body,
    arguments: tuple[Any, ...],
) -> None:
    """Calls body(comm, pipe, *arguments); where there is no communicator the pipe gets a Failed that says why."""
    os.dup2(stderr.fileno(), 2)
    faulthandler.register(signal.SIGUSR1, file=2)  # for Job.hear, where a rank says nothing
    place.enter()
    store = place.store if isinstance(place.store, str) else place.store(rank)
    try:
        comm = ringtree.init(rank, ranks, store, timeout=place.meeting_s, profile="")
    except ringtree.RingtreeError as error:
        pipe.send(Failed(type(error).__name__, str(error), time.monotonic()))
        pipe.poll(None)
        return
    with comm:
        body(comm, pipe, *arguments)
        pipe.poll(None)  # stays alive until it is killed: nobody is helped by its end


def call_on_and_on(comm: Communicator, pipe: Connection, call: Call, victim: int, first_call_to_die_in: int) -> None:
    """Calls until a call fails, and says how; then makes a communicator of who is left, and says who and what it sums.
    The victim says when its time has come, and goes on."""

    def calls() -> None:
        number = 0
        while True:
            number += 1
            if comm.rank == victim and number == first_call_to_die_in:
                pipe.send("in call")
            call.make(comm)

    pipe.send(until_failure(calls))
    smaller = comm.shrink()
    pipe.send((smaller.rank, smaller.world_size, float(smaller.all_reduce(np.ones(1000))[999])))


def call_or_stop(comm: Communicator, pipe: Connection, call: Call, victim: int, last_call: int, timeout: float) -> None:
    """Calls until a call fails, and says how. The victim stops itself after `last_call` calls."""

    def calls() -> None:
        for _ in range(last_call):
            call.make(comm)
        if comm.rank == victim:
            pipe.send("stops")
            os.kill(os.getpid(), signal.SIGSTOP)
        while True:
            call.make(comm, timeout)

    pipe.send(until_failure(calls))


def call_or_cut(comm: Communicator, pipe: Connection, timeout: float) -> None:
    """Says that it calls, then calls until that fails, and says how."""

    def calls() -> None:
        while True:
            comm.all_reduce(np.ones(1000), timeout=timeout)

    comm.barrier()
    pipe.send("calls")
    pipe.send(until_failure(calls))


def call_once(comm: Communicator, pipe: Connection, usual: Call, odd: Call, odd_rank: int) -> None:
    """Makes a call that is another one on `odd_rank`, and says how that or the next one fails."""

    def calls() -> None:
        comm.barrier()
        (odd if comm.rank == odd_rank else usual).make(comm)
        comm.barrier()  # a rank that only sends learns of it here

    pipe.send(until_failure(calls))
