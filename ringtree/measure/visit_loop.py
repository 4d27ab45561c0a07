"""The visit loop: warm-up of every cell, then round after round of visits, over any process sets.

For: which arm runs when, in the lab's own process; what a set that fails takes with it; the probes between visits. Not
for: what a visit does (rank_process.py and its like), or how often and how long (visits.py).

One process set works at a time and all others sleep. Between two visits all of them do, while the lab probes the time
of a hand-off from core to core: virtual cores move closer and further apart within seconds, and times under different
placements must not be averaged together. A probe ends one visit and begins the next.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from ringtree.measure.giving_up import LONG_FAILURE
from ringtree.measure.messages import ProgressReport
from ringtree.measure.plan import PlannedLaunch, sizes_of, visit_order
from ringtree.measure.probe import Handoff
from ringtree.measure.process_set import CellKey, ProcessSet, SetFailed, Visited, check_boundary
from ringtree.measure.rank_group import LaunchFailed
from ringtree.measure.visits import is_visited, num_iterations, num_rewarming, share_rounds
from ringtree.results import (
    ON_GPU,
    Cell,
    Plan,
    RecordedStep,
    SizePlan,
    TrainedCell,
    TrainedSteps,
    Visit,
    WarmUp,
    WrongElement,
)
from ringtree.units import format_size

# Seconds from an answer until all ranks sleep: they spin for a fraction of a millisecond before they do.
SETTLE = 0.0005


T = TypeVar("T")
RoundOrder = Callable[[int], Sequence[tuple[int, str]]]  # round -> its (size, arm label) in the order of visits


class Probe(Protocol):
    """Handoff, or what stands in for it."""

    def measure(self) -> float | None: ...


@dataclass
class CellRun:
    """A cell while its launch runs. `seconds`: of one iteration. It is visited in every `stride`-th of its `rounds`,
    `untimed` and then `timed` iterations each time. `executed` is the last visit's."""

    key: CellKey
    size: SizePlan
    batch: int = 1
    seconds: float = 0.0
    rounds: int = 0
    stride: int = 1
    untimed: int = 0
    timed: int = 0
    warm_up: WarmUp | None = None
    times: list[list[float]] = field(default_factory=list)
    device_times: list[list[float]] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    executed: dict[str, Any] | None = None
    first_wrong: WrongElement | None = None
    error: str | None = None
    trained: TrainedCell | None = None

    def __str__(self) -> str:
        return f"{self.key.arm} {format_size(self.key.size_bytes)}"

    def take(self, visited: Visited) -> None:
        """Adds what a warm-up or visit gave."""
        self.executed, self.error = visited.executed or self.executed, self.error or visited.error
        self.first_wrong, self.batch = self.first_wrong or visited.first_wrong, visited.batch or self.batch
        self.times = _joined(self.times, visited.times)
        self.device_times = _joined(self.device_times, visited.device_times)
        if visited.trained:
            self.trained = _trained(self.trained or TrainedCell(), visited.trained, bool(visited.times[0]))

    def record(self) -> Cell:
        """The cell as it is stored. It is verified only if every rank found every element right in every iteration."""
        timed = bool(self.visits)
        return Cell(
            arm=self.key.arm,
            size_bytes=self.key.size_bytes,
            executed=self.executed,
            batch=self.batch,
            times=self.times if timed else [],
            device_times=self.device_times if timed else [],
            visits=self.visits,
            warm_up=self.warm_up,
            verified=self.error is None and self.first_wrong is None and timed,
            first_wrong=self.first_wrong,
            error=self.error,
            trained=self.trained,
        )


def _trained(before: TrainedCell, more: list[TrainedSteps], timed: bool) -> TrainedCell:
    """Losses of all steps; the rest of those that are `timed`."""
    inputs = [rank.input_seconds for rank in more] if timed else []
    return TrainedCell(
        losses=_joined(before.losses, [rank.losses for rank in more]),
        input_seconds=_joined(before.input_seconds, inputs),
        peak_bytes=[rank.peak_bytes for rank in more],
        collectives=before.collectives or more[0].collectives,
        recorded=before.recorded or _if_any([rank.recorded for rank in more]),
    )


def _if_any(recorded: list[RecordedStep | None]) -> list[RecordedStep | None]:
    return recorded if any(recorded) else []


def _joined(before: list[list[float]], more: list[list[float]]) -> list[list[float]]:
    return [[*old, *new] for old, new in zip(before or [[] for _ in more], more, strict=True)] if more else before


