"""Whether ranks of a run shared GPUs, which qualifies every figure of it.

For: a line of caveats, of comparisons and trainings. Not for: whether they can share one (ringtree.arms.nccl_name).
"""

from __future__ import annotations

from collections import Counter

from ringtree.results import ON_GPU, Plan, Provenance
from ringtree.units import count


def shared_gpus(plan: Plan, where: Provenance) -> list[str]:
    """Returns a line, or none. `where` has the GPUs of one host, which is taken for the one with the most ranks."""
    ranks = plan.num_ranks if plan.hosts is None else max(Counter(plan.hosts).values())
    if plan.boundary not in ON_GPU or not 0 < len(where.gpus) < ranks:
        return []
    of_a_host = "" if plan.hosts is None else " of a host"
    return [
        f"{count(ranks, 'rank')}{of_a_host} on {count(len(where.gpus), 'GPU')}: ranks share them, so times say nothing "
        "of ranks with a GPU each"
    ]
