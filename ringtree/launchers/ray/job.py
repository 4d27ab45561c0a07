"""The driver's side: a placement group, an actor an agent, what they send home, and the end of all of them.

For: Ray's API. Not for: what is done with what comes home (ringtree.cli.ray), or where agents are better placed: that
is Ray's strategy.

Whatever happens to the driver, Ray ends the actors with it, and an actor's end is its agent's (held_agent.py).
"""

from __future__ import annotations

import importlib
import logging
import os
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ringtree.errors import RingtreeError, UsageError
from ringtree.launchers.ray.actor import AgentActor, Event
from ringtree.launchers.ray.mirror import Piece
from ringtree.launchers.ray.seats import Seat, seated
from ringtree.units import count

STRATEGIES = ("STRICT_SPREAD", "SPREAD", "PACK", "STRICT_PACK")
START_LIMIT = 120.0  # seconds for the actors of a placement group that is there
LAST_WORDS = 45.0  # for the agents to end in order, once one was lost or all were told to


@dataclass(frozen=True)
class Placement:
    """What is asked of Ray. `num_agents`: None: one for each node with the `cpus`. `cpus`, `gpus`: of an agent. `wait`:
    seconds for them to be free."""

    num_agents: int | None = None
    strategy: str = "STRICT_SPREAD"
    cpus: float = 1
    gpus: float = 0
    address: str | None = None
    wait: float = 60.0


