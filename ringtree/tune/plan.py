"""What is measured next: a pure function of what was asked and of what was measured.

For: the launches of a tuning, one after the other, each with fewer candidates than the one before. Not for: running
them (launch.py, rounds.py).

    screen     every algorithm with every protocol
    variants   of the best three: slice sizes, copies past the caches
    narrow     the best of these
    decide     the few that are left, and the choices of the neighbouring sizes; new sizes where the choice changes
    confirm    the same once more with fresh processes, as launches differ from one another

Being pure it needs no memory of its own: a tuning that was killed goes on from its stored lines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ringtree.comm.profile_format import Configuration
from ringtree.measure.collective_data import whole_size
from ringtree.measure.estimate import start_seconds
from ringtree.tune.candidates import LEAVE_TO_ENGINE, first_candidates, variants
from ringtree.tune.history import History, Key, key_of
from ringtree.tune.measured import CHECK, CellPlan, TuneLaunch, TuneRequest
from ringtree.tune.rules import choose_along
from ringtree.tune.visits import visit_of
from ringtree.tune.world import World

MAX_REFINED = 6  # sizes that are added to a collective's
NEIGHBOUR_FACTOR = 1.25  # a neighbour's choice that was further from the best here is not tried again
LAST = ("decide", "confirm")


@dataclass(frozen=True)
class Stage:
    """`share`: of the time. `keep` and `most`: candidates within this factor of the best, and how many go on."""

    name: str
    share: float
    min_sweeps: int
    max_sweeps: int
    keep: float
    most: int


STAGES = (
    Stage("screen", 0.20, 2, 4, keep=1.5, most=6),
    Stage("variants", 0.15, 2, 8, keep=1.25, most=8),
    Stage("narrow", 0.15, 3, 16, keep=1.10, most=4),
    Stage("decide", 0.25, 5, 64, keep=1.0, most=0),
    Stage("confirm", 0.25, 5, 64, keep=1.0, most=0),
)
DROP_ABOVE = {"screen": 3.0, "variants": 2.0}  # times the best warm call, while much is still tried
WITH_VARIANTS = 3


def next_launch(request: TuneRequest, history: History) -> TuneLaunch | None:
    """Returns the launch to begin; None if all are over. An interrupted one is not begun anew: see `resumed`."""
    number = len(history.launches)
    if number == num_launches(request):
        return None
    stage, world = STAGES[number // len(request.worlds)], request.worlds[number % len(request.worlds)]
    return TuneLaunch(
        number=number,
        stage=stage.name,
        world=world,
        cells=_cells(request, history, stage, world),
        seconds=_seconds(request, history, number),
        min_sweeps=stage.min_sweeps,
        max_sweeps=stage.max_sweeps,
        drop_above=DROP_ABOVE.get(stage.name),
    )


def num_launches(request: TuneRequest) -> int:
    """Returns how many launches a tuning has."""
    return len(STAGES) * len(request.worlds)


def resumed(launch: TuneLaunch, history: History) -> tuple[TuneLaunch, int]:
    """Returns what is left of an interrupted launch, and the number of its next sweep."""
    done = min(
        (len(history.rounds([launch], key_of(cell))) // visit_of(cell.size_bytes).num_rounds for cell in launch.cells),
        default=0,
    )
    spent = sum(one.wall_seconds for cell in launch.cells for one in history.rounds([launch], key_of(cell)))
    left = launch.model_copy(
        update={
            "seconds": max(0.0, launch.seconds - spent),
            "min_sweeps": max(0, launch.min_sweeps - done),
            "max_sweeps": max(0, launch.max_sweeps - done),
        }
    )
    return left, done


def last_launches(history: History, world: World) -> list[TuneLaunch]:
    """Returns the launches that decide."""
    return [launch for stage in LAST for launch in history.launches_of(stage, world)]


def _seconds(request: TuneRequest, history: History, number: int) -> float:
    """Seconds of a launch: its share of what is left, less what starting its ranks takes."""
    shares = [stage.share * world.weight for stage in STAGES for world in request.worlds]
    left = max(0.0, request.budget - history.wall_seconds) * shares[number] / sum(shares[number:])
    return max(0.0, left - start_seconds(request.worlds[number % len(request.worlds)].num_ranks, "numpy"))


def _cells(request: TuneRequest, history: History, stage: Stage, world: World) -> list[CellPlan]:
    position = STAGES.index(stage)
    always = [LEAVE_TO_ENGINE] if request.purpose == CHECK else []
    item = np.dtype(request.dtype).itemsize
    if position == 0:
        return [
            CellPlan(collective=collective, size_bytes=size, candidates=[*always, *first_candidates(collective, world)])
            for collective in request.collectives
            if world.measures(collective)
            for size in sorted({whole_size(collective, size, item, world.num_ranks) for size in request.sizes})
            if not world.leaves_to_private(size, request.worlds)
        ]
    before = STAGES[position - 1]
    (launch,) = history.launches_of(before.name, world)
    if stage.name == "confirm":
        return launch.cells
    kept = {key_of(cell): _kept(history, launch, cell, before) for cell in launch.cells}
    if stage.name == "variants":
        kept = {key: _with_variants(key[1], of) for key, of in kept.items()}
    if stage.name == "decide" and request.purpose != CHECK:
        for collective in request.collectives:
            of_one = {key: of for key, of in kept.items() if key[0] == collective}
            kept |= _with_neighbours(history, launch, of_one, item)
    return [
        CellPlan(collective=key[0], size_bytes=key[1], candidates=[*always, *of])
        for key, of in sorted(kept.items())
        if of
    ]


def _kept(history: History, launch: TuneLaunch, cell: CellPlan, stage: Stage) -> list[Configuration]:
    """The candidates that go on; none if none could be measured."""
    scores = history.scores([launch], key_of(cell))
    if scores is None:
        return []
    labels = scores.kept(stage.keep, stage.most)
    return [one for label in labels for one in cell.candidates if one.label == label]


def _with_variants(size_bytes: int, of: Sequence[Configuration]) -> list[Configuration]:
    more = [one for configuration in of[:WITH_VARIANTS] for one in variants(configuration, size_bytes)]
    return [*more, *of[WITH_VARIANTS:]]


def _with_neighbours(
    history: History, launch: TuneLaunch, kept: dict[Key, list[Configuration]], item_bytes: int
) -> dict[Key, list[Configuration]]:
    """Adds to each size the choices of its neighbours, so that one rule can be found for several sizes; and where the
    choice changes, a size in between with the choices of both sides."""
    keys = sorted(key for key, of in kept.items() if of)
    judged = [_judged(history, launch, key, kept[key]) for key in keys]
    choices = choose_along(
        [size for _, size in keys], [ratios for ratios, _ in judged], [errors for _, errors in judged]
    )
    by_label = {one.label: one for of in kept.values() for one in of}
    wider = {}
    for i, key in enumerate(keys):
        labels = [one.label for one in kept[key]]
        for j in (i - 1, i + 1):
            if 0 <= j < len(keys) and choices[j] not in labels and not _hopeless(history, launch, key, choices[j]):
                labels.append(choices[j])
        wider[key] = [by_label[label] for label in labels]
    changes = [(a, b) for (a, b), (x, y) in zip(pairwise(keys), pairwise(choices), strict=True) if x != y]
    for low, high in changes[:MAX_REFINED]:
        size = whole_size(low[0], math.isqrt(low[1] * high[1]), item_bytes, launch.world.num_ranks)
        if low[1] < size < high[1]:
            both = {one.label: one for one in (*wider[low], *wider[high])}
            wider[low[0], size] = list(both.values())
    return wider


def _judged(
    history: History, launch: TuneLaunch, key: Key, of: Sequence[Configuration]
) -> tuple[dict[str, float], dict[str, float]]:
    scores = history.scores([launch], key)
    return ({}, {}) if scores is None else scores.of_sizes_choice([one.label for one in of])


def _hopeless(history: History, launch: TuneLaunch, key: Key, label: str) -> bool:
    """True if a candidate was dropped here, or surely is so far from the best that another look is wasted."""
    for stage in STAGES[:3]:
        for one in history.launches_of(stage.name, launch.world):
            if label in history.dropped(one, key):
                return True
            scores = history.scores([one], key)
            if scores is not None and label in scores.labels and scores.at_least(label) > NEIGHBOUR_FACTOR:
                return True
    return False
