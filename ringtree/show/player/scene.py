"""A schedule as the player's page reads it.

For: everything of a schedule that is played, as small plain JSON. Not for: the page (page.py), times of its own model
(simulate.js), those of a simulated call (simulated.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ringtree.errors import RingtreeError, UsageError
from ringtree.schedules import algorithms
from ringtree.schedules.schedule import Schedule, Step, verify_report

MAX_STEPS = 200_000  # of all ranks: beyond, a browser is not a place to watch it


def scene(schedule: Schedule, hosts: Sequence[int] | None = None) -> dict[str, Any]:
    """Returns the scene of a schedule: name, ranks, chunks, hosts, hops, programs, and what the verifier says; without
    a timeline, so it plays by the page's model. Raises UsageError as scene_of(), and for a schedule with switches.
    """
    if schedule.switches:
        raise UsageError(
            f"the player's own model has ranks only, and in {schedule.name} a switch reduces, too: play it with "
            "--cluster, on a cluster whose switch does"
        )
    return scene_of(schedule, hosts)


def scene_of(schedule: Schedule, hosts: Sequence[int] | None = None) -> dict[str, Any]:
    """Returns a scene as scene() does, also of a schedule with switches: `switches` names for each a rank that is
    joined to it; their programs come after the ranks'.

    Each step: verb, lane, chunks, recv [[peer, tag]], src and dst ([buffer, slot] or null), to, tag, reduces, after
    (earlier steps of other lanes). Raises UsageError for a schedule of more than MAX_STEPS steps.
    """
    num_ranks = schedule.num_ranks
    programs: list[list[Step]] = []
    num_steps = 0
    for rank in range(num_ranks + len(schedule.switches)):
        programs.append(schedule.program(rank))
        num_steps += len(programs[-1])
        if num_steps > MAX_STEPS:  # all of them can be millions, which take minutes
            raise UsageError(
                f"{schedule.name} on {num_ranks} ranks has too many steps to watch: the player takes {MAX_STEPS}"
            )
    report = verify_report(schedule)
    return {
        "name": schedule.name,
        "title": _title(schedule),
        "collective": schedule.collective,
        "ranks": num_ranks,
        "switches": list(schedule.switches),
        "root": schedule.root,
        "chunks": schedule.num_chunks,
        "hosts": list(hosts) if hosts is not None else [0] * num_ranks,
        "hops": schedule.cost().hops if report["ok"] else None,  # what is refuted may never end
        "timeline": None,
        "verdict": {name: report[name] for name in ("ok", "kind", "problem", "rank", "step")},
        "programs": [
            [
                _step(step, after)
                for step, after in zip(program, _dependencies(schedule, rank, bool(report["ok"])), strict=True)
            ]
            for rank, program in enumerate(programs)
        ],
    }


def _step(step: Step, after: Sequence[int]) -> dict[str, Any]:
    return {
        "verb": step.verb,
        "lane": step.lane,
        "chunks": list(step.chunks),
        "recv": [list(one) for one in step.recv],
        "src": None if step.src is None else list(step.src),
        "dst": None if step.dst is None else list(step.dst),
        "to": sorted(step.send_to),  # the order in which a multicast is transmitted
        "tag": step.send_tag,
        "reduces": "reduce" in step.verb,
        "after": list(after),
    }


def _dependencies(schedule: Schedule, rank: int, proved: bool) -> list[list[int]]:
    try:
        return schedule.dependencies(rank)
    except RingtreeError:
        if proved:
            raise
        return [[] for _ in schedule.program(rank)]  # of what is refuted not even the order need make sense


def _title(schedule: Schedule) -> str:
    if schedule.shares > 1:
        said = [f"{part} with {shares} of {schedule.shares} shares" for part, shares in algorithms.parts(schedule.name)]
        return f"side by side, each on its own part of the data: {', '.join(said)}"
    known = (*algorithms.table(), *algorithms.switch_table())
    return next((row.title for row in known if row.name == schedule.name), "a schedule of your own")
