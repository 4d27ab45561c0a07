"""Where a trial takes place: hosts and a job on them, and a look at what is left when it is over.

For: every trial of this engine. Not for: the faults (deaths.py, silences.py, streams.py, mismatches.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fault_ranks import Body, Failed, Place
from fault_support import Job, places_on
from hosts_support import Hosts

from faults.trial import Survivor, World

SHARED_MEMORY = Path("/dev/shm")
SETTLE_S = 5.0  # for what may take a moment to vanish


@dataclass
class Stage:
    """A job under way. hosts: None where all share one."""

    job: Job
    hosts: Hosts | None
    ranks: int
    left: list[str] = field(default_factory=list)

    def survivors_of(self, victim: int) -> list[int]:
        return [rank for rank in range(self.ranks) if rank != victim]

    def told(self, rank: int, since: float, victim: int, warned_at: float | None = None) -> Survivor:
        """Hears how the rank's calls ended."""
        failed, called_at = self.job.hear(rank)
        assert isinstance(failed, Failed)
        start = since if called_at is None else max(since, called_at)
        return Survivor(
            rank,
            failed.error,
            failed.text,
            None if failed.error == "none" else failed.at - start,
            None if warned_at is None else warned_at - since,
            self.job.name(victim).removesuffix(")") in failed.text,
        )

    def descriptors(self, ranks: Sequence[int]) -> dict[int, int]:
        """Lets ranks close their communicators; how many descriptors each has open then."""
        for rank in ranks:
            self.job.tell(rank, "close")
        return {rank: int(self.job.hear(rank)) for rank in ranks}


@contextmanager
def staged(world: World, body: Body, *arguments: Any, environment: dict[str, str] | None = None) -> Iterator[Stage]:
    """Runs a job of that world; afterwards `left` of the stage says what it has left behind."""
    shared_memory = set(SHARED_MEMORY.iterdir())
    if not world.hosts:
        with Job(world.ranks, body, *arguments) as job:
            stage = Stage(job, None, world.ranks)
            yield stage
    else:
        with Hosts(world.hosts, world.each) as hosts:
            with Job(world.ranks, body, *arguments, places=places_on(hosts, environment)) as job:
                stage = Stage(job, hosts, world.ranks)
                yield stage
            stage.left += _sockets_left(hosts)
    stage.left += [str(file) for file in set(SHARED_MEMORY.iterdir()) - shared_memory if "ringtree" in file.name]


@contextmanager
def staged_at(places: Sequence[Place], body: Body, *arguments: Any) -> Iterator[Stage]:
    """Runs a job whose ranks meet as `places` say."""
    with Job(len(places), body, *arguments, places=places) as job:
        yield Stage(job, None, len(places))


def _sockets_left(hosts: Hosts) -> list[str]:
    """Sockets of a host whose processes have ended. What a dead process had still to send may stay for a while where
    the other side cannot acknowledge it: that is the kernel's."""
    until = time.monotonic() + SETTLE_S
    while True:
        found = [
            f"port {socket.address} of host {host}"
            for host in range(hosts.count)
            for socket in hosts.sockets(host)
            if socket.listens
        ]
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.05)
