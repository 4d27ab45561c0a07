"""Native workers as a process set: one library called from C, in processes that its own launcher starts.

For: arms that a native process hosts (MPI, oneCCL, the engine through C++), so that they share a launch with others and
are paired with them. Not for: talking to workers (worker_ranks.py), or finding libraries.

A library that fails at 256 MB is still a peer at 8 B: workers that die, hang or fail may be started anew. They check
every element themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from ringtree.arms import Program
from ringtree.arms.mpi import is_taken
from ringtree.errors import RingtreeError
from ringtree.measure.plan import BATCH_LIMIT
from ringtree.measure.process_set import CellKey, Visited
from ringtree.measure.warm_up import LARGE, warm_up_ends
from ringtree.measure.worker_ranks import Answer, HasWorkers, Refused, Work, WorkerRanks
from ringtree.results import Boundary, WarmUp
from ringtree.units import format_time

RESTARTS = 2  # in a launch; what fails more often than that is given up until the next one
BATCH_SECONDS = 200e-6  # of calls timed together, on a core each: a barrier's skew is small against it
MOST_CALLS = 4096
FEW_CALLS, SHORT_CALL = 50, 50e-6  # calls below so many seconds are timed again, several together
SMALL = 1 << 20  # up to it a call of CALL_LIMIT seconds would only cost the others their time
CALL_LIMIT = 2.0
TOO_SLOW = "left out as too slow"  # begins the error of a cell that would cost the others their time
WRONG = "wrong result: "  # begins the error of a cell in which elements were wrong


@dataclass(frozen=True)
class NativeCalls:
    """How an arm of the set is called. `offset`: bytes off the alignment of 64; `shared`: buffers that peers read in
    place; `algorithm`: words that the engine's workers understand."""

    offset: int = 0
    shared: bool = False
    algorithm: str | None = None


@dataclass(frozen=True)
class Moved:
    """What a set's calls move: a collective's data, of which no two calls have the same. `seed`: of the launch."""

    collective: str
    dtype: str
    op: str
    seed: int


@dataclass(frozen=True)
class Deadlines:
    """Seconds after which workers are given up: of the start, of the first calls at a size, and of a visit besides ten
    times what it should take."""

    start: float = 90.0
    first: float = 20.0
    visit: float = 10.0


class _CellLost(RingtreeError):
    """The cell can't be had, its set goes on."""


