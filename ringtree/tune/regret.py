"""What auto loses against the best forced choice, from the rounds of a check.

For: one regret a cell, mean and worst. Not for: measuring (launch.py), printing (show/tuning.py).

Whichever of several candidates looks best in some rounds owes part of that to luck in them, so a regret against the
best of the same rounds would be too large even for a perfect choice. The best is therefore chosen by the rounds of one
of the two last launches, and auto is held against it in the rounds of the other, and the other way round; the regret is
the mean of the two. Ratios are taken inside rounds (ringtree.stats.round_effect), and placements of the cores are kept
apart. A regret can be below 0: then auto's rounds were the luckier ones, or the choice by the other launch was worse.
"""

from __future__ import annotations

import math

import numpy as np
from pydantic import Field

from ringtree.comm.profile_format import AUTO
from ringtree.results import Record
from ringtree.stats import Placements, round_effect
from ringtree.tune.history import History, Key
from ringtree.tune.measured import TuneLaunch, TuneRequest
from ringtree.tune.plan import LAST, last_launches
from ringtree.tune.scores import MIN_ROUNDS, CellScores


class CellRegret(Record):
    """One cell of a check under one placement."""

    collective: str
    num_ranks: int
    shared_buffers: bool
    size_bytes: int
    placement: str = Field(description="of the cores; empty where all rounds were alike")
    auto: str = Field(description="configuration that auto ran")
    best: str = Field(description="fastest forced configuration by all rounds")
    auto_seconds: float
    regret: float = Field(description="share by which auto takes longer than the best of other rounds; may be negative")
    num_rounds: int


def regrets(request: TuneRequest, history: History) -> list[CellRegret]:
    """Returns the regret of every cell of a check that was measured in both of its last launches."""
    found = []
    for world in request.worlds:
        launches = last_launches(history, world)
        if len(launches) == len(LAST):
            keys = sorted({(cell.collective, cell.size_bytes) for cell in launches[0].cells})
            found += [one for key in keys for one in _of_cell(history, launches, key)]
    return found


def mean_regret(found: list[CellRegret]) -> float:
    """Returns the geometric mean over cells, as a share."""
    return math.expm1(float(np.mean([math.log1p(one.regret) for one in found])))


def worst_regret(found: list[CellRegret]) -> float:
    return max(one.regret for one in found)


def _of_cell(history: History, launches: list[TuneLaunch], key: Key) -> list[CellRegret]:
    """A regret for each placement that both launches have enough rounds of; if there is none, of all rounds."""
    for placements in (history.placements(launches[0].world.num_ranks), Placements()):
        together = history.scores(launches, key, with_auto=True, placements=placements)
        if together is None or AUTO not in together.labels:
            return []
        found = [_of_placement(history, launches, key, placements, name, together) for name in together.ratios]
        if any(found):
            return [one for one in found if one is not None]
    return []


def _of_placement(
    history: History, launches: list[TuneLaunch], key: Key, placements: Placements, name: str, together: CellScores
) -> CellRegret | None:
    effects = [
        effect
        for choosing, judging in (launches, reversed(launches))
        if (effect := _effect(history, choosing, judging, key, placements, name)) is not None
    ]
    if not effects:
        return None
    chosen, of = history.chosen(launches[0], key), together.ratios[name]
    return CellRegret(
        collective=key[0],
        num_ranks=launches[0].world.num_ranks,
        shared_buffers=launches[0].world.shared_buffers,
        size_bytes=key[1],
        placement=name,
        auto=chosen.label if chosen is not None else AUTO,
        best=min((label for label in of if label != AUTO), key=lambda label: of[label]),
        auto_seconds=together.seconds[name][AUTO],
        regret=math.expm1(sum(effects) / len(effects)),
        num_rounds=together.num_rounds[name],
    )


def _effect(
    history: History, choosing: TuneLaunch, judging: TuneLaunch, key: Key, placements: Placements, name: str
) -> float | None:
    """log(auto / best) in one launch, the best being that of the other; None without rounds of the placement."""
    scores = history.scores([choosing], key, placements=placements)
    if scores is None or name not in scores.ratios:
        return None
    best = min(scores.ratios[name], key=lambda label: scores.ratios[name][label])
    rounds = [
        one
        for one in history.rounds([judging], key)
        if {AUTO, best} <= one.seconds.keys()
        and (not name or {placements.of(handoff) for handoff in one.handoffs} == {name})
    ]
    if len(rounds) < MIN_ROUNDS:
        return None
    return round_effect([[one.seconds[AUTO]] for one in rounds], [[one.seconds[best]] for one in rounds])
