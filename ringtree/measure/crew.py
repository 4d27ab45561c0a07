"""The agents of a launcher's job: processes that start the ranks of each launch anew, wherever they were started.

    srun --ntasks-per-node=1 ringtree compare --ranks 16 …      an agent a host, with several ranks each
    mpirun -n 16 ringtree compare …                             an agent a rank

The agent of rank 0 is the lab; the others do what it says: run their ranks of a launch, and report. They speak through
a communicator of the engine's own, so that one that dies ends the others within a second.

For: what the launcher has started, seen as a crew. Not for: joining it (joining.py), processes (rank_group.py), what
the lab sees of a launch (crew_group.py), or what ranks do.
"""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections import Counter
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Literal

from pydantic import Field, ValidationError

from ringtree._core import interface_towards
from ringtree.comm.communicator import init
from ringtree.comm.meeting import store_of, to_join
from ringtree.errors import MismatchError, RingtreeError, UsageError
from ringtree.launchers import Identity, address_of
from ringtree.measure import exchange
from ringtree.measure.environment import measuring_versions
from ringtree.measure.join_limits import JOIN_LIMIT
from ringtree.measure.messages import RankSpec, reports
from ringtree.measure.rank_group import LaunchFailed, RankGroup
from ringtree.results import Launcher, Record

MEETING = "crew"  # its name in the store
ORDER_LIMIT = 24 * 3600.0  # of an agent for its next order: who thinks meanwhile is the lab, or a person
ANSWER_LIMIT = 120.0  # of the lab for what became of the others' ranks, once its own have ended


class Order(Record):
    """What the lab tells the agents: run your ranks of a launch, or go home. `spec`: rank 0's; `local_ranks`: by rank,
    which of its host's it is."""

    kind: Literal["launch", "end"]
    spec: dict[str, Any] | None = None
    local_ranks: list[int] = Field(default_factory=list)
    environment: dict[str, str] = Field(default_factory=dict)


class Outcome(Record):
    """What became of an agent's ranks: their pids, and in one line why they failed, if they did."""

    pids: list[int] = Field(default_factory=list)
    failure: str | None = None


class Hello(Record):
    """What each agent tells of itself when it joins."""

    host_name: str
    cores: list[int] = Field(description="that it may use: launchers bind processes to some of their host's")
    versions: dict[str, str | None]
    clock: tuple[float, float] = Field(
        description="its host's time, seconds, before and after one moment of all agents"
    )


