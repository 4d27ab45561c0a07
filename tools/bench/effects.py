"""From the stored launches of a part to ratios against the engine.

For: effects of launches (the lab's, paired by round and placement), verdicts of a part as one family, the best peer of
a size, and the geometric mean over a band of sizes. Not for: what is to be reached (bars.py), or text.

A ratio is time(arm) / time(engine): above 1 the engine is faster. Near and far have figures of their own; only where
neither has enough launches for a verdict is a comparison judged over both, near held against near and far against far.
A cell in which an arm died or hung in some launches counts with the others, and the failures are listed; one that was
ever wrong, or never ran, is out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.parts import FAMILY_LAUNCHES, LARGEST, NATIVE
from ringtree.judge.cells import RunCells, effect_matrix
from ringtree.judge.comparison import MIXED
from ringtree.measure.worker_set import WRONG
from ringtree.results import Launch, StoredRun
from ringtree.stats import (
    Judged,
    MedianInterval,
    TypicalInterval,
    judge,
    median_interval,
    typical_interval,
)

NEAR_HANDOFF = 1e-7  # seconds; cores that share a cache hand a line over in less, others in more
NEAR, FAR = "near", "far"


@dataclass(frozen=True)
class Band:
    """A range of sizes that a bar is the geometric mean over; both ends belong to it."""

    name: str
    first: int
    last: int

    def sizes(self, sizes: Sequence[int]) -> list[int]:
        """Returns those of `sizes` that are powers of two and lie in the band, ascending."""
        return [size for size in sorted(sizes) if self.first <= size <= self.last and is_power_of_two(size)]


BANDS = (Band("≤ 4 KB", 1, 4 << 10), Band("8 KB–2 MB", 8 << 10, 2 << 20), Band("≥ 4 MB", 4 << 20, LARGEST))


@dataclass(frozen=True)
class Place:
    """A placement of the run. `name`: as the probes split it; `column`: near or far; `handoff`: median, seconds."""

    name: str
    column: str
    handoff: float | None


@dataclass(frozen=True)
class Failure:
    """An arm that was not measured at a size in a launch."""

    label: str
    size_bytes: int
    launch: int
    why: str


@dataclass(frozen=True)
class BandRatio:
    """Geometric mean over the sizes of a band of time(best peer) / time(engine), and its interval over launches.

    `chosen`: the peer of each size that counts; `num_wanted`: sizes of the band that were measured at all.
    """

    interval: TypicalInterval
    chosen: Mapping[int, str]
    num_wanted: int

    @property
    def ratio(self) -> float:
        """The geometric mean."""
        return math.exp(self.interval.centre)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval's ends; 0 and infinity with one launch."""
        return math.exp(self.interval.low), math.exp(self.interval.high)


