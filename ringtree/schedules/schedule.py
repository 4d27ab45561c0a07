"""Schedules as Python sees them: collective algorithms as data. `schedule()` makes a built-in one, `build()` one of
your own.

For: reading schedules (the interpreter and the pictures do), proving them, costing them. Not for: running them
(comm/communicator.py), storing them (format.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ringtree._core import CostSummary, OwnSchedule, Round, is_pipelined, make_schedule, measure_cost, rank_rounds
from ringtree._core import Schedule as CoreSchedule
from ringtree._core import Step as CoreStep
from ringtree._core import verify as core_verify
from ringtree.schedules.builder import ProgramBuilder

Place = tuple[str, int]


@dataclass(frozen=True)
class Step:
    """One step of one rank's program. `chunks`: global chunk ids in order, the operand laid end to end. `src` and
    `dst`: (buffer, scratch slot) or None; input and output are addressed by the chunk ids, the i-th chunk in scratch
    lies in slot + i. `recv`: (peer, tag) in fold order; the own operand `src` is folded before recv[src_at]."""

    verb: str
    lane: int
    chunks: tuple[int, ...]
    recv: tuple[tuple[int, int], ...]
    src: Place | None
    src_at: int
    dst: Place | None
    send_to: tuple[int, ...]
    send_tag: int


class Schedule:
    """A checked collective algorithm for a fixed number of ranks. Immutable; made by schedule(), build() or
    from_json()."""

    def __init__(self, core: CoreSchedule) -> None:
        self._core = core
        self._own: OwnSchedule | None = None

    @property
    def core(self) -> CoreSchedule:
        """The C++ object."""
        return self._core

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def collective(self) -> str:
        return self._core.collective

    @property
    def num_ranks(self) -> int:
        return self._core.num_ranks

    @property
    def root(self) -> int:
        return self._core.root

    @property
    def num_chunks(self) -> int:
        return self._core.num_chunks

    @property
    def widest(self) -> int:
        """Most chunks that one step handles."""
        return self._core.widest

    @property
    def switches(self) -> list[int]:
        """For each switch that reduces what ranks send it a rank that is joined to it. Its program is number
        num_ranks, num_ranks + 1, …; to it and from it messages go as between ranks."""
        return self._core.switches

    @property
    def shares(self) -> int:
        """Of a mix, as "ring:3+double_tree", how many shares of the data are worked on side by side (chunk c is of
        share c mod shares); else 1."""
        return self._core.shares

    @property
    def is_pipelined(self) -> bool:
        """Whether messages pass through ranks in turn, so that the engine cuts them finer (is_pipelined() of
        core/schedule/cost_summary.h)."""
        return is_pipelined(self._core)

    def scratch_chunks(self, rank: int) -> int:
        """Scratch slots of `rank`."""
        return self._core.num_scratch(rank)

    def program(self, rank: int) -> list[Step]:
        """The steps of `rank` (or switch) in program order, which is their meaning; lanes say what may overlap."""
        return [self._step(step) for step in self._core.steps(rank)]

    def dependencies(self, rank: int) -> list[list[int]]:
        """For each step of `rank` the earlier steps in other lanes that must have finished before it."""
        return self._core.dependencies(rank)

    def rounds(self, rank: int) -> list[Round]:
        """The rounds of `rank`: batches of messages that both ends agree on without tags, and the steps between them
        (core/schedule/rounds.h). Raises UsageError if the schedule can't finish."""
        return rank_rounds(self._core, rank)

    def layout(self, count: int) -> list[tuple[int, int]]:
        """(offset, length) in elements of each chunk in the collective's whole vector. `count`: elements of the
        vector, or of a block where the collective has blocks."""
        return self._core.layout(count)

    def cost(self) -> CostSummary:
        """Steps, hops and shares of the data that the ranks send, read and write, counted in the schedule."""
        return measure_cost(self._core)

    def verified(self) -> OwnSchedule:
        """Proves the schedule, once. Raises VerificationError that names the step or link where the fault first
        shows."""
        if self._own is None:
            self._own = OwnSchedule(self._core)
        return self._own

    def _step(self, step: CoreStep) -> Step:
        first, count, stride = step.chunk_range
        chunks = tuple((first + i * stride) % self.num_chunks for i in range(count))
        return Step(
            step.verb,
            step.lane,
            chunks,
            tuple(step.recv),
            step.src,
            step.src_at,
            step.dst,
            tuple(step.send_to),
            step.send_tag,
        )

    def __repr__(self) -> str:
        return f"<ringtree.Schedule {self.name}: {self.collective} of {self.num_ranks} ranks, {self.num_chunks} chunks>"


def schedule(
    collective: str, algorithm: str, ranks: int, root: int = 0, hosts: Sequence[int] | None = None
) -> Schedule:
    """The built-in `algorithm`'s schedule, or that of a mix, as "ring:3+double_tree": three quarters of the data go
    around the ring, one through the trees. `hosts`: the host of each rank, numbered in the order of their first rank,
    as [0, 0, 1, 1]; without it all ranks share one. Only algorithms that do one thing inside a host and another one
    between hosts look at it. Raises UsageError that lists what exists."""
    where = None if hosts is None else list(hosts)
    return Schedule(make_schedule(algorithm, collective, ranks, root, where))


def build(
    collective: str,
    program: Callable[[ProgramBuilder], None],
    *,
    ranks: int,
    chunks: int = 1,
    root: int = 0,
    name: str | None = None,
) -> Schedule:
    """A schedule of your own: `program(p)` is called once a rank and appends that rank's steps to the builder `p`.

    chunks: into how many chunks the data is cut; a multiple of the number of blocks (one a rank; all_to_all: one a pair
    of ranks, number src * ranks + dst) where the collective has any. The name defaults to the function's. Raises
    ScheduleError that names rank and step if a program is not well formed; verify() or the first run proves it.
    """
    label = name or str(getattr(program, "__name__", "own"))
    builders = [ProgramBuilder(rank, ranks, root, chunks) for rank in range(ranks)]
    for builder in builders:
        program(builder)
    widest = max((step.chunk_range[1] for builder in builders for step in builder.steps), default=1)
    steps = [builder.steps for builder in builders]
    num_scratch = [builder.num_scratch for builder in builders]
    return Schedule(CoreSchedule(label, collective, ranks, root, chunks, widest, steps, num_scratch))


def verify(schedule: Schedule) -> None:
    """Proves that `schedule` computes its collective: see docs/architecture.md. Raises VerificationError."""
    schedule.verified()


def verify_report(schedule: Schedule) -> dict[str, object]:
    """What the verifier found, without raising: ok, kind, problem, rank, step, num_steps, num_messages, num_links."""
    verdict = core_verify(schedule.core)
    return {
        "ok": verdict.ok,
        "kind": verdict.kind,
        "problem": verdict.problem,
        "rank": verdict.rank,
        "step": verdict.step,
        "num_steps": verdict.num_steps,
        "num_messages": verdict.num_messages,
        "num_links": verdict.num_links,
    }
