"""The plan of a comparison: which arm runs at which size in which launch, in what order.

For: turning choices into ringtree.results.Plan and deriving every order from its seed. Not for: starting processes.

A block is every arm once. Arms that get the same environment share one launch of a block, so that they are paired; an
arm with an environment of its own gets its own launch, and the launches of a block run in shuffled order. Arms in
native processes, and on one host those on GPUs and those of a design, share a launch whatever their environments: each
environment has processes of its own (launch.py), which sleep while others are timed. Not under a launcher, whose agents
have the ranks of one environment at a time; and arms of a training that are to run apart have launches of their own.

Inside a launch every size and arm is visited several times. A round visits each of them once: sizes in shuffled order,
and for each size its arms in shuffled order, one right after the other, so that what is compared runs close together
in time and whatever the machine does meanwhile (moving its cores, another tenant) meets all arms alike. Every order is
a pure function of (seed, launch, round, size, label): the same seed gives the same order on every machine.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

from ringtree.arms import find_kind, kind_of
from ringtree.errors import UsageError
from ringtree.measure.collective_data import shape_of
from ringtree.results import ON_GPU, ArmPlan, Plan, SizePlan
from ringtree.storable import without_secrets

# Up to this size a barrier's skew is larger than a call, so several calls are timed together.
BATCH_LIMIT = 64 << 10
BATCH_CALLS = 10
OVERLAPPING_CALLS = 64  # as BATCH_CALLS, of native calls that overlap: equally many for all arms
HUGE = 256 << 20
MAX_ROUNDS = 16
MIN_ROUNDS = 3  # the median over rounds then still bears a round that was disturbed
MAX_ITERATIONS = 30
NATIVE_ROUNDS, NATIVE_BATCHES = 24, 5  # as those two, of native arms
DEFAULT_LAUNCHES = 8
APART = "RINGTREE_TRAIN_ARM"  # names the arm of a launch of its own, and so gives each another environment


@dataclass(frozen=True)
class PlannedLaunch:
    """One launch of a plan: its number in the order in which launches run, its block, who takes part, and in which of
    the plan's workloads."""

    launch: int
    block: int
    arms: tuple[ArmPlan, ...]
    workload: int = 0


def label_arms(names: Sequence[str]) -> list[ArmPlan]:
    """Gives each arm a label of its own: the second "gloo" is "gloo#2". "gloo@X=1" is gloo with a variable set."""
    seen: dict[str, int] = {}
    arms = []
    for text in names:
        seen[text] = seen.get(text, 0) + 1
        name, *settings = text.split("@")
        label = text if seen[text] == 1 else f"{text}#{seen[text]}"
        kind = find_kind(name)
        meant = {} if kind is None else kind.environment(name)
        said = dict(_setting(setting, text) for setting in settings)
        twice = [variable for variable in said if variable in meant]
        if twice:
            raise UsageError(f"{text!r} says {twice[0]} twice: {name} means {twice[0]}={meant[twice[0]]}")
        environment = meant | said
        arms.append(ArmPlan(label=label, name=name, kind=kind and kind.name, environment=environment))
    return arms