class VisitLoop:
    """One launch over its process sets; used once."""

    def __init__(
        self,
        plan: Plan,
        launch: PlannedLaunch,
        sets: Sequence[ProcessSet],
        on_progress: Callable[[ProgressReport], None],
        given_up: Mapping[tuple[int, str], str] | None = None,
        probe: Probe | None = None,
        order: RoundOrder | None = None,
    ) -> None:
        """`sets` host the launch's arms between them. `on_progress` is called with each visit. `given_up`: cells that
        are not tried, and why. `probe`: by default the machine's. `order`: by default visit_order(). Raises UsageError
        if calls of the sets cross different boundaries."""
        check_boundary(sets)
        self._plan, self._launch, self._sets, self._on_progress = plan, launch, list(sets), on_progress
        self._set_of = {arm: one for one in sets for arm in one.arms}
        self._sizes = sizes_of(plan, launch)
        self._order = order or partial(visit_order, plan, launch)
        wanted = set(self._order(0))
        self._cells = {
            (size.size_bytes, arm.label): CellRun(CellKey(size.size_bytes, arm.label, size.batch), size, size.batch)
            for size in self._sizes
            for arm in launch.arms
            if (size.size_bytes, arm.label) in wanted
        }
        for key in self._cells.keys() & (given_up or {}).keys():
            self._cells[key].error = (given_up or {})[key]
        self._failed: list[str] = []
        self._num_restarts = dict.fromkeys(sets, 0)
        # Emulated links are slower than anything that the placement of cores could change; GPUs' calls don't cross it.
        on_host = plan.emulation is None and plan.boundary not in ON_GPU
        self._probe = None if not on_host else probe or Handoff()
        self._num_done, self._num_visits, self._last = 0, len(self._cells), ""

    def run(self) -> list[Cell]:
        """Returns the cells, sizes ascending, arms as in the plan; the sets are gone then, also after an exception.

        Raises LaunchFailed if no set is left.
        """
        try:
            self._begin(list(self._sets))
            self._warm_up()
            self._visit()
            for one in list(self._sets):
                self._guarded(one, one.close)
        finally:
            for one in set(self._set_of.values()):
                one.kill()
        return [cell.record() for cell in self._cells.values()]

    def _begin(self, sets: Iterable[ProcessSet]) -> None:
        """Starts them all, as most of a start is waiting, and then waits for each."""
        for one in sets:
            self._guarded(one, one.start)
        for one in [one for one in sets if one in self._sets]:
            for arm, why in (self._guarded(one, one.ready) or {}).items():
                for cell in self._of(arm):
                    cell.error = cell.error or why

    def _warm_up(self) -> None:
        budget = self._plan.cell_budget
        num_warm = len(self._cells)
        for cell in self._cells.values():
            if cell.error is not None:
                continue
            started = time.monotonic()
            visited = self._ask(cell, partial(self._set_of[cell.key.arm].warm_up, cell.key, budget))
            if visited is not None:
                cell.warm_up, cell.seconds = visited.warm_up, visited.seconds
            if cell.error is not None and time.monotonic() - started > LONG_FAILURE:
                self._give_up(cell, f"{cell.error} (at {cell})")
            self._progress(f"warming up {cell}")
        self._num_visits = num_warm
        for size in self._sizes:
            cells = [cell for cell in self._cells.values() if cell.size is size and cell.error is None]
            labels = [cell.key.arm for cell in cells]
            reference = labels.index(self._plan.reference) if self._plan.reference in labels else None
            shared = share_rounds(size, [cell.seconds for cell in cells], budget, reference)
            for arm, cell in enumerate(cells):
                cell.rounds, cell.stride = shared.number, shared.strides[arm]
                cell.untimed = num_rewarming(size, cell.seconds)
                cell.timed = num_iterations(size, cell.seconds, budget, shared.visits(arm))
                self._num_visits += shared.visits(arm)
        self._num_done = num_warm

    def _visit(self) -> None:
        most = max(size.max_rounds for size in self._sizes)
        position, before = 0, self._handoff()
        for round_ in range(most):
            for key in self._order(round_):
                cell = self._cells[key]
                if cell.error is not None or not is_visited(round_, cell.rounds, most, cell.stride):
                    continue
                one = self._set_of[key[1]]
                visited = self._ask(cell, partial(one.visit, cell.key, cell.untimed, cell.timed))
                after = self._handoff()
                if visited is not None and visited.error is None:
                    handoff = None if before is None or after is None else (before, after)
                    visit = Visit(round=round_, position=position, num_iterations=cell.timed, handoff=handoff)
                    cell.visits.append(visit)
                before, position = after, position + 1
                self._progress(str(cell))

    def _handoff(self) -> float | None:
        if self._probe is None:
            return None
        time.sleep(SETTLE)
        return self._probe.measure()

    def _ask(self, cell: CellRun, do: Callable[[], Visited]) -> Visited | None:
        """What the cell's set gives; None if it is lost, which is noted."""
        visited = self._guarded(self._set_of[cell.key.arm], do, cell)
        if visited is not None:
            cell.take(visited)
        return visited

    def _guarded(self, one: ProcessSet, do: Callable[[], T], at: CellRun | None = None) -> T | None:
        """What `do` returns; None if the set fails `at` a cell, or as a whole. Raises LaunchFailed if no set is left.

        A set that may be is started anew, without the arm from this size on. Else the cells that it has not visited
        yet are given up, and the one in which it failed.
        """
        try:
            return do()
        except SetFailed as failed:
            one.kill()
            if at is not None and self._num_restarts[one] < one.restarts:
                self._num_restarts[one] += 1
                self._give_up(at, f"{failed} (at {at})")
                at.error = f"{failed} (at {at})"
                self._begin([one])
                return None
            self._sets.remove(one)
            self._failed.append(str(failed))
            if not self._sets:
                raise LaunchFailed(f"{self._where()}: {'; '.join(self._failed)}") from None
            for cell in (cell for arm in one.arms for cell in self._of(arm)):
                if cell is at or not cell.visits:
                    cell.error = cell.error or (f"{failed} (at {at})" if at else str(failed))
                cell.rounds = 0
            return None

    def _give_up(self, failed: CellRun, why: str) -> None:
        """What hung or died at a size would cost as much time at the larger ones. What was measured there stays."""
        for cell in self._of(failed.key.arm):
            if cell.key.size_bytes >= failed.key.size_bytes:
                cell.rounds = 0
                if cell.error is None and not cell.visits:
                    cell.error = why

    def _of(self, arm: str) -> Iterable[CellRun]:
        return [cell for (_, label), cell in self._cells.items() if label == arm]

    def _progress(self, text: str) -> None:
        self._num_done, self._last = self._num_done + 1, text
        self._on_progress(ProgressReport(done=self._num_done, total=self._num_visits, text=text))

    def _where(self) -> str:
        if not self._num_done:
            return "before its first cell"
        return "after its last cell" if self._num_done >= self._num_visits else f"after {self._last}"