class RayJob(AbstractContextManager["RayJob"]):
    """Agents on a Ray cluster; inside, they are placed. `lost`: rank -> why, of actors that ended before their agents
    did. `code`: rank 0's exit code, None until it has ended."""

    def __init__(self, placement: Placement) -> None:
        if placement.strategy not in STRATEGIES:
            raise UsageError(f"invalid strategy {placement.strategy!r}: choose one of {', '.join(STRATEGIES)}")
        if (placement.address or "").startswith("ray://"):
            raise UsageError(
                "Ray Client can't stream results back: run this on a node of the cluster, or with `ray job submit`"
            )
        self._placement = placement
        self._ray: Any = None
        self._group: Any = None
        self._actors: list[Any] = []  # by bundle
        self._seats: list[Seat] = []
        self._over_at: float | None = None
        self.lost: dict[int, str] = {}
        self.code: int | None = None

    def __enter__(self) -> RayJob:
        """Connects and places. Raises UsageError if there is no Ray, or not enough of it."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            self._ray = importlib.import_module("ray")
        except ImportError:
            raise UsageError("Ray is not installed here: pip install 'ringtree[ray]'") from None
        try:
            self._ray.init(self._placement.address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise UsageError(f"can't reach Ray: {_why(error)}") from None
        try:
            self._place()
        except BaseException:
            self.close()
            raise
        return self

    @property
    def num_agents(self) -> int:
        """How many there are."""
        return len(self._seats)

    def events(
        self, arguments: Sequence[str], variables: Mapping[str, str], files: Sequence[Piece]
    ) -> Iterator[list[tuple[int, Event]]]:
        """Starts `ringtree <arguments>` as all agents; yields ranks and events, at least once a second, until all have
        ended, or until too long after one was lost or all were told to end.

        `files`: what rank 0 finds in its folder; what it writes there comes home.
        """
        listening = self._start(arguments, variables, files)
        while listening and (self._over_at is None or time.monotonic() < self._over_at):
            ready, _ = self._ray.wait([stream for stream, _ in listening], num_returns=1, timeout=1.0)
            batch: list[tuple[int, Event]] = []
            for stream, seat in [pair for pair in listening if pair[0] in ready]:
                try:
                    come = self._ray.get(next(stream))
                    batch += [(seat.rank, event) for event in come]
                except StopIteration:
                    listening.remove((stream, seat))
                except self._ray.exceptions.RayError as error:
                    listening.remove((stream, seat))
                    self._lose(seat, error)
            for rank, event in batch:
                if rank == 0 and event[0] == "ended":
                    self.code = event[1]
                    self._end_soon()
            yield batch

    def tell(self, number: int) -> None:
        """Hands a signal on to all agents, which then have LAST_WORDS."""
        self._end_soon()
        for actor in self._actors:
            actor.signal.remote(number)

    def close(self) -> None:
        """Ends the actors, gives back what was placed and leaves Ray."""
        for actor in self._actors:
            with suppress(Exception):  # a node that has gone took its actor with it
                self._ray.kill(actor)
        if self._group is not None:
            with suppress(Exception):
                self._ray.util.remove_placement_group(self._group)
        self._ray.shutdown()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _place(self) -> None:
        asked = self._placement
        bundle = {"CPU": asked.cpus, **({"GPU": asked.gpus} if asked.gpus else {})}
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        large = [node for node in nodes if all(node["Resources"].get(what, 0) >= n for what, n in bundle.items())]
        number = len(large) if asked.num_agents is None else asked.num_agents
        if number < 1:
            raise UsageError(f"no node of the Ray cluster has {_in_words(bundle)}: it has {_nodes_in_words(nodes)}")
        self._group = self._ray.util.placement_group([bundle] * number, strategy=asked.strategy)
        if not self._group.wait(asked.wait):
            raise UsageError(
                f"Ray could not place {number} agents of {_in_words(bundle)} each by {asked.strategy} within "
                f"{asked.wait:.0f} s: the cluster has {_nodes_in_words(nodes)}; wait until others have ended, or ask "
                "for less"
            )
        scheduling = importlib.import_module("ray.util.scheduling_strategies").PlacementGroupSchedulingStrategy
        actor = self._ray.remote(AgentActor)
        self._actors = [
            actor.options(
                num_cpus=asked.cpus,
                num_gpus=asked.gpus,
                max_concurrency=2,
                scheduling_strategy=scheduling(self._group, placement_group_bundle_index=index),
            ).remote()
            for index in range(number)
        ]
        try:
            found = self._ray.get([actor.where.remote() for actor in self._actors], timeout=START_LIMIT)
        except self._ray.exceptions.RayError as error:
            raise RingtreeError(f"Ray could not start the agents' actors: {_why(error)}") from None
        self._seats = seated(found)

    def _start(
        self, arguments: Sequence[str], variables: Mapping[str, str], files: Sequence[Piece]
    ) -> list[tuple[Any, Seat]]:
        first = self._seats[0]
        address, job = first.found.address, self._ray.get_runtime_context().get_job_id()
        port = self._ray.get(self._actors[first.bundle].free_port.remote(address), timeout=START_LIMIT)
        secret = secrets.token_hex(32)
        return [
            (
                self._actors[seat.bundle]
                .run.options(num_returns="streaming")
                .remote(
                    arguments,
                    {**variables, **seat.variables(job, address, port)},
                    secret,
                    files if seat.rank == 0 else (),
                    seat.rank == 0,
                ),
                seat,
            )
            for seat in self._seats
        ]

    def _lose(self, seat: Seat, error: Exception) -> None:
        self.lost[seat.rank] = f"Ray lost the agent of rank {seat.rank} on {seat.found.host_name}: {_why(error)}"
        self._end_soon()

    def _end_soon(self) -> None:
        self._over_at = min(self._over_at or float("inf"), time.monotonic() + LAST_WORDS)


def _why(error: Exception) -> str:
    """The last line of what Ray says: the first ones name the actor by its id, or begin a traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _in_words(bundle: Mapping[str, float]) -> str:
    return " and ".join(f"{number:g} {what}" for what, number in bundle.items())


def _nodes_in_words(nodes: Sequence[Any]) -> str:
    """As "2 nodes of 8 CPU, 1 node of 4 CPU"."""
    kinds = Counter(
        _in_words({what: node["Resources"][what] for what in ("CPU", "GPU") if what in node["Resources"]}) or "no CPU"
        for node in nodes
    )
    return ", ".join(f"{count(number, 'node')} of {kind}" for kind, number in kinds.items())