def _setting(text: str, arm: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(
            f"invalid arm {arm!r}: write its variables as arm@NAME=value, for example gloo@OMP_NUM_THREADS=2"
        )
    if without_secrets(text) != text:
        raise UsageError(f"the variable {name} of an arm would be stored with the run: pass secrets by the environment")
    return name, value


def size_plan(size_bytes: int, num_launches: int, emulated: bool = False) -> SizePlan:
    """How one size is measured. Above 256 MB: half of the launches (at least one), the fewest rounds.

    Emulated calls take milliseconds and are never timed in batches: calls in a row would overlap, a call would not.
    """
    huge = size_bytes > HUGE
    return SizePlan(
        size_bytes=size_bytes,
        num_launches=max(1, num_launches // 2) if huge else num_launches,
        max_rounds=MIN_ROUNDS if huge else MAX_ROUNDS,
        max_iterations=1 if huge else MAX_ITERATIONS,
        batch=BATCH_CALLS if size_bytes <= BATCH_LIMIT and not emulated else 1,
    )


def native_size(size_bytes: int, num_launches: int, overlap: bool = False) -> SizePlan:
    """As size_plan, in native processes, whose visits are more and shorter.

    Each arm chooses how many calls make a batch, of about 0.2 ms: that is what 1 means. Not where calls `overlap`, as
    a rank goes on while others still wait for what it has: then a call costs less in a longer batch, whatever the arm.
    """
    usual = size_plan(size_bytes, num_launches)
    more = {"max_rounds": NATIVE_ROUNDS, "max_iterations": NATIVE_BATCHES} if size_bytes <= HUGE else {}
    batch = OVERLAPPING_CALLS if overlap and size_bytes <= BATCH_LIMIT else 1
    return usual.model_copy(update={"batch": batch, **more})


def calls_overlap(collective: str, num_ranks: int) -> bool:
    """Whether calls in a row, with roots by turns, overlap. With two ranks each has to wait for the other's."""
    return num_ranks > 2 and shape_of(collective).of_root != ""


def choose_reference(arms: Sequence[ArmPlan], wanted: str | None) -> str:
    """Returns the label that the others are compared with: the one asked for, else a library, else the first arm."""
    labels = [arm.label for arm in arms]
    if wanted is not None:
        if wanted not in labels:
            raise UsageError(f"the reference {wanted!r} is not one of the arms; choose from: {', '.join(labels)}")
        return wanted
    return next((arm.label for arm in arms if _is_library(arm)), labels[0])


def _is_library(arm: ArmPlan) -> bool:
    """True for a library as people use it: none of its switches, no variables, not slowed."""
    kind = kind_of(arm)
    return kind is not None and kind.library and arm.name in kind.heads and not arm.environment


def planned_launches(plan: Plan) -> list[PlannedLaunch]:
    """Returns all launches of a plan in the order in which they run."""
    together = plan.boundary in ON_GPU or plan.design is not None
    apart = any(APART in arm.environment for arm in plan.arms)
    shared = plan.boundary == "native" or (together and plan.hosts is None and not plan.by_agents and not apart)
    groups = [list(plan.arms)] if shared else by_environment(plan.arms)
    launches: list[PlannedLaunch] = []
    several = len(plan.workloads) > 1
    for block in range(plan.num_launches):
        shuffled = sorted(
            ((group, workload) for workload in range(len(plan.workloads)) for group in groups),
            key=lambda one: _key(plan.seed, "block", block, one[0][0].label, *([one[1]] if several else [])),
        )
        for group, workload in shuffled:
            launches.append(PlannedLaunch(len(launches), block, tuple(group), workload))
    return launches


def by_environment(arms: Sequence[ArmPlan]) -> list[list[ArmPlan]]:
    """Returns the arms that can share processes together: those with the same variables."""
    groups: dict[tuple[tuple[str, str], ...], list[ArmPlan]] = {}
    for arm in arms:
        groups.setdefault(tuple(sorted(arm.environment.items())), []).append(arm)
    return list(groups.values())


def sizes_of(plan: Plan, launch: PlannedLaunch) -> list[SizePlan]:
    """Returns the sizes that take part in a launch, ascending."""
    if plan.training is not None:
        return [plan.sizes[plan.workloads[launch.workload][0]]]
    return [size for size in plan.sizes if launch.block < size.num_launches]


def visit_order(plan: Plan, launch: PlannedLaunch, round_: int) -> list[tuple[int, str]]:
    """Returns the (size, arm label) of one round of a launch in the order in which they are visited."""
    sizes = [size.size_bytes for size in sizes_of(plan, launch)]
    sizes.sort(key=lambda size: _key(plan.seed, launch.launch, round_, size))
    order = []
    for size in sizes:
        labels = [arm.label for arm in launch.arms]
        labels.sort(key=lambda label: _key(plan.seed, launch.launch, round_, size, label))
        order += [(size, label) for label in labels]
    return order


def command_of(plan: Plan) -> str:
    """Returns the command that runs such a plan, and goes on with it."""
    return "compare" if plan.training is None else "train"


def data_seed(plan: Plan, launch: int) -> int:
    """Returns the seed of the data of one launch."""
    return int.from_bytes(_key(plan.seed, launch, "data")[:6], "big")


def memory_needed(size_bytes: int, num_ranks: int, collective: str = "all_reduce") -> int:
    """Returns the bytes of memory that one visit takes: a rank has its buffers and what an arm needs to move them."""
    buffers = (BATCH_CALLS if size_bytes <= BATCH_LIMIT else 1) * shape_of(collective).num_buffers
    return int((buffers + 1.5) * size_bytes * num_ranks)


def memory_to_keep(plan: Plan, launch: PlannedLaunch) -> int:
    """Returns the bytes that all ranks' operands of all cells take if none is given back between its visits."""
    of_an_arm = sum(size.size_bytes * size.batch for size in sizes_of(plan, launch))
    return of_an_arm * shape_of(plan.collective).num_buffers * len(launch.arms) * plan.num_ranks


def fresh_seed() -> int:
    """Returns a new seed; it is stored with the run."""
    return int.from_bytes(os.urandom(4), "big")


def _key(*what: object) -> bytes:
    return hashlib.sha256("/".join(map(str, what)).encode()).digest()
