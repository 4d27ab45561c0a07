"""Simulated points as stored runs: one for each number of nodes.

For: `ringtree report`, `plot`, `show` and `compare-runs` over simulations, marked as such. Not for: what a run is
(ringtree.results), measured runs (ringtree.measure).

A run has one launch with one iteration a cell: a simulation gives the same again. Its cells count as verified, since
their schedules are proved; no data were moved.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ringtree.measure.environment import capture
from ringtree.nccl.nccl_tests import NO_OP
from ringtree.results import (
    ArmPlan,
    Cell,
    Launch,
    Plan,
    Run,
    RunWriter,
    SimulatedCluster,
    SizePlan,
    Visit,
    new_run_id,
)
from ringtree.simulate.asked import Sweep
from ringtree.simulate.cluster import cluster_text
from ringtree.simulate.sweep import Simulated
from ringtree.traits import REDUCING

_DTYPE, _OP = "float32", "sum"  # of what the schedules move


def store(sweep: Sweep, done: Sequence[Simulated], runs: Path) -> list[Path]:
    """Stores what was simulated. Returns the runs' directories, in the order of the numbers of nodes."""
    of_nodes = [[one for one in done if one.point.nodes == nodes] for nodes in sweep.nodes]
    return [_store(sweep, some, runs) for some in of_nodes if some]


def _store(sweep: Sweep, done: Sequence[Simulated], runs: Path) -> Path:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    run = Run(
        run_id=new_run_id(),
        created_utc=now,
        plan=_plan(sweep, done),
        provenance=capture(emulated=False, rank_defaults={}),
    )
    labels = list(dict.fromkeys(one.point.arm for one in done))
    with RunWriter(runs, run) as writer:
        writer.append(
            Launch(
                launch=0,
                block=0,
                arms=labels,
                seed=0,
                pids=[],
                started_utc=now,
                wall_seconds=0.0,
                load_average=0.0,
                cells=[_cell(position, one) for position, one in enumerate(done)],
            )
        )
        return writer.path


def _plan(sweep: Sweep, done: Sequence[Simulated]) -> Plan:
    first = done[0].point
    sizes = [SizePlan(size_bytes=size, num_launches=1, max_rounds=1, max_iterations=1, batch=1) for size in sweep.sizes]
    labels = {one.point.arm: one.point.algorithm for one in done}
    return Plan(
        collective=sweep.collective,
        op=_OP if sweep.collective in REDUCING else NO_OP,
        dtype=_DTYPE,
        num_ranks=first.num_ranks,
        arms=[ArmPlan(label=label, name=name) for label, name in labels.items()],
        reference=next(iter(labels)),
        sizes=sizes,
        num_launches=1,
        seed=0,
        cell_budget=1.0,
        hosts=[rank // sweep.ranks_per_node for rank in range(first.num_ranks)] if first.nodes > 1 else None,
        simulation=SimulatedCluster(
            name=sweep.cluster.name,
            hosts=first.nodes,
            ranks_per_host=sweep.ranks_per_node,
            what_if=list(sweep.what_if),
            description=cluster_text(sweep.cluster),
        ),
    )


def _cell(position: int, one: Simulated) -> Cell:
    point = one.point
    # A rank may have finished before the call's end; the slowest rank's time is the call's.
    ranks = one.per_rank_seconds or (point.seconds,)
    return Cell(
        arm=point.arm,
        size_bytes=point.size_bytes,
        executed={"algorithm": point.algorithm, "protocol": point.protocol, "channels": point.channels},
        batch=1,
        times=[[seconds] for seconds in ranks],
        visits=[Visit(round=0, position=position, num_iterations=1)],
        verified=True,
    )
