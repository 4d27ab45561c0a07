"""How many messages must follow each other: for claims about steps.

For: "a ring of n ranks takes 2(n-1) steps", "a tree takes 2·log2(n)". Not for: what a step costs (ringtree.model).
"""

from __future__ import annotations

import ringtree.algorithms
from ringtree.errors import UsageError
from ringtree.hardware import nccl_names
from ringtree.hardware.limits import Library, algorithm_of, check_collective
from ringtree.schedule import schedule

MAX_RANKS = 2048

# NCCL's algorithms whose chain of messages is that of a schedule of ringtree's.
SAME_SHAPE = {"Ring": "ring", "Tree": "double_tree", "PAT": "pat"}
# Through a switch: up to it added, and back to all; point to point: one message.
THROUGH_SWITCH = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1}


def minimum_steps(collective: str, algorithm: str, num_ranks: int, library: Library | None = None) -> int:
    """Messages on the longest chain in which each waits for the one before: 2(n-1) for a ring's all_reduce, twice the
    height for a tree's. Counted in the schedule.

    NCCL's Ring, Tree and PAT are those of ringtree's schedule of the same shape, as if each rank were a host of its
    own: inside a host NCCL's tree is a chain, which takes more. NVLS takes 2 for all_reduce, up to the switch and down.
    Raises UsageError where nothing is known to count.
    """
    check_collective(collective)
    if num_ranks < 1:
        raise UsageError(f"a collective has at least one rank, not {num_ranks}")
    whose, name = algorithm_of(algorithm, library)
    if whose == "nccl":
        if collective not in nccl_names.COLLECTIVES[name]:
            raise UsageError(f"NCCL has no {name} kernel for {collective}")
        if name == nccl_names.POINT_TO_POINT or name == "NVLS":
            steps = THROUGH_SWITCH.get(collective, 1)
            return steps if num_ranks > 1 else 0
        if name not in SAME_SHAPE:
            raise UsageError(f"the steps of {name} depend on the network's switches")
        name = SAME_SHAPE[name]
    if name not in ringtree.algorithms.names(collective, several_hosts=True):
        raise UsageError(f"ringtree has no {name} for {collective}")
    if num_ranks > MAX_RANKS:
        raise UsageError(f"{num_ranks} ranks are too many to count a schedule (at most {MAX_RANKS})")
    return schedule(collective, name, num_ranks).cost().hops
