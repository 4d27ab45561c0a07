"""What the lab and its rank processes say to each other.

For: the shapes: one specification down, then commands, each answered by all ranks; reports up. Not for: how they travel
(framing.py, exchange.py), or processes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from ringtree.comm.communicator import DEFAULT_MEMORY_CAP, Choice
from ringtree.measure.trace_reports import CallsReport, EventsReport
from ringtree.results import Boundary, EmulatedCluster, Record, TrainedSteps, WarmUp, WrongElement

PROGRAM = "ringtree.measure.rank_process"  # what every rank of a launch runs, unless its room has another
RANK_TIMEOUT = 300.0  # seconds of each wait inside a rank
IDLE_LIMIT = 24 * 3600.0  # seconds between commands; how long the lab waits for an answer is its own affair


class Memory(Record):
    """Where the cells of a launch have their operands."""

    keep: bool = Field(default=True, description="false: not all cells' fit at the same time")
    in_place: bool = Field(default=True, description="where the collective can be")
    largest: dict[int, int] = Field(
        default={}, description="batch -> bytes of its largest cell, whose memory all share; none: each has its own"
    )


class SetSpec(Record):
    """What all ranks of a launch are alike in."""

    num_ranks: int
    seed: int = Field(description="of the data")
    boundary: Boundary = Field(description="by which all arms are called")
    memory: Memory = Memory()
    profile: str | None = Field(default=None, description="what auto chooses by, as ringtree.init has it")
    emulation: EmulatedCluster | None = None
    timeout: float = Field(default=RANK_TIMEOUT, description="seconds of each wait of an arm")
    idle_limit: float = Field(
        default=IDLE_LIMIT, description="seconds of each wait for the lab's commands and for each other"
    )
    num_threads: int = Field(default=1, description="ranks of a process, each a thread")
    shared_buffers: bool = Field(default=False, description="of all of the engine's communicators")
    memory_cap: int = Field(default=DEFAULT_MEMORY_CAP, description="of each of the engine's communicators, bytes")
    program: str = Field(default=PROGRAM, pattern=r"^ringtree(\.[a-z_]+)+$", description="module that ranks run")
    job: dict[str, Any] = Field(default={}, description="what another room's program needs besides")


class RankSpec(SetSpec):
    """All that one rank process needs to know before its first command. `session` names the rendezvous and is not
    guessable."""

    process_group: int = Field(description="of the launch, led by its guard")
    rank: int = Field(description="of `num_threads` ranks the first")
    session: str
    store: str | None = Field(default=None, description="where ranks of several hosts meet; else in one of this host")
    torch_store: str | None = Field(
        default=None, description="path of a file for torch's rendezvous; None: several agents have started the ranks"
    )
    torch_host: str | None = Field(default=None, description="where rank 0 then serves torch's rendezvous")
    local_rank: int | None = Field(default=None, description="which of its host's ranks this is; None: all are here")


class SetUp(Record):
    """Connect an arm. `arm`: what it is called from now on; `name`: what it is; `all_arguments`: as Setting says."""

    kind: Literal["set_up"] = "set_up"
    arm: str
    name: str
    collective: str
    op: str
    dtype: str
    root: int = 0
    all_arguments: bool = True


class WarmCell(Record):
    """Operands for an arm at a size, which are called `cell` from now on, and iterations until they are stable;
    `budget`: seconds of the cell in the launch, 0 for a single iteration."""

    kind: Literal["warm"] = "warm"
    cell: int
    arm: str
    size_bytes: int
    batch: int
    budget: float


class VisitCells(Record):
    """One cell after the other: iterations whose times are not kept, and then some whose are. `check`: read what comes
    of them."""

    kind: Literal["visit"] = "visit"
    cells: list[int]
    untimed: int
    timed: int
    check: bool


class AskChoice(Record):
    """What auto runs for an arm's collective."""

    kind: Literal["choice"] = "choice"
    arm: str
    size_bytes: int
    shared_buffers: bool


class TimeSide(Record):
    """Calls on parts of two buffers: untimed ones, `num_iterations` of `num_calls` that are timed as a whole, and
    checked ones until one is wrong on any rank.

    `first_element`: of the buffers that is used. `blocking`: as nccl-tests' -z. `each`: time each iteration, too.
    """

    kind: Literal["time_side"] = "time_side"
    arm: str
    size_bytes: int
    in_place: bool
    buffer_bytes: int
    first_element: int
    num_untimed: int
    num_iterations: int
    num_calls: int
    blocking: int
    each: bool
    num_checks: int


class TraceCalls(Record):
    """Calls of the engine, as many untraced and then traced; each rank reports its own.

    `counts`: elements of what is given and of what is got, or of the one vector. `capacity`: events of a rank.
    """

    kind: Literal["trace"] = "trace"
    collective: str
    algorithm: str
    protocol: str
    dtype: str
    counts: list[int]
    num_channels: int
    shared_buffers: bool
    num_warm_up: int
    num_calls: int
    capacity: int


class Replayed(Record):
    """A call of a replayed step: the arm that was set up for its collective and dtype, and its size."""

    arm: str
    size_bytes: int


class ReplaySteps(Record):
    """A training job's step, several times. `actions`, by rank: compute (seconds of CPU time), issue and wait (the
    number of one of `calls`)."""

    kind: Literal["replay"] = "replay"
    calls: list[Replayed]
    actions: list[list[tuple[Literal["compute", "issue", "wait"], float]]]
    untimed: int
    timed: int


class Leave(Record):
    """Give everything back and end."""

    kind: Literal["leave"] = "leave"


Command = SetUp | WarmCell | VisitCells | AskChoice | TimeSide | TraceCalls | ReplaySteps | Leave
commands: TypeAdapter[Command] = TypeAdapter(Annotated[Command, Field(discriminator="kind")])


class Answer(Record):
    """What one rank says to a command; what the command does not ask for stays empty. `error`: why the arm can't."""

    error: str | None = None
    seconds: float = Field(default=0.0, description="of a warm iteration, writing and checking included; of a call")
    warm_up: WarmUp | None = None
    times: list[float] = Field(default=[], description="seconds of each timed iteration, cell after cell")
    device_times: list[float] = Field(default=[], description="as times, by the GPU's events; empty: no GPU")
    waited: list[float] = Field(default=[], description="of each replayed step: seconds in which the rank waited")
    choice: Choice | None = None
    executed: dict[str, Any] | None = None
    first_wrong: WrongElement | None = None
    trained: TrainedSteps | None = Field(default=None, description="of all steps of the command; null: no training")
    num_wrong: int | None = Field(default=None, description="elements of this rank's result; None: not checked")


class AnswersReport(Record):
    """All ranks' answers to one command; from rank 0 only."""

    kind: Literal["answers"] = "answers"
    of_ranks: list[Answer]


class ProgressReport(Record):
    """How far the launch is: `done` of `total` visits. `text`: what was just finished."""

    kind: Literal["progress"] = "progress"
    done: int
    total: int
    text: str


class DoneReport(Record):
    """The rank did all that it was told."""

    kind: Literal["done"] = "done"


class FailureReport(Record):
    """The rank can't go on; `text` is one line."""

    kind: Literal["failure"] = "failure"
    text: str


Report = AnswersReport | CallsReport | DoneReport | EventsReport | FailureReport
reports: TypeAdapter[Report] = TypeAdapter(Annotated[Report, Field(discriminator="kind")])
