"""Rank processes of ours as a process set: many arms in the same ranks, on this host or on several.

For: what the lab tells rank 0, and what all ranks answer. Not for: processes (rank_group.py, crew_group.py), or what
ranks do (rank_process.py).
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping, Sequence

from ringtree.comm.communicator import Choice
from ringtree.measure.crew import Crew
from ringtree.measure.crew_group import CrewGroup
from ringtree.measure.messages import (
    Answer,
    AnswersReport,
    AskChoice,
    Command,
    Leave,
    RankSpec,
    Report,
    SetSpec,
    SetUp,
    VisitCells,
    WarmCell,
    reports,
)
from ringtree.measure.process_set import CellKey, SetFailed, Visited
from ringtree.measure.rank_group import STALL_LIMIT, LaunchFailed, RankGroup


class RankSet:
    """One launch's ranks. `reported`: by process, what they say besides their answers; complete once the set is closed.
    `stall_limit`: seconds that one answer may take."""

    restarts = 0  # it hosts most of what a launch measures: without it there is little left to pair

    def __init__(
        self,
        arms: Sequence[SetUp],
        ranks: SetSpec,
        environment: Mapping[str, str] | None = None,
        crew: Crew | None = None,
        stall_limit: float = STALL_LIMIT,
    ) -> None:
        """`environment`: variables of the ranks. `crew`: who starts them where a launcher started processes."""
        self.arms, self.boundary = [arm.arm for arm in arms], ranks.boundary
        self.pids: list[int] = []
        self._asked, self._environment = arms, dict(environment or {})
        self._crew, self.stall_limit = crew, stall_limit
        self._group: RankGroup | CrewGroup | None = None
        self._store: int | None = None
        self._cells: dict[CellKey, int] = {}
        self._answers: list[Answer] | None = None
        self.reported: list[list[Report]] = [[] for _ in range(ranks.num_ranks)]
        self._spec = RankSpec(
            **dict(ranks),
            process_group=0,
            rank=0,
            session=secrets.token_hex(16),
            store=None if crew is None else crew.store,
            torch_host=None if crew is None else crew.torch_host,
        )

    def start(self) -> None:
        if self._crew is not None:
            self._group = CrewGroup(self._crew, self._spec, self._environment)
            self.pids = self._group.pids
            return
        self._store = os.memfd_create("ringtree-torch-store")
        spec = self._spec.model_copy(update={"torch_store": f"/proc/self/fd/{self._store}"})
        self._group = RankGroup(
            spec.program,
            range(spec.num_ranks // spec.num_threads),
            lambda process, process_group: spec.model_copy(
                update={"rank": process * spec.num_threads, "process_group": process_group}
            ),
            reports,
            self._environment,
            [self._store],
        )
        self.pids = self._group.pids

    def ready(self) -> dict[str, str]:
        errors = {arm.arm: joined(self.ask(arm)).error for arm in self._asked}
        return {arm: error for arm, error in errors.items() if error is not None}

    def warm_up(self, cell: CellKey, budget: float) -> Visited:
        number = self._cells.setdefault(cell, len(self._cells))
        what = WarmCell(cell=number, arm=cell.arm, size_bytes=cell.size_bytes, batch=cell.batch, budget=budget)
        return joined(self.ask(what))

    def visit(self, cell: CellKey, untimed: int, timed: int) -> Visited:
        return joined(self.ask(VisitCells(cells=[self._cells[cell]], untimed=untimed, timed=timed, check=True)))

    def visit_in_turn(self, cells: Sequence[CellKey], untimed: int, timed: int) -> list[list[float]]:
        """Visits one cell after the other, and does not check what comes of it: where visits are so short that a
        command for each would take as long. Returns the slowest rank's times, a row a cell. Raises SetFailed."""
        numbers = [self._cells[cell] for cell in cells]
        answers = self.ask(VisitCells(cells=numbers, untimed=untimed, timed=timed, check=False))
        times = [max(of_ranks) for of_ranks in zip(*(answer.times for answer in answers), strict=True)]
        return [times[i : i + timed] for i in range(0, len(times), timed)]

    def choice(self, cell: CellKey, shared_buffers: bool) -> Choice:
        """Returns what auto runs for a cell. Raises SetFailed."""
        what = AskChoice(arm=cell.arm, size_bytes=cell.size_bytes, shared_buffers=shared_buffers)
        choice = self.ask(what)[0].choice
        assert choice is not None, "it is what was asked for"
        return choice

    def close(self) -> None:
        assert self._group is not None, "it was started"
        try:
            self.ask(Leave())
            self.pids = self._group.finish(self._hear)
        except LaunchFailed as failed:
            raise SetFailed(str(failed)) from None
        finally:
            self.kill()

    def kill(self) -> None:
        if self._group is not None:
            self._group.close()
        if self._store is not None:
            with contextlib.suppress(OSError):
                os.close(self._store)
            self._store = None

    def ask(self, command: Command) -> list[Answer]:
        """Returns all ranks' answers. Raises SetFailed."""
        assert self._group is not None, "it was started"
        self._answers = None
        self._group.tell(command)
        try:
            self._group.listen(self._hear, self.stall_limit, lambda: self._answers is not None)
        except LaunchFailed as failed:
            raise SetFailed(str(failed)) from None
        if self._answers is None:
            raise SetFailed("the ranks have left without an answer")
        return self._answers

    def _hear(self, rank: int, report: Report) -> None:
        if isinstance(report, AnswersReport):
            self._answers = report.of_ranks
        else:
            self.reported[rank].append(report)


def joined(answers: Sequence[Answer]) -> Visited:
    """Returns what the ranks say together: wrong if one of them found it so, an error if not all executed the same."""
    first = answers[0]
    error = next((answer.error for answer in answers if answer.error is not None), None)
    algorithms = {str((answer.executed or {}).get("algorithm")) for answer in answers}
    if error is None and len(algorithms) > 1:
        error = f"ranks executed different algorithms: {', '.join(sorted(algorithms))}"
    return Visited(
        times=[answer.times for answer in answers],
        device_times=[answer.device_times for answer in answers if answer.device_times],
        executed=first.executed,
        first_wrong=next((answer.first_wrong for answer in answers if answer.first_wrong is not None), None),
        trained=[answer.trained for answer in answers if answer.trained is not None],
        warm_up=first.warm_up,
        seconds=first.seconds,
        error=error,
    )
