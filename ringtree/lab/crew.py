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
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

import ringtree
from ringtree import _core
from ringtree.errors import MismatchError, RingtreeError, UsageError
from ringtree.lab.messages import ProcessSpec
from ringtree.lab.rank_group import LaunchFailed, run_ranks
from ringtree.meeting import from_environment, on_several_hosts, store_to_join
from ringtree.results import Record

_PATIENCE = 24 * 3600.0  # of an agent for its next order: who thinks meanwhile is the lab, or a person
MAX_MESSAGE_BYTES = 256 << 20

OnReport = Callable[[int, Any], None]


@dataclass(frozen=True)
class RankProgram:
    """What the rank processes of a launch run: a module, what a rank of it is told first, and what it may report."""

    module: str
    spec: type[ProcessSpec]  # with a field `rank`
    reports: TypeAdapter[Any]


class Order(Record):
    """What the lab tells the agents: run your rank of a launch, or go home. `spec`: rank 0's."""

    kind: Literal["launch", "end"]
    module: str = ""
    spec: dict[str, Any] | None = None
    environment: dict[str, str] = Field(default_factory=dict)


class Outcome(Record):
    """What became of one rank: its pid, its reports, and in one line why it failed, if it did."""

    pid: int = 0
    reports: list[Any] = Field(default_factory=list, description="as JSON has them")
    failure: str | None = None


class Crew:
    """The agents of a job, which all run one command and so one program. The same object on each; which of them is the
    lab is told by `rank`."""

    def __init__(self, program: RankProgram) -> None:
        self._program = program
        if "RINGTREE_SECRET" in os.environ:
            raise UsageError("rank processes need the secret too: give it by RINGTREE_SECRET_FILE, not RINGTREE_SECRET")
        self.rank = from_environment("RANK", None)
        self.comm = ringtree.init(name="crew", profile="", timeout=_PATIENCE)
        self.hosts: list[int] = self.comm.hosts
        self.store = store_to_join()

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The lab sends the others home."""
        if self.rank == 0:
            with contextlib.suppress(RingtreeError):  # then one of them has gone, and the others know
                self._tell(Order(kind="end"))
        self.comm.close()

    def run_launch(self, spec: ProcessSpec, environment: dict[str, str], on_report: OnReport) -> list[int]:
        """The lab: runs one rank process on each agent; returns their pids by rank. Raises LaunchFailed.

        `on_report(rank, report)`: rank 0's as they come, those of the others when all have ended.
        """
        told = spec.model_dump(mode="json")
        order = Order(kind="launch", module=self._program.module, spec=told, environment=environment)
        self._tell(order)
        outcomes = self._gather(self._run_own(order, on_report))
        for rank, outcome in enumerate(outcomes[1:], start=1):
            for report in outcome.reports:
                on_report(rank, self._program.reports.validate_python(report))
        failures = [each.failure for each in outcomes if each.failure is not None]
        if failures:
            raise LaunchFailed("; ".join(failures))
        return [outcome.pid for outcome in outcomes]

    def serve(self) -> None:
        """The other agents: does what the lab says until it says that all is done."""
        while (order := self._hear()).kind != "end":
            self._gather(self._run_own(order))

    def _tell(self, order: Order) -> None:
        payload = np.frombuffer(order.model_dump_json().encode(), np.uint8).copy()
        self.comm.broadcast(np.array([payload.size], np.int64))
        self.comm.broadcast(payload)

    def _hear(self) -> Order:
        length = np.zeros(1, np.int64)
        self.comm.broadcast(length)
        payload = np.zeros(_checked(int(length[0])), np.uint8)
        self.comm.broadcast(payload)
        return Order.model_validate_json(payload.tobytes())

    def _gather(self, mine: Outcome) -> list[Outcome]:
        payload = np.frombuffer(mine.model_dump_json().encode(), np.uint8).copy()
        lengths = np.zeros(self.comm.world_size, np.int64)
        self.comm.all_gather(np.array([payload.size], np.int64), lengths)
        counts = [_checked(int(length)) for length in lengths]
        everything = np.zeros(sum(counts), np.uint8)
        self.comm.all_gather(payload, everything, counts=counts)
        ends = np.cumsum(counts)
        return [
            Outcome.model_validate_json(everything[end - count : end].tobytes())
            for end, count in zip(ends, counts, strict=True)
        ]

    def _run_own(self, order: Order, on_report: OnReport | None = None) -> Outcome:
        """Runs this agent's rank of a launch. Where reports are not handed on they are part of the outcome."""
        told: list[Any] = []
        program = self._program
        if order.module != program.module:
            raise MismatchError("the ranks of the launcher do not all run the same command")
        try:
            spec = program.spec.model_validate(order.spec)
        except ValidationError as error:
            raise MismatchError(f"rank 0 runs another version of ringtree: {error.errors()[0]['msg']}") from None

        def make_spec(which: int, process_group: int) -> ProcessSpec:
            return spec.model_copy(update={"rank": which, "process_group": process_group})

        def keep(_: int, report: Any) -> None:
            told.append(program.reports.dump_python(report, mode="json"))

        try:
            pids = run_ranks(
                program.module,
                self.comm.world_size,
                make_spec,
                program.reports,
                on_report or keep,
                environment={**_network_of(order), **order.environment},
                only=self.rank,
            )
        except LaunchFailed as failed:
            return Outcome(reports=told, failure=str(failed))
        return Outcome(pid=pids[0], reports=told)


def crew_of_the_launcher(program: RankProgram) -> Crew | None:
    """Returns this process's crew if a launcher has started it as a rank among ranks of several hosts, else None."""
    return Crew(program) if on_several_hosts() else None


def _checked(length: int) -> int:
    if not 0 < length <= MAX_MESSAGE_BYTES:
        raise RingtreeError(f"a message of {length} bytes cannot be the lab's")
    return length


def _network_of(order: Order) -> dict[str, str]:
    """What Gloo needs to find its network: the interface from which ranks of other hosts are reached here."""
    if "GLOO_SOCKET_IFNAME" in os.environ or "MASTER_ADDR" not in os.environ:
        return {}
    interface = _core.interface_towards(os.environ["MASTER_ADDR"])
    return {} if interface is None else {"GLOO_SOCKET_IFNAME": interface}
