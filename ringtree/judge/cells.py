"""What a stored run holds of each cell, under each placement of the cores.

For: samples by visit, launch medians, and effects paired inside a block. Not for: judging them (summary.py) or formulas
(ringtree.stats).

A visit belongs to a placement if the probes before and after it agree; else the cores moved meanwhile, and it is in no
figure. Near and far are never averaged together: a comparison is of one size under one placement. Where no placement of
a size has enough launches, `Rows.of` falls back to rounds of any placement, near paired with near and far with far.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtree.errors import UsageError
from ringtree.judge.comparison import MIXED, SizeRow
from ringtree.results import Cell, Launch, StoredRun, Visit
from ringtree.stats import least_launches, round_effect, samples, split_placements

ONE_CLASS = ""
# A launch counts under one of several placements with at least so many rounds under it: the median of fewer does not
# bear a round that was disturbed. Moments of a rare placement would else be judged by their accidents.
LEAST_ROUNDS = 3


@dataclass(frozen=True)
class VisitSamples:
    """The samples of one visit, seconds a call. `placement`: None if the cores moved or a probe is missing."""

    round: int
    placement: str | None
    samples: NDArray[np.float64]


@dataclass(frozen=True)
class SeenCell:
    """One arm at one size in one block. `launch`: the launch that it ran in."""

    launch: int
    cell: Cell
    visits: tuple[VisitSamples, ...]


class RunCells:
    """All cells of a run, by size, arm and block.

    Where a run has several placements, a launch counts under one of them if it has at least LEAST_ROUNDS rounds there:
    visits for a time, rounds that pair both arms for an effect, visits of each arm if they had launches of their own.
    With one placement only, or like with like over all of them (MIXED), one round suffices.
    """

    def __init__(self, stored: StoredRun) -> None:
        self.plan = stored.run.plan
        self.level = self.plan.level
        probes = _probes(stored.launches)
        self._classes = split_placements(probes)
        self.typical_handoff = float(np.median(probes)) if probes else None
        self._seen: dict[tuple[int, str], dict[int, SeenCell]] = {}
        for launch in sorted(stored.launches, key=lambda launch: launch.launch):
            for cell in launch.cells:
                of_blocks = self._seen.setdefault((cell.size_bytes, cell.arm), {})
                of_blocks.setdefault(launch.block, SeenCell(launch.launch, cell, self._visits(cell)))
        self.blocks = sorted({launch.block for launch in stored.launches})
        # Each is asked for by several findings, and costs most of the time that a summary takes.
        self._medians: dict[tuple[int, str, str], dict[int, float]] = {}
        self._effects: dict[tuple[int, str, str, str], dict[int, float]] = {}

    @property
    def placements(self) -> tuple[str, ...]:
        """Names of the classes that the run's probes fall into; ("",) if there is only one."""
        return self._classes.names or (ONE_CLASS,)

    def class_of(self, handoff: float | None) -> str:
        """Returns the placement that a hand-off (seconds) of another run would belong to here."""
        return ONE_CLASS if handoff is None else self._classes.of(handoff)

    def seen(self, size_bytes: int, arm: str) -> dict[int, SeenCell]:
        """Returns the blocks in which the arm took part at this size."""
        return self._seen.get((size_bytes, arm), {})

    def why_disqualified(self, size_bytes: int, arm: str) -> str | None:
        """Returns what was wrong with the cell in the first launch in which something was; None: nothing."""
        for seen in self.seen(size_bytes, arm).values():
            cell, wrong = seen.cell, seen.cell.first_wrong
            if cell.error is not None:
                return cell.error
            if wrong is not None:
                return (
                    f"wrong result in launch {seen.launch + 1}: rank {wrong.rank} has {wrong.found:g} instead of "
                    f"{wrong.expected:g} at element {wrong.index}"
                )
            if not cell.verified:
                return f"not verified in launch {seen.launch + 1}"
        return None

    def pooled(self, size_bytes: int, arm: str, placement: str) -> dict[int, NDArray[np.float64]]:
        """Returns block -> all samples under `placement`, seconds a call; blocks with too few rounds are left out."""
        found = {}
        for block, seen in self.seen(size_bytes, arm).items():
            chosen = [visit.samples for visit in seen.visits if self._belongs(visit.placement, placement)]
            if len(chosen) >= least_rounds(placement):
                found[block] = np.concatenate(chosen)
        return found

    def medians(self, size_bytes: int, arm: str, placement: str) -> dict[int, float]:
        """Returns block -> median of the samples under `placement`, seconds a call."""
        key = (size_bytes, arm, placement)
        if key not in self._medians:
            pooled = self.pooled(size_bytes, arm, placement)
            self._medians[key] = {block: float(np.median(of_block)) for block, of_block in pooled.items()}
        return self._medians[key]

    def effects(self, size_bytes: int, arm: str, other: str, placement: str) -> dict[int, float]:
        """Returns block -> log(time of arm / time of other) under `placement`; nothing if one is disqualified.

        Arms of one launch are paired round by round. Arms that had launches of their own share no rounds: all that a
        block has of them under a placement is paired. Blocks with too few rounds are left out.
        """
        key = (size_bytes, arm, other, placement)
        if key not in self._effects:
            # Exact: exchanging the two turns the sign of every round, and so of their median.
            turned = self._effects.get((size_bytes, other, arm, placement))
            self._effects[key] = (
                self._paired_effects(*key) if turned is None else {block: -effect for block, effect in turned.items()}
            )
        return self._effects[key]

    def _paired_effects(self, size_bytes: int, arm: str, other: str, placement: str) -> dict[int, float]:
        if any(self.why_disqualified(size_bytes, label) is not None for label in (arm, other)):
            return {}
        own, others = self.seen(size_bytes, arm), self.seen(size_bytes, other)
        found = {}
        for block in sorted(own.keys() & others.keys()):
            pairs = self._pairs(own[block], others[block], placement)
            if pairs is not None:
                found[block] = round_effect(*([pair[i].tolist() for pair in pairs] for i in (0, 1)))
        return found

    def num_visits(self, size_bytes: int, placement: str | None) -> int:
        """Returns the visits of all arms at a size under a placement; None: those in which the cores moved."""
        return sum(
            visit.placement is None if placement is None else self._belongs(visit.placement, placement)
            for arm in self.plan.arms
            for seen in self.seen(size_bytes, arm.label).values()
            for visit in seen.visits
        )

    def _pairs(
        self, own: SeenCell, other: SeenCell, placement: str
    ) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]] | None:
        """What of two cells is held against each other; None: too little to count."""
        least = least_rounds(placement)
        if own.launch == other.launch:
            of_rounds = {visit.round: visit for visit in other.visits}
            rounds = [
                (visit.samples, of_rounds[visit.round].samples)
                for visit in own.visits
                if visit.round in of_rounds
                and visit.placement == of_rounds[visit.round].placement
                and self._belongs(visit.placement, placement)
            ]
            return rounds if len(rounds) >= least else None
        pairs = []
        for name in self.placements if placement == MIXED else (placement,):
            both = [[visit.samples for visit in seen.visits if visit.placement == name] for seen in (own, other)]
            if min(map(len, both)) >= least:
                pairs.append((np.concatenate(both[0]), np.concatenate(both[1])))
        return pairs or None

    def _belongs(self, found: str | None, wanted: str) -> bool:
        return found is not None and wanted in (found, MIXED)

    def _visits(self, cell: Cell) -> tuple[VisitSamples, ...]:
        if not cell.times or not cell.times[0]:
            return ()
        slowest, first, visits = samples(cell.times, cell.batch), 0, []
        for visit in cell.visits:
            own = slowest[first : first + visit.num_iterations]
            visits.append(VisitSamples(visit.round, self._placement(visit), own))
            first += visit.num_iterations
        return tuple(visits)

    def _placement(self, visit: Visit) -> str | None:
        if not self._classes.names:
            return ONE_CLASS
        return None if visit.handoff is None else self._classes.of_visit(*visit.handoff)


