"""How many messages must follow each other: for claims about steps.

For: "a ring of n ranks takes 2(n-1) steps", "a tree takes 2·log2(n)". Not for: what a step costs (tuning.py), and not
for ringtree's own algorithms (`schedule(...).cost().hops`).
"""

from __future__ import annotations

from ringtree.errors import UsageError
from ringtree.hardware.limits import check_collective
from ringtree.nccl.limits import kernel
from ringtree.nccl.names import KERNELS, POINT_TO_POINT
from ringtree.schedules.schedule import schedule

MAX_RANKS = 2048

# NCCL's algorithms whose chain of messages is that of a schedule of ringtree's.
SAME_SHAPE = {"Ring": "ring", "Tree": "double_tree", "PAT": "pat"}
# Through a switch: up to it added, and back to all; point to point: one message.
THROUGH_SWITCH = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1}


def minimum_steps(collective: str, algorithm: str, num_ranks: int, ranks_per_host: int = 1) -> int:
    """Messages on the longest chain in which each waits for the one before: 2(n-1) for a ring's all_reduce, twice the
    height for a tree's. Counted in the schedule.

    Ring and PAT are ringtree's schedule of the same shape. So is Tree between hosts; inside a host of `ranks_per_host`
    it is a chain, r-1 messages up and as many down. NVLS takes 2 for all_reduce, up to the switch and down. Raises
    UsageError where nothing is known to count.
    """
    check_collective(collective)
    if num_ranks < 1:
        raise UsageError(f"a collective has at least one rank, not {num_ranks}")
    if ranks_per_host < 1 or num_ranks % ranks_per_host:
        raise UsageError(f"{num_ranks} ranks do not lie evenly on hosts of {ranks_per_host}")
    name = kernel(algorithm)
    if collective not in KERNELS[name]:
        raise UsageError(f"NCCL has no {name} kernel for {collective}")
    if name in (POINT_TO_POINT, "NVLS"):
        return THROUGH_SWITCH.get(collective, 1) if num_ranks > 1 else 0
    if name not in SAME_SHAPE:
        raise UsageError(f"the steps of {name} depend on the network's switches")
    if num_ranks > MAX_RANKS:
        raise UsageError(f"{num_ranks} ranks are too many to count a schedule (at most {MAX_RANKS})")
    chain, members = (ranks_per_host - 1, num_ranks // ranks_per_host) if name == "Tree" else (0, num_ranks)
    return 2 * chain + schedule(collective, SAME_SHAPE[name], members).cost().hops
