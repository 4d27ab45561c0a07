"""What the sliced recurrence of core/model says an emulated cell should take.

For: holding measured emulated times against the model, cell by cell. Not for real machines, where the recurrence says
nothing (it knows links between hosts and no other cost).
"""

from __future__ import annotations

import numpy as np

import ringtree
from ringtree.results import Plan


def predicted_seconds(plan: Plan, algorithms: list[str], size_bytes: int) -> float | None:
    """Seconds of one call by the recurrence; None unless the plan is emulated and one known algorithm was executed."""
    if (
        plan.emulation is None
        or len(algorithms) != 1
        or algorithms[0] not in ringtree.algorithms.names(plan.collective, several_hosts=True)
    ):
        return None
    hosts = [rank // plan.emulation.ranks_per_host for rank in range(plan.num_ranks)]
    schedule = ringtree.schedule(plan.collective, algorithms[0], ranks=plan.num_ranks, hosts=hosts)
    item_size = np.dtype(plan.dtype).itemsize
    cluster = ringtree.Emulation(**plan.emulation.model_dump())
    return ringtree.model.time_on_cluster(schedule, size_bytes // item_size, item_size, cluster)
