"""The rounds of one launch on one rank: warm-up of every cell, then round after round of visits.

For: what runs when, the probes between visits, the reports. Not for: what a visit does (measure.py), or starting
processes (launch.py).

Between two visits all ranks pause while rank 0 probes the time of a hand-off from core to core: virtual cores move
closer and further apart within seconds, and times under different placements must not be averaged together. A probe
ends one visit and begins the next.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ringtree.backends import Arm
from ringtree.lab.exact_data import ExactData
from ringtree.lab.measure import CallNumbers, CellLoop, Coordinator
from ringtree.lab.messages import CellReport, ProgressReport, RankSpec, Report
from ringtree.lab.plan import PlannedLaunch, sizes_of, visit_order
from ringtree.lab.units import format_size
from ringtree.lab.visits import is_visited, num_iterations, num_rewarming, num_rounds
from ringtree.probe import Handoff, core_pairs, usable_cores
from ringtree.results import SizePlan, Visit, WarmUp

# Seconds that the other ranks sleep while rank 0 probes one pair of cores; a probe of far cores takes less.
PROBE_PAUSE = 0.0005


@dataclass
class CellRun:
    """A cell while its launch runs. `seconds`: of one iteration, as rank 0 found it."""

    loop: CellLoop
    warm_up: WarmUp | None = None
    seconds: float = 0.0
    rounds: int = 0
    num_untimed: int = 0
    num_iterations: int = 0
    visits: list[Visit] = field(default_factory=list)


class LaunchRounds:
    """Runs one launch on one rank and reports each of its cells."""

    def __init__(
        self,
        spec: RankSpec,
        launch: PlannedLaunch,
        arms: Mapping[str, Arm],
        refused: Mapping[str, str],
        data: ExactData,
        sync: Coordinator,
        report: Callable[[Report], None],
    ) -> None:
        self._spec, self._plan, self._launch = spec, spec.plan, launch
        self._refused, self._sync, self._report = refused, sync, report
        numbers, item = CallNumbers(), np.dtype(self._plan.dtype).itemsize
        self._cells = {
            (size.size_bytes, label): CellRun(
                CellLoop(
                    arm, data, sync, spec.rank, size, size.size_bytes // item, numbers, keep_operands=spec.keep_operands
                )
            )
            for size in sizes_of(self._plan, launch)
            for label, arm in arms.items()
        }
        self._num_rounds = max(size.max_rounds for size in sizes_of(self._plan, launch))
        # Emulated links are slower than anything that the placement of cores could change.
        self._probe = Handoff() if spec.rank == 0 and self._plan.emulation is None else None
        self._pause_seconds = PROBE_PAUSE * len(core_pairs(usable_cores()))
        self._num_done, self._num_visits = 0, 0

    def run(self) -> None:
        """Warms up, visits, and reports every cell."""
        self._warm_up()
        before = self._pause()
        for round_ in range(self._num_rounds):
            for key in visit_order(self._plan, self._launch, round_):
                cell = self._cells.get(key)
                if cell is None or cell.loop.error or not is_visited(round_, cell.rounds, self._num_rounds):
                    continue
                cell.loop.visit(cell.num_untimed, cell.num_iterations)
                after = self._pause()
                self._note(cell, round_, (before, after))
                before = after
                self._progress(f"{key[1]} {format_size(key[0])}")
        for size in sizes_of(self._plan, self._launch):
            for arm in self._launch.arms:
                self._report(self._cell_report(size, arm.label))

    def _warm_up(self) -> None:
        budget = self._plan.cell_budget
        self._num_visits = len(self._cells)  # until more is known
        for (size_bytes, label), cell in self._cells.items():
            cell.warm_up, cell.seconds = cell.loop.warm_up(budget)
            self._progress(f"warming up {label} {format_size(size_bytes)}")
        for size in sizes_of(self._plan, self._launch):
            cells = [cell for (of, _), cell in self._cells.items() if of == size.size_bytes and cell.loop.error is None]
            if not cells:
                continue
            rounds = num_rounds(size, [cell.seconds for cell in cells], budget)
            untimed = [num_rewarming(size, cell.seconds) for cell in cells]
            timed = [num_iterations(size, cell.seconds, budget, rounds) for cell in cells]
            rounds, *counts = self._sync.decide([rounds, *untimed, *timed])
            for i, cell in enumerate(cells):
                cell.rounds, cell.num_untimed, cell.num_iterations = rounds, counts[i], counts[len(cells) + i]
            self._num_visits += rounds * len(cells)

    def _pause(self) -> float | None:
        """Every rank stands still while rank 0 probes; returns seconds on rank 0, None elsewhere or without a probe."""
        if self._plan.emulation is not None:
            return None
        self._sync.barrier()
        if self._probe is not None:
            return self._probe.measure()
        time.sleep(self._pause_seconds)
        return None

    def _note(self, cell: CellRun, round_: int, handoff: tuple[float | None, float | None]) -> None:
        before, after = handoff
        cell.visits.append(
            Visit(
                round=round_,
                position=self._num_done - len(self._cells),
                num_iterations=cell.num_iterations,
                handoff=(before, after) if before is not None and after is not None else None,
            )
        )

    def _progress(self, text: str) -> None:
        self._num_done += 1
        if self._spec.rank == 0:
            self._report(ProgressReport(done=self._num_done, total=self._num_visits, text=text))

    def _cell_report(self, size: SizePlan, label: str) -> CellReport:
        cell = self._cells.get((size.size_bytes, label))
        return CellReport(
            size_bytes=size.size_bytes,
            arm=label,
            executed=cell.loop.executed if cell else None,
            times=cell.loop.times if cell else [],
            visits=cell.visits if cell else [],
            warm_up=cell.warm_up if cell else None,
            first_wrong=cell.loop.first_wrong if cell else None,
            error=cell.loop.error if cell else self._refused[label],
        )
