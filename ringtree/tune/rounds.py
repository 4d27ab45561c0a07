"""The rounds of one launch: warm-up, then round after round over all cells until the time is over.

For: what runs when, which candidates are dropped at once, the probes between visits, what is said of it. Not for: ranks
(launch.py, ringtree.measure.rank_set), or deciding what the rounds say (scores.py).

A time is the slowest rank's. Ranks sleep while this process decides, stores and probes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ringtree.comm.communicator import Choice
from ringtree.comm.profile_format import AUTO, Configuration
from ringtree.measure.messages import ProgressReport
from ringtree.measure.probe import Handoff
from ringtree.measure.process_set import CellKey, Visited
from ringtree.measure.visit_loop import SETTLE, Probe
from ringtree.tune.history import key_of
from ringtree.tune.measured import CellPlan, Chosen, Dropped, Measured, Round, TuneLaunch, TuneRequest
from ringtree.tune.visits import visit_of, visit_order
from ringtree.units import format_size

CARRY_FROM = 1 << 20  # bytes; above it, what was hopeless at the size before is not tried again
PER_MILLE = 1000

OnMeasured = Callable[[Measured | ProgressReport], None]


class Ranks(Protocol):
    """What rounds need of a RankSet that was started."""

    def ready(self) -> dict[str, str]: ...

    def warm_up(self, cell: CellKey, budget: float) -> Visited: ...

    def visit_in_turn(self, cells: Sequence[CellKey], untimed: int, timed: int) -> list[list[float]]: ...

    def choice(self, cell: CellKey, shared_buffers: bool) -> Choice: ...


@dataclass
class _Cell:
    """A cell while its launch runs. `labels`: of the candidates that are not dropped."""

    plan: CellPlan
    labels: list[str] = field(default_factory=list)
    num_rounds: int = 0

    def __str__(self) -> str:
        return f"{self.plan.collective} {format_size(self.plan.size_bytes)}"

    def key(self, label: str) -> CellKey:
        size = self.plan.size_bytes
        return CellKey(size, arm_of(self.plan.collective, label), visit_of(size).batch)


def arm_of(collective: str, label: str) -> str:
    """Returns what the arm that runs a candidate is called in a launch."""
    return f"{collective} {label}"


class TuneRounds:
    """One launch; used once. Sweeps before `first_sweep` were measured before the tuning was interrupted."""

    def __init__(
        self,
        request: TuneRequest,
        launch: TuneLaunch,
        first_sweep: int,
        ranks: Ranks,
        on_measured: OnMeasured,
        probe: Probe | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._request, self._launch, self._first_sweep, self._ranks = request, launch, first_sweep, ranks
        self._report, self._probe, self._clock = on_measured, probe or Handoff(), clock
        self._cells = [_Cell(plan) for plan in sorted(launch.cells, key=key_of)]

    def run(self) -> None:
        """Warms up and measures."""
        launch, started = self._launch, self._clock()
        self._warm_up(started)
        cells = {key_of(cell.plan): cell for cell in self._cells if cell.labels}
        measuring, sweeps, wanted = self._clock(), 0, launch.max_sweeps > 0 and bool(cells)
        while wanted:
            for key in visit_order(self._request.seed, launch.number, self._first_sweep + sweeps, cells):
                for _ in range(visit_of(key[1]).num_rounds):
                    self._round(cells[key])
                self._progress(started, str(cells[key]))
            sweeps += 1
            now = self._clock()
            another = now - started + (now - measuring) / sweeps <= launch.seconds
            wanted = sweeps < launch.min_sweeps or (sweeps < launch.max_sweeps and another)

    def _warm_up(self, started: float) -> None:
        refused = self._ranks.ready()
        before: tuple[str, dict[str, float]] = ("", {})  # of the size before: its collective, ratios to the best
        limit = math.inf if self._launch.drop_above is None else self._launch.drop_above
        for cell in self._cells:
            collective, size = key_of(cell.plan)
            carried = before[1] if before[0] == collective and size > CARRY_FROM else {}
            planned = {one.label for one in cell.plan.candidates}
            ratios = {label: ratio for label, ratio in carried.items() if ratio > limit and label in planned}
            for label, ratio in ratios.items():
                self._drop(cell, label, f"at the size before it took {ratio:.1f} times as long as the best")
            tried = [one for one in cell.plan.candidates if one.label not in ratios]
            seconds = {one.label: self._first_calls(cell, one, refused) for one in tried}
            known = {label: taken for label, taken in seconds.items() if taken is not None and label != AUTO}
            best = min(known.values(), default=math.inf)
            for label, taken in known.items():
                # Looked at twice where it costs little: one call may have been disturbed by anything.
                again = taken > limit * best and (size <= CARRY_FROM or taken < 2 * limit * best)
                ratios[label] = min(taken, self._warm_visit(cell, label) if again else taken) / best
                if ratios[label] > limit:
                    self._drop(cell, label, f"its warm call took {ratios[label]:.1f} times as long as the best")
            before = (collective, ratios)
            self._progress(started, f"warming up {cell}")

    def _first_calls(self, cell: _Cell, candidate: Configuration, refused: dict[str, str]) -> float | None:
        """Calls it twice, checked the first time; returns its seconds the second time. None if it was dropped."""
        key = cell.key(candidate.label)
        problem = refused.get(key.arm) or _problem(self._ranks.warm_up(key, 0.0), candidate)
        if problem is not None:
            self._drop(cell, candidate.label, problem)
            return None
        cell.labels.append(candidate.label)
        if candidate.algorithm == AUTO:
            self._say_choice(cell)
        return self._warm_visit(cell, candidate.label)

    def _say_choice(self, cell: _Cell) -> None:
        chosen = self._ranks.choice(cell.key(AUTO), self._launch.world.shared_buffers)._asdict()
        reason = chosen.pop("reason")
        self._report(Chosen(**self._place(cell), label=Configuration(**chosen).label, reason=reason))

    def _drop(self, cell: _Cell, label: str, reason: str) -> None:
        cell.labels = [one for one in cell.labels if one != label]
        self._report(Dropped(**self._place(cell), label=label, reason=reason))

    def _round(self, cell: _Cell) -> None:
        started, size = self._clock(), cell.plan.size_bytes
        visit, number = visit_of(size), self._first_sweep * visit_of(size).num_rounds + cell.num_rounds
        cell.num_rounds += 1
        order = visit_order(self._request.seed, self._launch.number, number, cell.labels)
        # Large ones take long enough for the cores to move, and small ones no longer than a command or a probe.
        parts = [[label] for label in order] if size > CARRY_FROM else [order]
        seconds, handoffs = dict[str, float](), [self._handoff()]
        for part in parts:
            seconds |= self._visit(cell, part, visit.num_untimed, visit.num_timed)
            handoffs.append(self._handoff())
        self._report(
            Round(
                **self._place(cell),
                round=number,
                seconds=seconds,
                handoffs=[handoff for handoff in handoffs if handoff is not None],
                wall_seconds=self._clock() - started,
            )
        )

    def _warm_visit(self, cell: _Cell, label: str) -> float:
        return self._visit(cell, [label], 0, 1)[label]

    def _visit(self, cell: _Cell, labels: list[str], num_untimed: int, num_timed: int) -> dict[str, float]:
        """Returns seconds of one call on the slowest rank, the median over the timed iterations."""
        keys = [cell.key(label) for label in labels]
        times = self._ranks.visit_in_turn(keys, num_untimed, num_timed)
        return {label: float(np.median(of)) / keys[0].batch for label, of in zip(labels, times, strict=True)}

    def _handoff(self) -> float | None:
        time.sleep(SETTLE)
        return self._probe.measure()

    def _place(self, cell: _Cell) -> dict[str, Any]:
        collective, size = key_of(cell.plan)
        return {"launch": self._launch.number, "collective": collective, "size_bytes": size}

    def _progress(self, started: float, text: str) -> None:
        share = (self._clock() - started) / max(self._launch.seconds, 1e-9)
        self._report(ProgressReport(done=min(PER_MILLE, int(PER_MILLE * share)), total=PER_MILLE, text=text))


def _problem(first: Visited, candidate: Configuration) -> str | None:
    """Why a candidate is out after its first call; None if it was right, and what was asked for."""
    if first.error is not None:
        return first.error
    if first.first_wrong is not None:
        return "its result was wrong"
    if candidate.algorithm == AUTO:
        return None
    last, asked = first.executed or {}, {"algorithm": candidate.algorithm, "protocol": candidate.protocol}
    other = [str(last.get(word)) for word, value in asked.items() if last.get(word) != value]
    return f"{'/'.join(other)} was executed instead" if other else None