class Crew(AbstractContextManager["Crew"]):
    """The agents of a job. The same object on each; which of them is the lab is told by `is_lab`.

    `agent_hosts`: by agent, the number of its host, counted by their first agents; `hellos`: what each said of itself.
    """

    def __init__(self, identity: Identity, join_limit: float = JOIN_LIMIT) -> None:
        self.identity, self.number = identity, identity.rank
        store = store_of(identity)
        self.comm = init(identity.rank, identity.world_size, store, name=MEETING, profile="", timeout=join_limit)
        self.agent_hosts: list[int] = self.comm.hosts
        own = Hello(
            host_name=platform.node(),
            cores=sorted(os.sched_getaffinity(0)),
            versions=measuring_versions(),
            clock=self._look_at_the_clock(),
        )
        self.hellos = [Hello.model_validate_json(hello) for hello in exchange.gather(self.comm, own)]
        # Ranks of one host meet in a store of rank 0's; who was started by a crew on several has the agents' store.
        self.store = to_join(store) if self.on_several_hosts else None
        self._is_running = False  # a launch: the other agents then don't listen

    @property
    def is_lab(self) -> bool:
        """Whether this agent plans, speaks and stores."""
        return self.number == 0

    @property
    def num_agents(self) -> int:
        """How many processes the launcher has started."""
        return self.comm.world_size

    @property
    def on_several_hosts(self) -> bool:
        """Whether agents run on more than one host, which is the kernels' word and not the launcher's."""
        return len(set(self.agent_hosts)) > 1

    @property
    def torch_host(self) -> str:
        """Where ranks reach rank 0's host, for PyTorch's own store."""
        return address_of(self.identity)[0] if self.on_several_hosts else "127.0.0.1"

    @property
    def described(self) -> Launcher:
        """The launcher, for a run's provenance."""
        names = dict(zip(self.agent_hosts, (hello.host_name for hello in self.hellos), strict=True))
        return Launcher(
            name=self.identity.launcher,
            job=self.identity.job,
            num_processes=self.num_agents,
            hosts=[names[number] for number in sorted(names)],
        )

    @property
    def cores(self) -> list[int]:
        """Cores of the lab's host that its agents may use between them."""
        here = [hello.cores for host, hello in zip(self.agent_hosts, self.hellos, strict=True) if host == 0]
        return sorted({core for cores in here for core in cores})

    def hosts_of(self, num_ranks: int) -> list[int]:
        """Returns each rank's host if every agent has as many, one agent's after another's. Raises UsageError."""
        return spread(self.agent_hosts, num_ranks)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The lab sends the others home; from the middle of a launch by abort, as they don't listen then."""
        with contextlib.suppress(RingtreeError):  # then one of them has gone, and the others know
            if self.is_lab and self._is_running:
                self.comm.abort("the lab has ended")
            elif self.is_lab:
                self.tell(Order(kind="end"))
        self.comm.close()

    def serve(self) -> None:
        """The other agents: does what the lab says until it says that all is done. Raises RingtreeError if the lab or
        another agent is lost."""
        while (order := _order_in(exchange.hear(self.comm, ORDER_LIMIT))).kind != "end":
            with contextlib.ExitStack() as launch:
                try:
                    own = launch.enter_context(contextlib.closing(self.start(order)))
                except (RingtreeError, OSError) as error:
                    # Nobody reads what this process prints: the lab says it.
                    self.gather(Outcome(failure=f"process {self.number} starts no ranks: {error}"), ORDER_LIMIT)
                    continue
                outcome = Outcome(pids=own.pids)
                if failures(self.gather(outcome, ORDER_LIMIT)):
                    continue  # another one's ranks did not start
                try:
                    own.finish(lambda rank, report: None, ORDER_LIMIT)  # how long it may take is the lab's affair
                except LaunchFailed as failed:
                    outcome = Outcome(failure=str(failed))
            self.gather(outcome, ORDER_LIMIT)

    def tell(self, order: Order) -> None:
        """The lab: says what the others do next."""
        self._is_running = order.kind == "launch"
        exchange.tell(self.comm, order, ANSWER_LIMIT)

    def gather(self, mine: Outcome, limit: float = ANSWER_LIMIT) -> list[Outcome]:
        """Returns the outcomes of all agents, on all agents."""
        return [Outcome.model_validate_json(outcome) for outcome in exchange.gather(self.comm, mine, limit)]

    def is_over(self) -> None:
        """The lab: the launch has ended on all agents, and they listen again."""
        self._is_running = False

    def start(self, order: Order) -> RankGroup:
        """Starts this agent's ranks of a launch."""
        try:
            spec = RankSpec.model_validate(order.spec)
        except ValidationError as error:
            what = error.errors()[0]
            where = ".".join(map(str, what["loc"])) or "its order"
            raise MismatchError(f"rank 0 runs another version of ringtree: {where}: {what['msg']}") from None
        each = spec.num_ranks // self.num_agents

        def make_spec(which: int, process_group: int) -> RankSpec:
            own = {"rank": which, "process_group": process_group, "local_rank": order.local_ranks[which]}
            return spec.model_copy(update=own)

        ranks = range(self.number * each, (self.number + 1) * each, spec.num_threads)
        return RankGroup(spec.program, ranks, make_spec, reports, {**self._network(), **order.environment})

    def _look_at_the_clock(self) -> tuple[float, float]:
        """Returns the time before and after a moment at which all agents were between the two."""
        self.comm.barrier()  # so that nobody waits long in the next one
        before = time.time()
        self.comm.barrier()
        return before, time.time()

    def _network(self) -> dict[str, str]:
        """What Gloo needs to find its network: the interface from which ranks of other hosts are reached here."""
        if "GLOO_SOCKET_IFNAME" in os.environ or not self.on_several_hosts:
            return {}
        interface = interface_towards(self.torch_host)
        return {} if interface is None else {"GLOO_SOCKET_IFNAME": interface}


def failures(outcomes: list[Outcome]) -> list[str]:
    """Returns why agents failed, a line for each that did."""
    return [each.failure for each in outcomes if each.failure is not None]


def _order_in(text: bytes) -> Order:
    """Returns the order; one that cannot be read, of another version's lab, as a launch that start() refuses."""
    try:
        return Order.model_validate_json(text)
    except ValidationError:
        return Order(kind="launch")


def spread(agent_hosts: list[int], num_ranks: int) -> list[int]:
    """Returns each rank's host if every agent has as many ranks, one agent's after another's. Raises UsageError."""
    num_agents = len(agent_hosts)
    if num_ranks % num_agents:
        raise UsageError(
            f"the launcher started {num_agents} processes, each with the same number of ranks: --ranks must be a "
            f"multiple of {num_agents}, not {num_ranks}"
        )
    return [agent_hosts[rank // (num_ranks // num_agents)] for rank in range(num_ranks)]


def local_ranks(hosts: list[int]) -> list[int]:
    """Returns by rank how many ranks of its host come before it."""
    seen: Counter[int] = Counter()
    numbers = []
    for host in hosts:
        numbers.append(seen[host])
        seen[host] += 1
    return numbers
