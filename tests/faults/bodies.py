"""What the ranks of a trial do: calls that work, then the fault, then calls until one fails.

For: the processes of the matrix. Not for: starting them (stage.py). Imports nothing that is slow to import.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection

from fault_ranks import Call, num_descriptors, until_failure

from ringtree import Communicator


@dataclass(frozen=True)
class Plan:
    """healthy: calls before the fault. victim: who says "ready" then, and does what `then` says: "goes on", "stops"
    (SIGSTOP), "dies", "is late"; `times` times, before each of its next calls. idle: nobody calls until told so.
    timeout: of the calls after the fault. late_s: so late is who is late. more: so many calls must work after it, 0:
    calls go on until one fails."""

    call: Call
    victim: int
    then: str = "goes on"
    healthy: int = 5
    times: int = 1
    idle: bool = False
    timeout: float = 30.0
    late_s: float = 2.0
    more: int = 0


def _sleep_until(at: float) -> None:
    while (left := at - time.monotonic()) > 0:
        time.sleep(left)


_ACTS: dict[str, Callable[[Plan], None]] = {
    "goes on": lambda plan: None,
    "stops": lambda plan: os.kill(os.getpid(), signal.SIGSTOP),
    "dies": lambda plan: os.kill(os.getpid(), signal.SIGKILL),
    "is late": lambda plan: _sleep_until(time.monotonic() + plan.late_s),
}


def follow(comm: Communicator, pipe: Connection, plan: Plan) -> None:
    """Does what the plan says. Tells "ready" (all ranks if idle, else the victim), the Failed that ended its calls and
    when it was told to call, and, once told so, how many descriptors are open after close()."""

    def calls() -> None:
        comm.barrier()  # everybody's communicator stands; the victim may die when not all have left this
        for _ in range(plan.healthy):
            plan.call.make(comm)
        if plan.idle or comm.rank == plan.victim:
            pipe.send("ready")
        for _ in range(plan.times - 1):
            if comm.rank == plan.victim:
                _ACTS[plan.then](plan)
            plan.call.make(comm, plan.timeout)
        if comm.rank == plan.victim:
            _ACTS[plan.then](plan)
        if plan.idle:
            pipe.recv()
            called.append(time.monotonic())
        made = 0
        while not plan.more or made < plan.more:
            plan.call.make(comm, plan.timeout)
            made += 1

    called: list[float] = []
    pipe.send((until_failure(calls), called[0] if called else None))
    pipe.recv()  # nobody leaves before all were heard
    comm.close()
    pipe.send(num_descriptors())


def call_in_turn(comm: Communicator, pipe: Connection, usual: list[Call], odd: list[Call], odd_rank: int) -> None:
    """Makes calls that are others on `odd_rank`, then barriers; tells when it began and how that failed."""
    comm.barrier()
    pipe.send("ready")
    pipe.recv()
    began = time.monotonic()

    def calls() -> None:
        for call in odd if comm.rank == odd_rank else usual:
            call.make(comm, 10.0)
        while True:
            comm.barrier(timeout=10.0)

    failed = until_failure(calls)
    pipe.send((failed, began))
    pipe.recv()
    comm.close()
    pipe.send(num_descriptors())
