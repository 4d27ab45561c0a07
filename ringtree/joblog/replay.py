"""Replays a traced step with each arm, launch by launch, and judges the arms by the time of the step.

For: which arm makes the job's step shorter, without its model. Not for: scripts (script.py), starting processes or
playing (ringtree.measure), statistics (ringtree.stats).

A launch is a fresh set of rank processes that hosts all arms; each round visits them in an order drawn anew. An arm
first runs each of its cells once with data that are checked, and one with a wrong element is disqualified.
"""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from ringtree.arms import check_arm, kind_named
from ringtree.errors import RingtreeError, UsageError
from ringtree.joblog.beside_trace import beside_trace
from ringtree.joblog.replayed_dtypes import boundary_for, with_dtypes_of
from ringtree.joblog.script import Script
from ringtree.joblog.summary import Summary
from ringtree.judge.comparison import Versus
from ringtree.judge.versus import versus_record
from ringtree.measure.environment import usable_cores
from ringtree.measure.messages import Replayed, ReplaySteps, SetSpec, SetUp
from ringtree.measure.plan import label_arms
from ringtree.measure.process_set import CellKey, SetFailed
from ringtree.measure.rank_group import LaunchFailed
from ringtree.measure.rank_set import RankSet
from ringtree.nccl.nccl_tests import NO_OP
from ringtree.stats import MedianInterval, judge, median_interval
from ringtree.traits import REDUCING

ROUNDS, UNTIMED, TIMED = 5, 1, 5


@dataclass(frozen=True)
class ArmReplay:
    """One arm: the step, and how much of it ranks waited, seconds, over launches. `versus`: None for the reference."""

    arm: str
    step: MedianInterval
    exposed: MedianInterval
    versus: Versus | None


@dataclass(frozen=True)
class Replay:
    """`disqualified`: arms with a wrong result or an error, with the reason; `notes`: what differs from the job."""

    arms: list[ArmReplay]
    reference: str
    num_launches: int
    disqualified: dict[str, str]
    notes: list[str] = field(default_factory=list)


Samples = dict[str, list[tuple[float, float]]]  # arm -> (step, exposed) of each step of a launch


def check_arms(arms: Sequence[str], collectives: Collection[str]) -> None:
    """Raises UsageError for arms that can't share a launch of CPU processes or lack a collective, with the reason."""
    if not arms:
        raise UsageError("name at least one arm: --arms gloo,ring")
    for arm in label_arms(arms):
        kind = kind_named(arm.name)
        if kind.device != "cpu" or kind.process == "own":
            raise UsageError(
                f"replay can't run {arm.label}: it runs arms in Python processes on CPUs, as gloo and ring"
            )
        if arm.environment:
            raise UsageError(f"replay can't run {arm.label}: all arms share processes, so none can set variables")
        for collective in collectives:
            check_arm(arm.name, collective)
        lacks = kind.lacks()
        if lacks is not None:
            raise UsageError(f"replay can't run {arm.label}: {lacks}")


def replay(
    summary: Summary,
    script: Script,
    arms: Sequence[str],
    num_launches: int,
    seed: int = 0,
    on_launch: Callable[[int], None] = lambda _: None,
) -> Replay:
    """Replays the script of a trace, whose `summary` the replay is held against. The first arm is the reference. Raises
    UsageError for arms that can't, LaunchFailed if a rank dies."""
    check_arms(arms, sorted({call.collective for call in script.calls}))
    script, notes = with_dtypes_of(script, arms)
    load = os.getloadavg()[0]
    planned = {arm.label: arm.name for arm in label_arms(arms)}
    disqualified: dict[str, str] = {}
    launches: list[Samples] = []
    for number in range(num_launches):
        launches.append(_launch(script, planned, Random(seed + number), seed + number, disqualified))
        on_launch(number + 1)
    usable = [label for label in planned if label not in disqualified]
    if not usable:
        raise RingtreeError("no arm is left: " + "; ".join(f"{arm}: {why}" for arm, why in disqualified.items()))
    judged = _judged(usable, launches, disqualified)
    differs = beside_trace(summary, judged.arms, load, usable_cores())
    return replace(judged, notes=[*notes, *([] if differs is None else [differs])])


def _launch(script: Script, arms: dict[str, str], random: Random, seed: int, disqualified: dict[str, str]) -> Samples:
    kinds = sorted({(call.collective, call.dtype) for call in script.calls})
    setups = [
        SetUp(
            arm=_key(label, *kind),
            name=name,
            collective=kind[0],
            op="sum" if kind[0] in REDUCING else NO_OP,
            dtype=kind[1],
        )
        for label, name in arms.items()
        for kind in kinds
    ]
    spec = SetSpec(num_ranks=len(script.actions), seed=seed, boundary=boundary_for(script, list(arms.values())))
    ranks = RankSet(setups, spec)
    samples: Samples = {}
    try:
        ranks.start()
        for key, error in ranks.ready().items():
            disqualified.setdefault(key.split("|")[0], error)
        for label in arms:
            if label not in disqualified:
                _check(ranks, script, label, disqualified)
        for _ in range(ROUNDS):
            order = [label for label in arms if label not in disqualified]
            random.shuffle(order)
            for label in order:
                answers = ranks.ask(_steps(script, label))
                times = zip(*(answer.times for answer in answers), strict=True)
                waited = zip(*(answer.waited for answer in answers), strict=True)
                seen = [(max(of), statistics.fmean(idle)) for of, idle in zip(times, waited, strict=True)]
                samples.setdefault(label, []).extend(seen)
        ranks.close()
    except SetFailed as failed:
        raise LaunchFailed(str(failed)) from None
    finally:
        ranks.kill()
    return samples


def _check(ranks: RankSet, script: Script, label: str, disqualified: dict[str, str]) -> None:
    """One call of each cell, whose result is read whole."""
    for call in dict.fromkeys(script.calls):
        visited = ranks.warm_up(CellKey(call.size_bytes, _key(label, call.collective, call.dtype), 1), 0.0)
        wrong = visited.first_wrong
        if visited.error is not None:
            disqualified.setdefault(label, visited.error)
        elif wrong is not None:
            disqualified.setdefault(label, f"wrong result of {call.collective} on rank {wrong.rank}")


def _steps(script: Script, label: str) -> ReplaySteps:
    calls = [
        Replayed(arm=_key(label, call.collective, call.dtype), size_bytes=call.size_bytes) for call in script.calls
    ]
    return ReplaySteps(calls=calls, actions=script.actions, untimed=UNTIMED, timed=TIMED)


def _key(label: str, collective: str, dtype: str) -> str:
    return f"{label}|{collective}|{dtype}"


def _judged(arms: Sequence[str], launches: Sequence[Samples], disqualified: dict[str, str]) -> Replay:
    steps = {arm: [statistics.median(step for step, _ in of[arm]) for of in launches] for arm in arms}
    exposed = {arm: [statistics.median(idle for _, idle in of[arm]) for of in launches] for arm in arms}
    reference, *others = arms
    versus: dict[str, Versus] = {}
    if others:
        effects = np.array(
            [[math.log(steps[arm][n] / steps[reference][n]) for arm in others] for n in range(len(launches))]
        )
        versus = {arm: versus_record(one, len(launches)) for arm, one in zip(others, judge(effects), strict=True)}
    found = [
        ArmReplay(arm, median_interval(steps[arm]), median_interval(exposed[arm]), versus.get(arm)) for arm in arms
    ]
    return Replay(found, reference, len(launches), disqualified)
