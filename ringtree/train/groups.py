"""The process groups of an arm, in ranks that host several arms.

For: one group of all ranks a backend, and the two that hybrid sharding needs. Not for: the launch's own group
(arms/torch_group.py), which the others are made from.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch.distributed as dist

from ringtree.comm.profile import VARIABLE
from ringtree.train.arms import FAKE, TrainArm
from ringtree.train.forced import forced_profile


@dataclass(frozen=True)
class Groups:
    """`world`: all ranks. Of hybrid sharding: `shard`, the ranks that divide the model, and `replica`, those with the
    same part of it; else None. `part`: how many ranks are in `shard`."""

    world: dist.ProcessGroup
    shard: dist.ProcessGroup | None = None
    replica: dist.ProcessGroup | None = None
    part: int = 0


def make_groups(arm: TrainArm, num_ranks: int, hybrid: int, timeout: float) -> Groups:
    """Makes an arm's groups; every rank calls it. `hybrid`: ranks of a shard group, 0: none is wanted."""
    if arm.backend == FAKE:
        import torch.testing._internal.distributed.fake_pg  # noqa: F401 # makes the name known
    if arm.module is not None:
        importlib.import_module(arm.module)
    patience = timedelta(seconds=timeout)
    sizes = [num_ranks, *([hybrid, num_ranks // hybrid] if hybrid else [])]
    with _forced(arm, sizes):
        world = _group(range(num_ranks), arm.backend, patience)
        assert world is not None, "it has all ranks"
        if not hybrid:
            return Groups(world)
        rows = [range(first, first + hybrid) for first in range(0, num_ranks, hybrid)]
        columns = [range(first, num_ranks, hybrid) for first in range(hybrid)]
        shard, replica = ([_group(ranks, arm.backend, patience) for ranks in each] for each in (rows, columns))
        return Groups(world, next(filter(None, shard)), next(filter(None, replica)), hybrid)


def _group(ranks: range, backend: str, timeout: timedelta) -> dist.ProcessGroup | None:
    made = dist.new_group(list(ranks), timeout=timeout, backend=backend)
    return made if isinstance(made, dist.ProcessGroup) else None


@contextmanager
def _forced(arm: TrainArm, sizes: list[int]) -> Iterator[None]:
    """The engine reads its profile when a group is made."""
    if arm.algorithm is None:
        yield
        return
    before = os.environ.get(VARIABLE)
    with open(os.memfd_create("ringtree-forced"), "w") as file:
        file.write(forced_profile(arm.algorithm, sizes).model_dump_json())
        file.flush()
        os.environ[VARIABLE] = f"/proc/self/fd/{file.fileno()}"
        try:
            yield
        finally:
            os.environ.pop(VARIABLE)
            if before is not None:
                os.environ[VARIABLE] = before
