"""The plan of a comparison: which arm runs at which size in which launch, in what order.

For: turning choices into ringtree.results.Plan and deriving every order from its seed. Not for: starting processes.

The order of arms is shuffled anew for each size of each launch, so that no arm always runs first, and it is a pure
function of (seed, launch, size, label): the same seed gives the same order on every machine and Python version. Sizes
ascend: what is compared (the arms at one size) then runs close together in time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from ringtree.errors import UsageError
from ringtree.results import ArmPlan, Plan, SizePlan

# Up to this size a barrier's skew is larger than a call, so several calls are timed together.
BATCH_LIMIT = 64 << 10
BATCH_CALLS = 10
HUGE = 256 << 20
MIN_ITERATIONS = 5
MAX_ITERATIONS = 200
DEFAULT_LAUNCHES = 6
DEFAULT_CELL_BUDGET = 0.1  # seconds; with it the default comparison stays well below three minutes on two cores


def label_arms(names: Sequence[str]) -> list[ArmPlan]:
    """Gives each arm a label of its own: the second "gloo" is "gloo#2"."""
    seen: dict[str, int] = {}
    arms = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        arms.append(ArmPlan(label=name if seen[name] == 1 else f"{name}#{seen[name]}", name=name))
    return arms


def size_plan(size_bytes: int, num_launches: int, emulated: bool = False) -> SizePlan:
    """How one size is measured. Above 256 MB: half of the launches (at least one) and three iterations.

    Emulated calls take milliseconds and are never timed in batches: calls in a row would overlap, a call would not.
    """
    huge = size_bytes > HUGE
    return SizePlan(
        size_bytes=size_bytes,
        num_launches=max(1, num_launches // 2) if huge else num_launches,
        min_iterations=3 if huge else MIN_ITERATIONS,
        max_iterations=MIN_ITERATIONS if huge else MAX_ITERATIONS,
        batch=BATCH_CALLS if size_bytes <= BATCH_LIMIT and not emulated else 1,
    )


def choose_reference(arms: Sequence[ArmPlan], wanted: str | None) -> str:
    """Returns the label that the others are compared with: the one asked for, else a library, else the first arm."""
    labels = [arm.label for arm in arms]
    if wanted is not None:
        if wanted not in labels:
            raise UsageError(f"the reference {wanted!r} is none of the arms; there are: {', '.join(labels)}")
        return wanted
    return "gloo" if "gloo" in labels else labels[0]


def cell_order(plan: Plan, launch: int) -> list[tuple[int, str]]:
    """Returns the (size, arm label) of one launch in the order in which they run."""
    order = []
    for size in plan.sizes:
        if launch < size.num_launches:
            labels = [arm.label for arm in plan.arms]
            labels.sort(key=lambda label: _key(plan.seed, launch, size.size_bytes, label))
            order += [(size.size_bytes, label) for label in labels]
    return order


def data_seed(plan: Plan, launch: int) -> int:
    """Returns the seed of the data of one launch."""
    return int.from_bytes(_key(plan.seed, launch, 0, "data")[:6], "big")


def memory_needed(size_bytes: int, num_ranks: int) -> int:
    """Returns the bytes of memory that one size takes: a rank has its buffers and what an arm needs to move them."""
    buffers = BATCH_CALLS if size_bytes <= BATCH_LIMIT else 1
    return int((buffers + 1.5) * size_bytes * num_ranks)


def fresh_seed() -> int:
    """Returns a new seed; it is stored with the run."""
    return int.from_bytes(os.urandom(4), "big")


def _key(seed: int, launch: int, size_bytes: int, label: str) -> bytes:
    return hashlib.sha256(f"{seed}/{launch}/{size_bytes}/{label}".encode()).digest()
