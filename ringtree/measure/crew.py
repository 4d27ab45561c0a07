"""Several hosts: one agent for each rank, which starts that rank's process anew for every launch.

    torchrun --nnodes 2 --nproc-per-node 2 --no-python ringtree compare …

The agent of rank 0 is the lab; the others do what it says: run a rank of a launch, and report. They speak through a
communicator of the engine's own, so that one that dies ends the others within a second.

For: what the launcher has started, seen as a crew. Not for: processes (rank_group.py), or what ranks do.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from ringtree._core import interface_towards
from ringtree.comm.communicator import init
from ringtree.comm.meeting import from_environment, on_several_hosts, store_to_join
from ringtree.errors import MismatchError, RingtreeError, UsageError
from ringtree.measure import exchange
from ringtree.measure.messages import RankSpec, reports
from ringtree.measure.rank_group import STALL_LIMIT, LaunchFailed, RankGroup
from ringtree.results import Record

PROGRAM = "ringtree.measure.rank_process"  # what every rank of a launch runs
_PATIENCE = 24 * 3600.0  # of an agent for its next order: who thinks meanwhile is the lab, or a person

OnReport = Callable[[int, Any], None]


class Order(Record):
    """What the lab tells the agents: run your rank of a launch, or go home. `spec`: rank 0's."""

    kind: Literal["launch", "end"]
    spec: dict[str, Any] | None = None
    environment: dict[str, str] = Field(default_factory=dict)


class Outcome(Record):
    """What became of one rank: its pid, and in one line why it failed, if it did."""

    pid: int = 0
    failure: str | None = None


class Crew(AbstractContextManager["Crew"]):
    """The agents of a job. The same object on each; which of them is the lab is told by `rank`."""

    def __init__(self) -> None:
        if "RINGTREE_SECRET" in os.environ:
            raise UsageError("rank processes need the secret too: give it by RINGTREE_SECRET_FILE, not RINGTREE_SECRET")
        self.rank = from_environment("RANK", None)
        self.comm = init(name="crew", profile="", timeout=_PATIENCE)
        self.hosts: list[int] = self.comm.hosts
        self.store = store_to_join()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The lab sends the others home."""
        if self.rank == 0:
            with contextlib.suppress(RingtreeError):  # then one of them has gone, and the others know
                self.tell(Order(kind="end"))
        self.comm.close()

    def serve(self) -> None:
        """The other agents: does what the lab says until it says that all is done."""
        while (order := Order.model_validate_json(exchange.hear(self.comm))).kind != "end":
            with contextlib.closing(self.start(order)) as own:
                try:
                    outcome = Outcome(pid=own.finish(lambda rank, report: None)[0])
                except LaunchFailed as failed:
                    outcome = Outcome(failure=str(failed))
            self.gather(outcome)

    def tell(self, order: Order) -> None:
        """The lab: says what the others do next."""
        exchange.tell(self.comm, order)

    def gather(self, mine: Outcome) -> list[Outcome]:
        """Returns the outcomes of all ranks, on all agents."""
        return [Outcome.model_validate_json(outcome) for outcome in exchange.gather(self.comm, mine)]

    def start(self, order: Order) -> RankGroup:
        """Starts this agent's rank of a launch."""
        try:
            spec = RankSpec.model_validate(order.spec)
        except ValidationError as error:
            raise MismatchError(f"rank 0 runs another version of ringtree: {error.errors()[0]['msg']}") from None

        def make_spec(which: int, process_group: int) -> RankSpec:
            return spec.model_copy(update={"rank": which, "process_group": process_group})

        environment = {**_network_of(order), **order.environment}
        return RankGroup(PROGRAM, [self.rank], make_spec, reports, environment)


class CrewGroup:
    """The rank processes of one launch, one on each agent, as the lab sees them: what a RankGroup is on one host. Only
    rank 0, which is the lab's own, hears commands and reports."""

    def __init__(self, crew: Crew, spec: RankSpec, environment: dict[str, str]) -> None:
        order = Order(kind="launch", spec=spec.model_dump(mode="json"), environment=environment)
        crew.tell(order)
        self._crew, self._own = crew, crew.start(order)

    def tell(self, command: BaseModel) -> None:
        """As RankGroup.tell()."""
        self._own.tell(command)

    def listen(self, on_report: OnReport, stall_limit: float, is_over: Callable[[], bool] = lambda: False) -> None:
        """As RankGroup.listen()."""
        try:
            self._own.listen(on_report, stall_limit, is_over)
        except LaunchFailed as failed:
            self._own.close()  # then the others fail, too
            self._outcomes(Outcome(failure=str(failed)))

    def finish(self, on_report: OnReport) -> list[int]:
        """As RankGroup.finish()."""
        self.listen(on_report, STALL_LIMIT)
        return [outcome.pid for outcome in self._outcomes(Outcome(pid=self._own.pids[0]))]

    def close(self) -> None:
        """As RankGroup.close()."""
        self._own.close()

    def _outcomes(self, mine: Outcome) -> list[Outcome]:
        outcomes = self._crew.gather(mine)
        failures = [each.failure for each in outcomes if each.failure is not None]
        if failures:
            raise LaunchFailed("; ".join(failures))
        return outcomes


def crew_of_the_launcher() -> Crew | None:
    """Returns this process's crew if a launcher has started it as a rank among ranks of several hosts, else None."""
    return Crew() if on_several_hosts() else None


def _network_of(order: Order) -> dict[str, str]:
    """What Gloo needs to find its network: the interface from which ranks of other hosts are reached here."""
    if "GLOO_SOCKET_IFNAME" in os.environ or "MASTER_ADDR" not in os.environ:
        return {}
    interface = interface_towards(os.environ["MASTER_ADDR"])
    return {} if interface is None else {"GLOO_SOCKET_IFNAME": interface}
