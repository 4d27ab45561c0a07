"""The rounds of one launch on one rank: warm-up, then round after round over all cells until the time is over.

For: what runs when, which candidates are dropped at once, the probes between visits, what rank 0 reports. Not for:
starting processes (launch.py), or deciding what the rounds say (scores.py).

All ranks do the same: rank 0's clock decides, and everybody hears of it. A time is the slowest rank's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ringtree.lab.exact_data import Array
from ringtree.lab.measure import CallNumbers
from ringtree.lab.messages import ProgressReport
from ringtree.lab.plan import BATCH_CALLS, BATCH_LIMIT
from ringtree.lab.units import format_size
from ringtree.profile_format import AUTO, Configuration
from ringtree.tune.history import key_of
from ringtree.tune.operands import OUT_OF_PLACE, RankData, make_call, make_vectors
from ringtree.tune.plan import BLOCKED
from ringtree.tune.records import CellPlan, Chosen, Dropped, Measured, Round, TuneSpec
from ringtree.tune.visits import visit_of, visit_order

CARRY_FROM = 1 << 20  # bytes; above it, what was hopeless at the size before is not tried again
PER_MILLE = 1000
# Seconds between reports: whoever reads them takes a core from the ranks for a moment.
REPORT_SECONDS = 0.5


class Sync(Protocol):
    """What rounds need of the other ranks."""

    def ready(self) -> None: ...

    def decide(self, values: list[int]) -> list[int]: ...

    def all_true(self, mine: bool) -> bool: ...

    def slowest(self, seconds: list[float]) -> list[float]: ...

    def probe(self) -> float | None: ...


class _Cell:
    """A cell while its launch runs: its buffers, and a call for each candidate and buffer."""

    def __init__(self, plan: CellPlan, vectors: list[Array], results: list[Array]) -> None:
        self.plan, self.visit, self.vectors, self.results = plan, visit_of(plan.size_bytes), vectors, results
        self.calls: dict[str, list[Callable[[], Any]]] = {}  # by label, what is not dropped
        self.num_rounds = 0


class TuneRounds:
    """Runs one launch on one rank. `comm`: the engine's communicator; `report`: takes what rank 0 has to say."""

    def __init__(
        self,
        spec: TuneSpec,
        comm: Any,
        sync: Sync,
        report: Callable[[Measured | ProgressReport], None],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._spec, self._launch, self._comm, self._sync, self._clock = spec, spec.launch, comm, sync, clock
        self._send, self._sent_at = report, clock()
        self._unsent: list[Measured | ProgressReport] = []
        request, world = spec.request, self._launch.world
        self._data = RankData(request.dtype, world.num_ranks, spec.rank, request.seed)
        self._numbers = CallNumbers()
        # One vector for all large cells and one batch for all small ones: whatever its pages do to the caches, they do
        # to every candidate alike.
        sizes = [cell.size_bytes for cell in self._launch.cells]
        large, small = max(sizes, default=0), max((size for size in sizes if size <= BATCH_LIMIT), default=0)

        def buffers() -> tuple[list[Array], list[Array]]:
            return (
                make_vectors(large, request.dtype, 1, world.shared_buffers),
                make_vectors(small, request.dtype, BATCH_CALLS, world.shared_buffers),
            )

        # Out of place everything can be read in place; private buffers are mostly reduced in place.
        apart = {
            cell.collective for cell in self._launch.cells if world.shared_buffers or cell.collective in OUT_OF_PLACE
        }
        vectors = buffers()
        results = buffers() if apart else vectors
        item = np.dtype(request.dtype).itemsize

        def cut(of: tuple[list[Array], list[Array]], size_bytes: int) -> list[Array]:
            return [one[: size_bytes // item] for one in of[size_bytes <= BATCH_LIMIT]]

        self._cells = [
            _Cell(
                cell,
                cut(vectors, cell.size_bytes),
                cut(results if cell.collective in apart else vectors, cell.size_bytes),
            )
            for cell in sorted(self._launch.cells, key=key_of)
        ]

    def run(self) -> None:
        """Warms up and measures; returns on all ranks after the same round."""
        started = self._clock()
        self._warm_up(started)
        cells = {key_of(cell.plan): cell for cell in self._cells if cell.calls}
        measuring, sweeps, going = self._clock(), 0, self._launch.max_sweeps > 0 and bool(cells)
        while going:
            for key in visit_order(
                self._spec.request.seed, self._launch.number, self._spec.first_sweep + sweeps, cells
            ):
                cell = cells[key]
                for _ in range(cell.visit.num_rounds):
                    self._round(cell)
                self._progress(started, f"{key[0]} {format_size(key[1])}")
            sweeps += 1
            now = self._clock()
            another = now - started + (now - measuring) / sweeps <= self._launch.seconds
            wanted = sweeps < self._launch.min_sweeps or (sweeps < self._launch.max_sweeps and another)
            (answer,) = self._sync.decide([int(wanted)])
            going = bool(answer)
        self._flush()

    def _warm_up(self, started: float) -> None:
        before: tuple[str, dict[str, float]] = ("", {})  # of the size before: its collective, ratios to the best
        limit = math.inf if self._launch.drop_above is None else self._launch.drop_above
        for cell in self._cells:
            collective, size = key_of(cell.plan)
            carried = before[1] if before[0] == collective and size > CARRY_FROM else {}
            planned = {one.label for one in cell.plan.candidates}
            ratios = {label: ratio for label, ratio in carried.items() if ratio > limit and label in planned}
            for label, ratio in ratios.items():
                self._drop(cell, label, f"at the size before it took {ratio:.1f} times as long as the best")
            tried = {one.label: self._first_calls(cell, one) for one in cell.plan.candidates if one.label not in ratios}
            seconds = {label: taken for label, taken in tried.items() if taken is not None and label != AUTO}
            best = min(seconds.values(), default=math.inf)
            for label, taken in seconds.items():
                # Looked at twice where it costs little: one call may have been disturbed by anything.
                again = taken > limit * best and (size <= CARRY_FROM or taken < 2 * limit * best)
                ratios[label] = min(taken, self._visit(cell, label, 0, 1) if again else taken) / best
                if ratios[label] > limit:
                    self._drop(cell, label, f"its warm call took {ratios[label]:.1f} times as long as the best")
            before = (collective, ratios)
            self._progress(started, f"warming up {collective} {format_size(size)}")

    def _first_calls(self, cell: _Cell, candidate: Configuration) -> float | None:
        """Two calls, the first one checked; seconds of the second on the slowest rank. None if it was dropped."""
        collective = cell.plan.collective
        calls = [
            make_call(self._comm, collective, vector, result, self._data, candidate)
            for vector, result in zip(cell.vectors, cell.results, strict=True)
        ]
        number = self._numbers.take(1)
        self._data.write(collective, cell.vectors[0], number)
        self._sync.ready()
        problem = None
        try:
            calls[0]()
            if not self._data.is_right(collective, cell.results[0], number):
                problem = "its result was wrong"
            else:
                problem = self._not_executed(candidate)
        except Exception as raised:  # whatever it is disqualifies this candidate only, if all ranks agree on it
            problem = f"{type(raised).__name__}: {raised}"
        if not self._sync.all_true(problem is None):
            self._drop(cell, candidate.label, problem or "it failed on another rank")
            return None
        cell.calls[candidate.label] = calls
        if candidate.algorithm == AUTO:
            self._say_choice(cell)
        return self._visit(cell, candidate.label, num_untimed=0, num_timed=1)

    def _not_executed(self, candidate: Configuration) -> str | None:
        """Why the last call was not what was asked for; None if it was."""
        last = self._comm.last_call()
        asked = (
            {} if candidate.algorithm == AUTO else {"algorithm": candidate.algorithm, "protocol": candidate.protocol}
        )
        other = [str(last[word]) for word, value in asked.items() if last[word] != value]
        return f"{'/'.join(other)} was executed instead" if other else None

    def _say_choice(self, cell: _Cell) -> None:
        collective, size = key_of(cell.plan)
        count = len(cell.vectors[0]) // (self._launch.world.num_ranks if collective in BLOCKED else 1)
        algorithm, protocol, slice_bytes, streaming, channels, reason = self._comm.choice(
            collective, count, self._spec.request.dtype
        )
        chosen = Configuration(
            algorithm=algorithm,
            protocol=protocol,
            slice_bytes=slice_bytes,
            streaming=bool(streaming),
            channels=channels,
        )
        self._report(
            Chosen(
                launch=self._launch.number, collective=collective, size_bytes=size, label=chosen.label, reason=reason
            )
        )

    def _drop(self, cell: _Cell, label: str, reason: str) -> None:
        cell.calls.pop(label, None)
        collective, size = key_of(cell.plan)
        self._report(
            Dropped(launch=self._launch.number, collective=collective, size_bytes=size, label=label, reason=reason)
        )

    def _round(self, cell: _Cell) -> None:
        started, number = self._clock(), self._spec.first_sweep * cell.visit.num_rounds + cell.num_rounds
        collective, size = key_of(cell.plan)
        cell.num_rounds += 1
        seconds: dict[str, float] = {}
        handoffs = [self._sync.probe()]
        for label in visit_order(self._spec.request.seed, self._launch.number, number, cell.calls):
            seconds[label] = self._visit(cell, label, cell.visit.num_untimed, cell.visit.num_timed)
            if size > CARRY_FROM:  # long enough for the cores to move
                handoffs.append(self._sync.probe())
        if size <= CARRY_FROM:
            handoffs.append(self._sync.probe())
        self._report(
            Round(
                launch=self._launch.number,
                collective=collective,
                size_bytes=size,
                round=number,
                seconds=seconds,
                handoffs=[handoff for handoff in handoffs if handoff is not None],
                wall_seconds=self._clock() - started,
            )
        )

    def _visit(self, cell: _Cell, label: str, num_untimed: int, num_timed: int) -> float:
        """Returns seconds of one call on the slowest rank, the median over the timed iterations."""
        calls, times = cell.calls[label], []
        for iteration in range(num_untimed + num_timed):
            first = self._numbers.take(len(calls))
            for i, vector in enumerate(cell.vectors):
                self._data.write(cell.plan.collective, vector, first + i)
            self._sync.ready()
            start = self._clock()
            for call in calls:
                call()
            if iteration >= num_untimed:
                times.append((self._clock() - start) / len(calls))
        return float(np.median(self._sync.slowest(times)))

    def _progress(self, started: float, text: str) -> None:
        if self._clock() - self._sent_at >= REPORT_SECONDS:
            share = (self._clock() - started) / max(self._launch.seconds, 1e-9)
            self._report(ProgressReport(done=min(PER_MILLE, int(PER_MILLE * share)), total=PER_MILLE, text=text))
            self._flush()

    def _report(self, said: Measured | ProgressReport) -> None:
        if self._spec.rank == 0:
            self._unsent.append(said)

    def _flush(self) -> None:
        for said in self._unsent:
            self._send(said)
        self._unsent, self._sent_at = [], self._clock()