class World:
    """One part of a run as it may be judged."""

    def __init__(self, stored: StoredRun) -> None:
        self.name = stored.run.run_id
        self.run, self.plan = stored.run, stored.run.plan
        self.collective = self.plan.collective
        self.num_launches = len(stored.launches)
        self.is_native = self.name.startswith(NATIVE)
        stolen = [launch.stolen for launch in stored.launches if launch.stolen is not None]
        self.stolen = max(stolen, default=None)
        self.failures = failures_of(stored.launches)
        usable = without_failures(stored)
        self.cells = RunCells(usable)
        self.versions = _versions(usable.launches)
        self.places = self._places(usable.launches)
        # Runs of before 2026-11-23 also have calls off alignment and with a second seed, under labels of their own.
        self.labels = [arm.label for arm in self.plan.arms if not arm.label.endswith(("/unaligned", "/seed2"))]
        measured = {cell.size_bytes for launch in stored.launches for cell in launch.cells}
        self.sizes = sorted(measured)
        self._judged = self._judge()

    @property
    def engine(self) -> str:
        """The engine's label for ordinary calls."""
        return self.plan.reference

    @property
    def peers(self) -> list[str]:
        """Labels of the other arms."""
        return [label for label in self.labels if label.partition("/")[0] != self.engine]

    def rounds(self) -> list[int]:
        """Returns the rounds of every arm at every size in every launch, where there are any."""
        seen = (self.cells.seen(size, label).values() for size in self.sizes for label in self.labels)
        return [len(one.visits) for launches in seen for one in launches if one.visits]

    def judged(self, size_bytes: int, label: str, place: Place) -> Judged | None:
        """Returns the ratio of an arm to the engine, with its verdict in the family of this part; None: not paired."""
        return self._judged.get((size_bytes, label, place.name))

    def verdicts(self) -> list[tuple[int, str, str, Judged]]:
        """Returns every comparison of the family: size, label, placement (maybe MIXED) and what was found."""
        return [(*key, found) for key, found in self._judged.items()]

    def time(self, size_bytes: int, label: str, place: Place) -> MedianInterval | None:
        """Returns the median time over launches, seconds a call; None: not measured under this placement."""
        if self.cells.why_disqualified(size_bytes, label) is not None:
            return None
        medians = self.cells.medians(size_bytes, label, place.name)
        return median_interval(list(medians.values()), self.plan.level) if medians else None

    def best(self, size_bytes: int, peers: Sequence[str], engine: str, place: Place) -> str | None:
        """Returns the peer with the smallest mean effect; None if none is paired with the engine.

        Peers that have fewer than half of the launches of the one with most are passed over: their luck is not speed.
        """
        columns = {label: self.cells.effects(size_bytes, label, engine, place.name) for label in peers}
        most = max((len(column) for column in columns.values()), default=0)
        means = {
            label: float(np.mean(list(column.values())))
            for label, column in columns.items()
            if column and 2 * len(column) >= most
        }
        return min(means, key=means.__getitem__, default=None)

    def band(self, band: Band, peers: Sequence[str], place: Place, engine: str | None = None) -> BandRatio | None:
        """Returns the ratio of the best of `peers` at each size to `engine` over a band; None without any pair."""
        own = self.engine if engine is None else engine
        sizes = band.sizes(self.sizes)
        chosen = {size: best for size in sizes if (best := self.best(size, peers, own, place)) is not None}
        if not chosen:
            return None
        columns = [self.cells.effects(size, label, own, place.name) for size, label in chosen.items()]
        values = list(combined(columns).values())
        return BandRatio(typical_interval(values, self.plan.level, self.plan.seed), chosen, len(sizes))

    def _judge(self) -> dict[tuple[int, str, str], Judged]:
        effects: dict[tuple[int, str, str], dict[int, float]] = {}
        names = [place.name for place in self.places]
        for size in self.sizes:
            for label in self.labels:
                if label == self.engine:
                    continue
                found = {name: self.cells.effects(size, label, self.engine, name) for name in names}
                if len(names) > 1 and max(map(len, found.values())) < FAMILY_LAUNCHES:
                    found[MIXED] = self.cells.effects(size, label, self.engine, MIXED)
                effects.update({(size, label, name): column for name, column in found.items() if column})
        if not effects:
            return {}
        plan = self.plan
        judged = judge(effect_matrix(list(effects.values())), margin=plan.margin, level=plan.level, seed=plan.seed)
        return dict(zip(effects, judged, strict=True))

    def _places(self, launches: Sequence[Launch]) -> list[Place]:
        probes: dict[str, list[float]] = {name: [] for name in self.cells.placements}
        for launch in launches:
            for cell in launch.cells:
                for visit in cell.visits:
                    for handoff in visit.handoff or ():
                        probes[self.cells.class_of(handoff)].append(handoff)
        places = []
        for name, of_class in probes.items():
            median = float(np.median(of_class)) if of_class else None
            places.append(Place(name, FAR if median is not None and median >= NEAR_HANDOFF else NEAR, median))
        return places


def is_power_of_two(size_bytes: int) -> bool:
    """True for the sizes that tables, plots and bands are made of."""
    return size_bytes & (size_bytes - 1) == 0


def combined(columns: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Returns block -> mean over columns of its values, fair to blocks that lack some.

    Each value is taken relative to its column's mean first, so that a block which only has the columns with large
    values does not count as a fast or slow one; the mean of the column means is added again.
    """
    means = [float(np.mean(list(column.values()))) for column in columns]
    centre = float(np.mean(means))
    blocks = sorted({block for column in columns for block in column})
    return {
        block: centre
        + float(np.mean([col[block] - mean for col, mean in zip(columns, means, strict=True) if block in col]))
        for block in blocks
    }


def failures_of(launches: Sequence[Launch]) -> list[Failure]:
    """Returns everything that was not measured or was wrong, in the order of the launches."""
    return [
        Failure(cell.arm, cell.size_bytes, launch.launch, cell.error)
        for launch in launches
        for cell in launch.cells
        if cell.error is not None
    ]


def without_failures(stored: StoredRun) -> StoredRun:
    """Returns the run without cells that failed in a launch, unless they failed in all or anything was wrong."""
    good = {(cell.arm, cell.size_bytes) for launch in stored.launches for cell in launch.cells if cell.error is None}
    wrong = {
        (failure.label, failure.size_bytes) for failure in failures_of(stored.launches) if failure.why.startswith(WRONG)
    }
    kept = [
        launch.model_copy(
            update={
                "cells": [
                    cell
                    for cell in launch.cells
                    if cell.error is None
                    or (cell.arm, cell.size_bytes) in wrong
                    or (cell.arm, cell.size_bytes) not in good
                ]
            }
        )
        for launch in stored.launches
    ]
    return replace(stored, launches=kept)


def _versions(launches: Sequence[Launch]) -> dict[str, str]:
    """What each native arm said that it is."""
    return {
        cell.arm: str(cell.executed["version"])
        for launch in launches
        for cell in launch.cells
        if cell.executed is not None and "version" in cell.executed
    }
