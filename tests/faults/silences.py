"""A rank is stopped or late, or the network loses everything: nobody's socket closes.

For: bars 3 and 4: suspicion by name, the error at the deadline, no alarm where none is due.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import ExitStack

from fault_ranks import Call
from hosts_support import Hosts

from faults.bodies import Plan, follow
from faults.deaths import note_descriptors, victim_of
from faults.stage import Stage, staged
from faults.trial import Cell, Trial

SUSPICION_S = 6.0  # within which a rank that is silent must be named
DEADLINE_S = 8.0
CALLS_AFTER = 20
LATE_TIMES, LATE_JOBS = 16, 32  # over shared memory and over TCP together: 1,024 late calls


def _warnings(stage: Stage, ranks: list[int], victim: int, until: float) -> dict[int, float]:
    """When each rank has named the victim on stderr."""
    who = rf"ringtree: rank {victim} \(pid {stage.job.pid(victim)}[^)]*\) has not been heard of"
    return stage.job.await_words(ranks, re.compile(who), until)


def _false_alarms(stage: Stage, ranks: list[int]) -> list[str]:
    return [f"rank {rank} warned: {said.strip()}" for rank in ranks if "ringtree:" in (said := stage.job.stderr(rank))]


def stopped_for(cell: Cell, seconds: float) -> Trial:
    """Stopped, then resumed: calls must go on without an error."""
    victim = victim_of(cell)
    with staged(cell.world, follow, Plan(Call(cell.collective), victim, then="stops", more=CALLS_AFTER)) as stage:
        assert stage.job.hear(victim) == "ready"
        at = time.monotonic()
        others = stage.survivors_of(victim)
        warned = _warnings(stage, others, victim, at + seconds)
        time.sleep(max(at + seconds - time.monotonic(), 0))
        stage.job.resume(victim)
        survivors = [stage.told(rank, at, victim, warned.get(rank)) for rank in others]
        of_victim = stage.told(victim, at, victim)
        if of_victim.error != "none":
            stage.left.append(f"the stopped rank itself got {of_victim.error}: {of_victim.text}")
        note_descriptors(stage, cell, list(range(stage.ranks)))
    return Trial(cell, survivors, left=stage.left)


def late(cell: Cell) -> Trial:
    """2 s late in its call: nothing may happen."""
    return _late(cell, Plan(Call(cell.collective), victim_of(cell), then="is late", more=CALLS_AFTER), 1)


def late_often(cell: Cell) -> Trial:
    """3 s late LATE_TIMES times in each of LATE_JOBS jobs at the same time: nothing may happen."""
    plan = Plan(Call(cell.collective), victim_of(cell), then="is late", times=LATE_TIMES, late_s=3.0, more=CALLS_AFTER)
    return _late(cell, plan, LATE_JOBS)


def _late(cell: Cell, plan: Plan, jobs: int) -> Trial:
    everybody = list(range(cell.world.ranks))
    survivors, left = [], []
    with ExitStack() as stack:
        stages = [stack.enter_context(staged(cell.world, follow, plan)) for _ in range(jobs)]
        for stage in stages:
            assert stage.job.hear(plan.victim) == "ready"
        at = time.monotonic()
        for stage in stages:
            survivors += [stage.told(rank, at, plan.victim) for rank in everybody]
            stage.left += _false_alarms(stage, everybody)
            note_descriptors(stage, cell, everybody)
    for stage in stages:
        left += stage.left
    return Trial(cell, survivors, left=left)


def stopped_for_ever(cell: Cell) -> Trial:
    victim = victim_of(cell)
    plan = Plan(Call(cell.collective), victim, then="stops", timeout=DEADLINE_S)
    with staged(cell.world, follow, plan) as stage:
        assert stage.job.hear(victim) == "ready"
        at = time.monotonic()
        return _until_deadline(stage, cell, at, stage.survivors_of(victim))


def _until_deadline(stage: Stage, cell: Cell, at: float, others: list[int]) -> Trial:
    victim = victim_of(cell)
    warned = _warnings(stage, others, victim, at + SUSPICION_S)
    survivors = [stage.told(rank, at, victim, warned.get(rank)) for rank in others]
    note_descriptors(stage, cell, others)
    return Trial(cell, survivors, DEADLINE_S, stage.left)


def cut_off(cell: Cell, cut: Callable[[Stage, int], None]) -> Trial:
    """`cut` parts the last host from the others; ranks of the others are heard (its own are told as well, of the
    others)."""
    victim = victim_of(cell)
    with staged(cell.world, follow, Plan(Call(cell.collective), victim, timeout=DEADLINE_S)) as stage:
        assert stage.job.hear(victim) == "ready"
        assert stage.hosts is not None
        cut(stage, stage.hosts.host_of(victim))
        at = time.monotonic()
        others = [r for r in range(stage.ranks) if stage.hosts.host_of(r) != stage.hosts.host_of(victim)]
        return _until_deadline(stage, cell, at, others)


def dropped(cell: Cell) -> Trial:
    """Packets vanish, as behind a firewall that drops them."""
    return cut_off(cell, lambda stage, host: _hosts(stage).cut(host))


def link_down(cell: Cell) -> Trial:
    return cut_off(cell, lambda stage, host: _hosts(stage).set_link(host, "down"))


def vanished(cell: Cell) -> Trial:
    """The host is gone without a word, as after a power cut: what its ranks' kernel says when they end is lost, too."""

    def cut(stage: Stage, host: int) -> None:
        _hosts(stage).cut(host)
        for rank in range(stage.ranks):
            if _hosts(stage).host_of(rank) == host:
                stage.job.kill(rank)

    return cut_off(cell, cut)


def _hosts(stage: Stage) -> Hosts:
    assert stage.hosts is not None
    return stage.hosts