class WorkerSet(HasWorkers):
    """One library's workers in one launch. `arms`: labels, each a way to call it; `pids`: of every rank that was
    started."""

    boundary: Boundary = "native"
    restarts = RESTARTS

    def __init__(
        self,
        program: Program,
        arms: Mapping[str, NativeCalls],
        moved: Moved,
        num_ranks: int,
        cores: Sequence[int],
        deadlines: Deadlines | None = None,
        variables: Mapping[str, str] | None = None,
        wanted: Mapping[str, str] | None = None,
    ) -> None:
        """`cores`: ranks are pinned to them in turn; `variables`: of the environment; `wanted`: what the library must
        say that it has set, by the names of its own tool interface."""
        super().__init__()
        self.arms, self.pids = list(arms), list[int]()
        self._program, self._calls, self._moved = program, arms, moved
        self._num_ranks, self._cores = num_ranks, cores
        self._variables, self._wanted = dict(variables or {}), dict(wanted or {})
        self._deadlines = deadlines or Deadlines()
        self._bound: dict[CellKey, tuple[int, float]] = {}  # calls of a batch, seconds of one with all that is around
        self._said: dict[str, str] = {}  # of what is executed
        self._algorithm = "auto"
        self._num_calls = 0

    def start(self) -> None:
        self._algorithm = "auto"
        self._ranks = WorkerRanks(self._program, self._num_ranks, self._cores, self._variables)

    def ready(self) -> dict[str, str]:
        assert self._ranks is not None, "it was started"
        self._ranks.ready(self._deadlines.start)
        self.pids += self._ranks.pids
        self._said = {"version": self._ranks.version}
        moved = self._moved
        try:
            self._ranks.give_data(moved.collective, moved.dtype, moved.op, moved.seed, self._deadlines.first)
            self._said |= read_controls(self._ranks, self._wanted, self._deadlines.first)
        except Refused as refused:
            return dict.fromkeys(self.arms, str(refused))
        return {}

    def warm_up(self, cell: CellKey, budget: float) -> Visited:
        return self._guarded(cell, lambda: self._warmed(cell, budget))

    def visit(self, cell: CellKey, untimed: int, timed: int) -> Visited:
        return self._guarded(cell, lambda: self._visited(cell, untimed, timed))

    def _guarded(self, cell: CellKey, do: Callable[[], Visited]) -> Visited:
        try:
            return do()
        except _CellLost as lost:
            return Visited([[] for _ in range(self._num_ranks)], self._executed(cell.arm), error=str(lost))

    def _warmed(self, cell: CellKey, budget: float) -> Visited:
        """Finds out what a call takes, and how many are timed together."""
        started, large = time.monotonic(), cell.size_bytes > LARGE
        batches, untimed = (1, 0) if large else (2, 1)
        if cell.batch > 1:
            untimed = self._num_ranks  # every root's first call connects ranks, and tells nothing of the others
        answer = self._run(cell, 1, batches, untimed, self._deadlines.first)
        call, wall = min(answer.slowest()), answer.seconds / (batches + untimed)
        if call < SHORT_CALL:
            call = self._run(cell, FEW_CALLS, 1, 0, self._deadlines.first).slowest()[0] / FEW_CALLS
        if call * cell.batch > CALL_LIMIT and cell.size_bytes <= SMALL:
            more = "" if cell.batch == 1 else f", and {cell.batch} are timed together"
            raise _CellLost(f"{TOO_SLOW}: a call took {format_time(call)}{more}")
        batch = cell.batch if cell.batch > 1 else self._fitting_batch(cell, call)
        seconds, walls = (answer.slowest(), [wall]) if batch == 1 else ([], [])
        while (ended := warm_up_ends(cell.size_bytes, seconds, time.monotonic() - started, budget)) is None:
            answer = self._run(cell, batch, 1, 0, self._deadlines.first)
            seconds += answer.slowest()
            walls.append(answer.seconds)
        wall = median(walls)
        self._bound[cell] = batch, wall
        warm_up = WarmUp(num_iterations=len(seconds), ended=ended)
        nothing: list[list[float]] = [[] for _ in range(self._num_ranks)]
        return Visited(nothing, self._executed(cell.arm), warm_up=warm_up, seconds=wall, batch=batch)

    def _fitting_batch(self, cell: CellKey, call: float) -> int:
        if cell.size_bytes > BATCH_LIMIT:
            return 1
        # With several ranks on a core a barrier's skew grows by the time slices of the others, and batches with it.
        target = BATCH_SECONDS * max(1.0, self._num_ranks / len(self._cores)) if self._cores else BATCH_SECONDS
        return max(1, min(MOST_CALLS, round(target / call)))

    def _visited(self, cell: CellKey, untimed: int, timed: int) -> Visited:
        batch, seconds = self._bound[cell]
        patience = self._deadlines.visit + 10 * (untimed + timed) * seconds
        answer = self._run(cell, batch, timed, untimed, patience)
        return Visited([list(of_rank) for of_rank in answer.times], self._executed(cell.arm))

    def _run(self, cell: CellKey, calls: int, batches: int, untimed: int, patience: float) -> Answer:
        """Runs calls on fresh data. Raises _CellLost or SetFailed."""
        assert self._ranks is not None, "it was started"
        how, moved = self._calls[cell.arm], self._moved
        first = self._num_calls
        self._num_calls += calls * (batches + untimed + 1)  # workers may add a batch where buffers are new
        work = Work(
            *(moved.collective, moved.dtype, moved.op, cell.size_bytes, calls, batches, untimed, first),
            offset=how.offset,
            shared=how.shared,
        )
        try:
            if (words := how.algorithm or "auto") != self._algorithm:
                self._ranks.tell(f"algorithm {words}", patience)
                self._algorithm = words
            answer = self._ranks.run(work, patience)
        except Refused as refused:
            raise _CellLost(str(refused)) from None
        for rank, wrong in enumerate(answer.wrong):
            if wrong:
                raise _CellLost(f"{WRONG}{wrong} elements on rank {rank}")
        return answer

    def _executed(self, arm: str) -> dict[str, Any]:
        """What the library says of itself and of its settings; of the last call only the engine tells what ran."""
        told = {"backend": self._program.name, "through": "native", **self._said}
        if self._ranks is None or self._calls[arm].algorithm is None:
            return told
        try:
            ran = self._ranks.tell("control executed", self._deadlines.first)[0]
        except Refused:
            return told
        said = dict(word.split("=", 1) for word in ran.split())
        return {**told, **{name: int(value) if value.isdigit() else value for name, value in said.items()}}


def read_controls(ranks: WorkerRanks, wanted: Mapping[str, str], timeout: float) -> dict[str, str]:
    """Returns what a library says of its variables. Raises Refused if one is not as `wanted`, or SetFailed."""
    found = {}
    for name, value in wanted.items():
        found[name] = ranks.tell(f"control {name}", timeout)[0]
        if not is_taken(found[name], value):
            raise Refused(f"{name} was to be {value!r}, and the library has it at {found[name]!r}")
    return found
