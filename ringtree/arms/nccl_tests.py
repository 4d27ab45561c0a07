"""The `nccl-tests` arm: the user's own all_reduce_perf and its kin, as a second opinion.

For: finding the programs, and what they can run. Not for: running them (measure/tests_set.py).

They call NCCL from C, which is a boundary of its own: what they say is never in one verdict with NCCL called from
Python. Their variables are NCCL's, so `nccl-tests@NCCL_ALGO=Tree` is an arm, too.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ringtree.arms.arm import Arm
from ringtree.arms.kind import ArmKind, Wish
from ringtree.errors import UsageError
from ringtree.gpu import device_count, lacks_gpu
from ringtree.nccl.nccl_tests import COLLECTIVES, DTYPES, OPS

NAME = "nccl-tests"
FOLDER = "RINGTREE_NCCL_TESTS"


def program(collective: str) -> Path | None:
    """Returns the program of a collective, in the folder that RINGTREE_NCCL_TESTS names or on the path."""
    name = next(own for own, ours in COLLECTIVES.items() if ours == collective) + "_perf"
    found = shutil.which(name, path=os.environ.get(FOLDER))
    return None if found is None else Path(found)


def _lacks() -> str | None:
    if program("all_reduce") is None:
        return f"nccl-tests' programs not found: build them, and set {FOLDER} to their folder or add it to PATH"
    return lacks_gpu()


def _refuses(wish: Wish) -> str | None:
    if program(wish.collective) is None:
        return f"there is no program of nccl-tests for {wish.collective} beside {program('all_reduce')}"
    number = device_count()
    return f"{wish.num_ranks} ranks need as many GPUs and {number} can be seen" if wish.num_ranks > number else None


def _no_rank(name: str) -> Arm:
    raise UsageError(f"{name} starts its own processes and runs only in ringtree compare")


KIND = ArmKind(
    name="nccl_tests",
    heads=frozenset((NAME,)),
    written=(NAME,),
    accepts=lambda name, collective: name == NAME,
    make=_no_rank,
    collectives=tuple(COLLECTIVES.values()),
    boundaries=("cuda_native",),
    dtypes=tuple(DTYPES.values()),
    ops=tuple(OPS.values()),
    lacks=_lacks,
    refuses=_refuses,
    process="own",
    device="cuda",
    several_hosts=lambda name: False,
    start_seconds=0.5,
    library=True,
)
