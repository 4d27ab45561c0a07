"""The process groups of an arm, in ranks that host several arms.

For: one group of all ranks a backend, and the two that hybrid sharding needs. Not for: the launch's own group
(arms/torch_group.py), which the others are made from.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch.distributed as dist

from ringtree.comm.profile import VARIABLE
from ringtree.train.arms import FAKE, TrainArm
from ringtree.train.forced import forced_profile
from ringtree.train.placement import shard_rows, world_of


@dataclass(frozen=True)
class Groups:
    """`world`: all ranks. Of hybrid sharding: `shard`, the ranks that divide the model, and `replica`, those with the
    same part of it; else None. `rows`: the ranks of each shard group."""

    world: dist.ProcessGroup
    shard: dist.ProcessGroup | None = None
    replica: dist.ProcessGroup | None = None
    rows: Sequence[Sequence[int]] = ()


def make_groups(arm: TrainArm, hosts: Sequence[int], hybrid: bool, timeout: float) -> Groups:
    """Makes an arm's groups; every rank calls it. `hosts`: of each rank; `hybrid`: shard groups are wanted, too."""
    if arm.backend == FAKE:
        import torch.testing._internal.distributed.fake_pg  # noqa: F401 # makes the name known
    if arm.module is not None:
        importlib.import_module(arm.module)
    patience = timedelta(seconds=timeout)
    whole = list(range(len(hosts)))
    rows = shard_rows(hosts) if hybrid else []
    columns = [list(column) for column in zip(*rows, strict=True)]
    with _forced(arm, [[hosts[rank] for rank in ranks] for ranks in (whole, *rows, *columns)]):
        world = _group(whole, arm.backend, patience)
        assert world is not None, "it has all ranks"
        if not hybrid:
            return Groups(world)
        shard, replica = ([_group(ranks, arm.backend, patience) for ranks in each] for each in (rows, columns))
        return Groups(world, next(filter(None, shard)), next(filter(None, replica)), rows)


def _group(ranks: list[int], backend: str, timeout: timedelta) -> dist.ProcessGroup | None:
    made = dist.new_group(ranks, timeout=timeout, backend=backend)
    return made if isinstance(made, dist.ProcessGroup) else None


@contextmanager
def _forced(arm: TrainArm, groups: Sequence[Sequence[int]]) -> Iterator[None]:
    """The engine reads its profile when a group is made. `groups`: the hosts of each one's ranks."""
    if arm.algorithm is None:
        yield
        return
    before = os.environ.get(VARIABLE)
    with open(os.memfd_create("ringtree-forced"), "w") as file:
        worlds = [world for world in map(world_of, groups) if world is not None]
        file.write(forced_profile(arm.algorithm, worlds).model_dump_json())
        file.flush()
        os.environ[VARIABLE] = f"/proc/self/fd/{file.fileno()}"
        try:
            yield
        finally:
            os.environ.pop(VARIABLE)
            if before is not None:
                os.environ[VARIABLE] = before