def refuse_training(stored: StoredRun) -> None:
    """Raises UsageError for a training, whose cells are steps of several models on several numbers of ranks."""
    if stored.run.plan.training is not None:
        raise UsageError(f"{stored.run.run_id} is a training run: look at it with ringtree show {stored.run.run_id}")


def least_rounds(placement: str) -> int:
    """Returns the rounds that a launch must have under `placement` to count there."""
    return 1 if placement in (ONE_CLASS, MIXED) else LEAST_ROUNDS


def rows_of(cells: RunCells, size_bytes: int) -> list[SizeRow]:
    """Returns the rows of one size: one for each placement, or a single mixed one.

    A placement is judged if an arm (of a design: every arm) is paired with the reference in at least `least_launches`
    launches under it, each with at least LEAST_ROUNDS rounds there. If that holds for none of them, and pairs of any
    placement, like with like, come from more launches, then these make the only row, `MIXED`; there one round of a
    launch suffices. Which case it is depends on where the cores were, never on how fast an arm was, so it costs no
    error.
    """
    least = least_launches(cells.level)
    counts = {placement: num_paired(cells, size_bytes, placement) for placement in cells.placements}
    present = [place for place in cells.placements if counts[place] > 0 or cells.num_visits(size_bytes, place) > 0]
    mixed = num_paired(cells, size_bytes, MIXED) if len(cells.placements) > 1 else 0
    most = max(counts.values())
    if most < least and mixed > most:
        present, counts = [MIXED], {MIXED: mixed}
    if not present:
        # Nothing was timed: a row all the same, to say why.
        seen = any(cells.seen(size_bytes, arm.label) for arm in cells.plan.arms)
        present, counts = ([ONE_CLASS] if seen else []), {ONE_CLASS: 0}
    any_judged = any(counts[placement] >= least for placement in present)
    return [
        SizeRow(
            size_bytes=size_bytes,
            placement=placement,
            judged=counts[placement] >= least,
            shown=counts[placement] >= least or not any_judged,
            num_visits=cells.num_visits(size_bytes, placement),
            num_moved=cells.num_visits(size_bytes, None),
        )
        for placement in present
    ]


