"""A rank is killed: while all meet, before its first call, in the middle of calls, or while nobody calls.

For: bars 1, 2, 5 and 11. Survivors stay alive until all were heard, so that none is told by another's end.
"""

from __future__ import annotations

import functools
import os
import signal
import time

from engine_case import COLLECTIVES
from fault_ranks import Call, Failed, Place, call_on_and_on
from fault_support import places_on
from hosts_support import Hosts

from faults.bodies import Plan, follow
from faults.directory_store import DirectoryStore
from faults.stage import Stage, staged, staged_at
from faults.trial import Cell, Survivor, Trial
from ringtree import _core

MEETING_S = 10.0
COUNT = 50_000  # float32: more than a slot holds, so that calls last


def victim_of(cell: Cell) -> int:
    """The last rank: with several hosts, of the last host."""
    return cell.world.ranks - 1


@functools.cache
def usual_descriptors(cell: Cell) -> dict[int, int]:
    """What ranks have open after a job of that world in which nothing happened."""
    plan = Plan(Call(cell.collective, COUNT), victim_of(cell), more=1)
    with staged(cell.world, follow, plan) as stage:
        stage.job.hear(plan.victim)
        for rank in range(stage.ranks):
            stage.job.hear(rank)
        return stage.descriptors(range(stage.ranks))


def note_descriptors(stage: Stage, cell: Cell, ranks: list[int]) -> None:
    """Adds to what is left what survivors have open beyond the usual."""
    healthy = [usual_descriptors(Cell("none", cell.world, collective)) for collective in COLLECTIVES]
    usual = {rank: max(counts[rank] for counts in healthy) for rank in ranks}
    for rank, count in stage.descriptors(ranks).items():
        if count > usual[rank]:
            stage.left.append(f"{count - usual[rank]} descriptors of rank {rank}")


def killed(cell: Cell, *, idle: bool = False, at_start: bool = False) -> Trial:
    victim = victim_of(cell)
    plan = Plan(
        Call(cell.collective, COUNT, op="max"),
        victim,
        then="dies" if at_start else "goes on",
        healthy=0 if at_start else 5,
        idle=idle,
    )
    with staged(cell.world, follow, plan) as stage:
        for rank in range(stage.ranks) if idle else [victim]:
            assert stage.job.hear(rank) == "ready"
        at = time.monotonic() if at_start else stage.job.kill(victim)
        others = stage.survivors_of(victim)
        for rank in others if idle else []:
            stage.job.tell(rank, "call")
        survivors = [stage.told(rank, at, victim) for rank in others]
        note_descriptors(stage, cell, others)
    return Trial(cell, survivors, left=stage.left)


def killed_and_shrunk(cell: Cell) -> Trial:
    """As killed in the middle; seconds are those until the survivors have called together without it."""
    victim = victim_of(cell)
    with staged(cell.world, call_on_and_on, Call(cell.collective, COUNT, op="max"), victim, 5) as stage:
        assert stage.job.hear(victim) == "in call"
        at = stage.job.kill(victim)
        survivors = []
        for rank in stage.survivors_of(victim):
            failed = stage.job.hear(rank)
            assert isinstance(failed, Failed)
            _, ranks, total = stage.job.hear(rank)
            took = time.monotonic() - at
            right = (ranks, total) == (stage.ranks - 1, float(stage.ranks - 1))
            survivors.append(Survivor(rank, "goes on" if right else "wrong", failed.text, took, named=right))
    return Trial(cell, survivors, left=stage.left)


def _store_of(directory: str, victim: int, rank: int) -> _core.Store:
    """Of that rank; the victim ends itself once it has told the others who it is."""

    def die(key: str) -> None:
        if rank == victim and "/identity/" in key:
            os.kill(os.getpid(), signal.SIGKILL)

    return DirectoryStore(directory, after_set=die).as_store()


def killed_while_meeting(cell: Cell, directory: str) -> Trial:
    victim = victim_of(cell)
    store = functools.partial(_store_of, directory, victim)
    plan = Plan(Call(cell.collective, COUNT), victim)
    if not cell.world.hosts:
        with staged_at([Place(store=store, meeting_s=MEETING_S)] * cell.world.ranks, follow, plan) as stage:
            return Trial(cell, _hear_of_meeting(stage, victim), left=stage.left)
    with Hosts(cell.world.hosts, cell.world.each) as hosts:
        places = places_on(hosts, {"RINGTREE_IFNAME": "eth0"}, store=store, meeting_s=MEETING_S)
        with staged_at(places, follow, plan) as stage:
            return Trial(cell, _hear_of_meeting(stage, victim), left=stage.left)


def _hear_of_meeting(stage: Stage, victim: int) -> list[Survivor]:
    stage.job.wait_for_end(victim)
    at = time.monotonic()
    survivors = []
    for rank in stage.survivors_of(victim):
        failed = stage.job.hear(rank)
        assert isinstance(failed, Failed)
        named = f"rank {victim} " in failed.text
        survivors.append(Survivor(rank, failed.error, failed.text, max(failed.at - at, 0.0), named=named))
    return survivors
