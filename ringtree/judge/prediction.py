"""What the sliced recurrence of core/model says an emulated cell should take.

For: holding measured emulated times against the model, cell by cell. Not for real machines, where the recurrence says
nothing (it knows links between hosts and no other cost).
"""

from __future__ import annotations

from ringtree.measure.collective_data import elements_of
from ringtree.results import Plan
from ringtree.schedules import algorithms as builtin
from ringtree.schedules import model
from ringtree.schedules.emulation import Emulation
from ringtree.schedules.schedule import schedule as make_schedule
from ringtree.storage import storage_of


def predicted_seconds(plan: Plan, algorithms: list[str], size_bytes: int) -> float | None:
    """Seconds of one call by the recurrence; None unless the plan is emulated and one known algorithm was executed."""
    if (
        plan.emulation is None
        or len(algorithms) != 1
        or algorithms[0] not in builtin.names(plan.collective, several_hosts=True)
    ):
        return None
    hosts = [rank // plan.emulation.ranks_per_host for rank in range(plan.num_ranks)]
    schedule = make_schedule(plan.collective, algorithms[0], ranks=plan.num_ranks, hosts=hosts)
    item_size = storage_of(plan.dtype).itemsize
    count = elements_of(plan.collective, size_bytes, item_size, plan.num_ranks).count
    cluster = Emulation(**plan.emulation.model_dump())
    return model.time_on_cluster(schedule, count, item_size, cluster)