def effect_matrix(effects: Sequence[Mapping[int, float]]) -> NDArray[np.float64]:
    """Returns effects of shape (blocks, comparisons), NaN where a block has none; blocks without any are left out."""
    blocks = sorted({block for column in effects for block in column})
    return np.array([[column.get(block, math.nan) for column in effects] for block in blocks], dtype=np.float64)


def num_paired(cells: RunCells, size_bytes: int, placement: str) -> int:
    """Returns the most launches in which an arm is paired with the reference, or of a design those in which all of its
    arms are; without any pair, those with times."""
    reference, labels = cells.plan.reference, [arm.label for arm in cells.plan.arms]
    right = [label for label in labels if label != reference and cells.why_disqualified(size_bytes, label) is None]
    paired = [set(cells.effects(size_bytes, label, reference, placement)) for label in right]
    if any(paired):
        return len(set.intersection(*paired)) if cells.plan.design is not None else max(map(len, paired))
    if any(cells.effects(size_bytes, label, reference, MIXED) for label in labels if label != reference):
        return 0
    timed = [
        len(cells.medians(size_bytes, label, placement))
        for label in labels
        if cells.why_disqualified(size_bytes, label) is None
    ]
    return max(timed, default=0)


def _probes(launches: Sequence[Launch]) -> list[float]:
    """All probes of the run, seconds."""
    return [
        probe
        for launch in launches
        for cell in launch.cells
        for visit in cell.visits
        if visit.handoff is not None
        for probe in visit.handoff
    ]
