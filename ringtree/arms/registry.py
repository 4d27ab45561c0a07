"""The kinds of arms that exist, and the kind of an arm by its name.

For: the one table of kinds, and the questions that need all of it. Not for: what a kind can do (kind.py says what may
be asked, the kind's file answers), or running anything. A kind is added by its file and its line of the table.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from ringtree.arms.arm import Arm
from ringtree.arms.kind import ALGORITHM, ArmKind
from ringtree.arms.program import Native
from ringtree.arms.slowed import slowed, split_slowed
from ringtree.errors import UsageError
from ringtree.results import ArmPlan, Boundary, Plan
from ringtree.schedules import algorithms as builtin


class _Table(Sequence[ArmKind]):
    """The kinds of some modules of this room, each imported when the kinds before it were not what was looked for: a
    rank of the engine needs nothing of GPUs, MPI or PyTorch, whose modules took a tenth of its start."""

    def __init__(self, *modules: str) -> None:
        """`modules`: names; each has a KIND, or several as KINDS."""
        self._modules = modules

    def __iter__(self) -> Iterator[ArmKind]:
        for name in self._modules:
            module = importlib.import_module(f"ringtree.arms.{name}")
            yield from vars(module).get("KINDS") or (module.KIND,)

    def __len__(self) -> int:
        return len(tuple(iter(self)))  # not tuple(self), which asks for the length

    @overload
    def __getitem__(self, index: int) -> ArmKind: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ArmKind]: ...
    def __getitem__(self, index: int | slice) -> ArmKind | Sequence[ArmKind]:
        return tuple(iter(self))[index]

    def __add__(self, more: Iterable[ArmKind]) -> tuple[ArmKind, ...]:
        """A table with more kinds, as `registry.KINDS += (kind,)` makes it."""
        return (*self, *more)


KINDS: _Table | tuple[ArmKind, ...] = _Table(
    "engine",
    "gloo",
    "send_recv",
    "textbook",
    "native_engine",
    "mpi",
    "nccl",
    "nccl_tests",
    "torch_nccl",
)
# Of those that arms have in common the first counts; native only where an arm has no other call, as what is called
# from Python is what most people run.
BOUNDARIES: tuple[Boundary, ...] = ("numpy", "torch", "cuda", "native", "cuda_native")


def find_kind(name: str) -> ArmKind | None:
    """Returns the kind of the arm `name`, None if it is of none."""
    return _as_named(name, next((kind for kind in KINDS if _head(name) in kind.heads), None))


def kind_of(arm: ArmPlan) -> ArmKind | None:
    """Returns the kind of an arm of a run as it was stored, or by its name in runs that are older than kinds."""
    if arm.kind is None:
        return find_kind(arm.name)
    return _as_named(arm.name, next((kind for kind in KINDS if kind.name == arm.kind), None))


def kind_named(name: str) -> ArmKind:
    """As `find_kind`. Raises UsageError if the arm is of no kind."""
    kind = find_kind(name)
    if kind is None:
        _check_runs_here(name)
        raise UsageError(f"unknown arm {name!r}; choose from: {', '.join(arms_written())}")
    return kind


def _check_runs_here(name: str) -> None:
    algorithm = name.partition("/")[0]
    if builtin.uses_switch(algorithm):
        raise UsageError(
            f"{algorithm} needs a switch that reduces (NVLink SHARP), which the engine does not have: "
            "`ringtree simulate`, `play --cluster` and `verify` accept it; with NCCL, use nccl:NVLS"
        )
    if any(row.name == _head(algorithm) for row in builtin.table()):
        builtin.parts(algorithm)  # which says what is wrong with a mix's name


def has_arm(name: str, collective: str) -> bool:
    """Returns whether there is such an arm for `collective`. Raises UsageError for an option that no arm has."""
    kind = find_kind(name)
    return kind is not None and collective in kind.collectives and kind.accepts(name, collective)


def check_arm(name: str, collective: str) -> ArmKind:
    """Returns the arm's kind. Raises UsageError, with the list of what exists, if there is no such arm for
    `collective`."""
    kind = find_kind(name)
    if kind is None or not has_arm(name, collective):
        _check_runs_here(name)
        raise UsageError(f"unknown arm {name!r} for {collective}; choose from: {', '.join(_existing(collective))}")
    return kind


def arms_written() -> list[str]:
    """Returns how the arms of all kinds are written."""
    return [form for kind in KINDS for form in kind.written]


def make_arm(name: str) -> Arm:
    """Makes an arm whose name was checked."""
    return kind_named(name).make(name)


def common_boundary(names: Iterable[str]) -> Boundary:
    """Returns the boundary by which all these arms are called, the thinnest that all have: what is compared crosses the
    same one. Raises UsageError if they have none in common."""
    kinds = {name: kind for name in names if (kind := find_kind(name)) is not None}
    for boundary in BOUNDARIES:
        if all(_crosses(name, kind, boundary) for name, kind in kinds.items()):
            return boundary
    boundaries = {
        name: [boundary for boundary in kind.boundaries if _crosses(name, kind, boundary)]
        for name, kind in kinds.items()
    }
    ways = ", ".join(f"{name} by {' or '.join(of_arm)}" for name, of_arm in boundaries.items())
    raise UsageError(
        f"these arms share no way to be called ({ways}), so their times can't be compared: run them separately"
    )


def boundary_of(plan: Plan) -> Boundary:
    """Returns the boundary of a plan's arms as it was stored, or by their names in runs that are older than that."""
    return plan.boundary or common_boundary(arm.name for arm in plan.arms)


def is_native(arms: Iterable[ArmPlan]) -> bool:
    """Returns whether arms of one run are called from C: one of them can't be called otherwise."""
    return any(kind is not None and kind.process == "own" for kind in map(kind_of, arms))


def native_of(arm: ArmPlan, collective: str) -> Native:
    """Returns how native processes host an arm of a plan that is called so. Raises UsageError if they can't."""
    kind = kind_of(arm)
    native = None if kind is None else kind.native(arm.name, collective)
    if native is None:
        raise UsageError(f"{arm.name} can't be called natively")
    return native


def _crosses(name: str, kind: ArmKind, boundary: Boundary) -> bool:
    return boundary in kind.boundaries and (boundary != "native" or kind.native(name, None) is not None)


def _head(name: str) -> str:
    return re.split("[:/+]", name, maxsplit=1)[0]


def _as_named(name: str, kind: ArmKind | None) -> ArmKind | None:
    return slowed(kind) if kind is not None and split_slowed(name)[1] else kind


def _existing(collective: str) -> list[str]:
    forms = [form for kind in KINDS if collective in kind.collectives for form in kind.written]
    return [name for form in forms for name in (builtin.names(collective) if form == ALGORITHM else [form])]
