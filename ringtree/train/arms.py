"""What an arm of a training is: the backend of its process groups, and what is forced on it.

    gloo   nccl   nccl:Ring   ringtree:auto   ringtree:ring   torch:my_package.my_backend   …+10% slows the step

For: reading an arm's name, and why one can't run here. Not for: making its groups (groups.py), what NCCL makes of one
(nccl_arms.py); arms that run single collectives are ringtree.arms.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ringtree.arms.engine_name import AUTO
from ringtree.arms.kind import lacks_torch
from ringtree.arms.nccl_name import too_few_gpus
from ringtree.arms.slowed import split_slowed
from ringtree.arms.torch_nccl import lacks_torch_nccl, torch_nccl_version
from ringtree.errors import UsageError
from ringtree.gpu import device_count
from ringtree.schedules import algorithms as builtin

ALONE = "no communication"  # the arm that moves nothing: the same step, with all that the strategy does besides
FAKE = "fake"  # PyTorch's own backend of that kind
WRITTEN = "gloo, nccl, nccl:Ring, …, ringtree:auto, ringtree:ring, …, torch:package.backend; +10% slows an arm's step"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")


@dataclass(frozen=True)
class TrainArm:
    """A name, read. `module`: is imported first, as it makes the backend known; `algorithm`: forced on the engine for
    all collectives that have it, None: as it chooses; `slowed`: share of a step by which each is made longer."""

    backend: str
    device: Literal["cpu", "cuda"] = "cpu"
    module: str | None = None
    algorithm: str | None = None
    slowed: float = 0.0


def parse_arm(name: str) -> TrainArm:
    """Returns what an arm's name (without its @variables) asks for. Raises UsageError for one that there isn't."""
    if name == ALONE:
        return TrainArm(FAKE)
    plain, slowed = split_slowed(name)
    head, colon, rest = plain.partition(":")
    if head == "gloo" and not colon:
        return TrainArm("gloo", slowed=slowed)
    if head == "nccl":
        return TrainArm("nccl", "cuda", slowed=slowed)
    if head == "ringtree":
        sent = ("all_reduce", "all_gather", "all_to_all")
        known = sorted({name for one in sent for name in builtin.names(one, several_hosts=True)})
        if rest not in ("", AUTO, *known):
            raise UsageError(f"unknown arm {name!r}: the engine has no {rest!r}; it has: {', '.join((AUTO, *known))}")
        return TrainArm("ringtree", algorithm=None if rest in ("", AUTO) else rest, slowed=slowed)
    if head == "torch" and _NAME.fullmatch(rest):
        module, _, backend = rest.rpartition(".")
        return TrainArm(backend, module=module or None, slowed=slowed)
    raise UsageError(f"unknown arm {name!r} of a training; choose from: {WRITTEN}")


def lacking(
    arm: TrainArm, in_script: bool = False, ranks: int = 1, environment: Mapping[str, str] | None = None
) -> str | None:
    """Why an arm can't run on this machine; None if it can. `in_script`: a user's script makes its backend known, with
    a PyTorch of its own perhaps; `ranks`: of one host; `environment`: the arm's variables."""
    if arm.module is not None and not in_script and not _is_there(arm.module):
        return f"no module {arm.module!r} for this Python: install it, or set PYTHONPATH"
    if arm.device != "cuda":
        return lacks_torch()
    return lacks_torch_nccl() or too_few_gpus(
        environment or {}, None if in_script else torch_nccl_version(), ranks, device_count()
    )


def _is_there(module: str) -> bool:
    """Whether ranks could import the module, which have this folder in their path. Imports its packages at most."""
    locations: list[str] | None = [str(Path.cwd()), *sys.path]
    parts = module.split(".")
    for number in range(len(parts)):
        spec = PathFinder.find_spec(".".join(parts[: number + 1]), locations)
        if spec is None:
            break
        locations = list(spec.submodule_search_locations or [])
    else:
        return True
    try:
        return find_spec(module) is not None  # an editable install has a finder of its own
    except (ImportError, AttributeError, ValueError):
        return False


def no_other(arm: TrainArm, collectives: Sequence[str]) -> str | None:
    """Why an arm of the engine would not differ from ringtree:auto; None if it does. `collectives`: the training's."""
    if arm.algorithm is not None and not any(
        arm.algorithm in builtin.names(one, several_hosts=True) for one in collectives
    ):
        sent = " and ".join(collectives)
        return f"it would run as ringtree:auto: this training sends {sent}, which {arm.algorithm} does not do"
    return None
