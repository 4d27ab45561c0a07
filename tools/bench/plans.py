"""From choices to the parts of a run and the plan of each.

For: which worlds are measured, native C and through PyTorch apart, with which arms and sizes, and what share of the
time budget each gets. Not for: how a launch spends its time (costs.py), or running (session.py).

A part is a run of its own in the format of ringtree.results, so that what reads runs can read it; plans of native parts
hold labels of cases.py as arms. A part's time is in `Plan.time_budget`, seconds for all of its launches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bench.cases import (
    ALL_REDUCE,
    COLLECTIVES,
    ENGINE,
    LARGEST,
    ODD_SIZES,
    ORDINARY,
    SECOND_SEED,
    SHARED,
    SMALLEST,
    UNALIGNED,
    Variant,
    labels_of,
    op_of,
    powers_of_two,
    smallest_size,
)
from bench.costs import MOST_BATCHES, PASSES, ROUNDS_A_STAY, affordable
from ringtree.backends import needs_torch, why_unavailable
from ringtree.errors import UsageError
from ringtree.lab.environment import available_memory
from ringtree.lab.estimate import cell_seconds, start_seconds
from ringtree.lab.plan import label_arms, memory_needed, size_plan
from ringtree.lab.units import format_size
from ringtree.results import ArmPlan, Launch, Plan, SizePlan
from ringtree.stats import MARGIN, least_launches

NATIVE, TORCH = "native", "torch"
LEAST_CELL = 0.01  # seconds of an arm at a size in a launch of the lab
NO_TIME = "did not fit into the time"
DEFAULT_BUDGET = 40 * 60.0
SHORT_BUDGET = 20 * 60.0  # below it there are only as many launches as a verdict needs
DEFAULT_LAUNCHES = 8
# One more than a single comparison needs: with six, where most peers are slower, the flip of all launches makes one of
# them look as fast as anything could, and a peer that is faster everywhere could not be told.
FAMILY_LAUNCHES = least_launches() + 1
MEMORY_SHARE = 0.7  # of what is free
DRIVER_KEEPS = 128 << 20  # bytes of buffers that an idle driver holds on to at most (drivers/driver_batches.c)
TORCH_ENGINE, TORCH_GLOO = "auto", "gloo"


@dataclass(frozen=True)
class World:
    """A part of the run. `share`: of the time budget; sizes are powers of two up to `largest`, every `step`-th."""

    kind: str
    num_ranks: int
    share: float
    largest: int
    step: int = 1
    odd_sizes: tuple[int, ...] = ()
    variants: tuple[Variant, ...] = (ORDINARY,)
    collective: str = ALL_REDUCE

    @property
    def name(self) -> str:
        """The part's folder, and how the page calls it."""
        return part_name(self.kind, self.num_ranks, self.collective)


def part_name(kind: str, num_ranks: int, collective: str = ALL_REDUCE) -> str:
    """Returns for example "native-2", of all_reduce; of other collectives "native-2-broadcast"."""
    return f"{kind}-{num_ranks}" + ("" if collective == ALL_REDUCE else f"-{collective}")


# The other collectives are held against the peers once, with a core a rank: every second power of two up to 32 MB.
WORLDS = (
    World(NATIVE, 2, 0.33, LARGEST, 1, ODD_SIZES, (ORDINARY, SHARED, UNALIGNED, SECOND_SEED)),
    World(NATIVE, 4, 0.15, 64 << 20),
    World(NATIVE, 16, 0.11, 1 << 20, 4),
    World(TORCH, 2, 0.08, LARGEST),
    World(TORCH, 4, 0.05, 64 << 20, 2),
    *(World(NATIVE, 2, 0.07, 32 << 20, 2, collective=other) for other in COLLECTIVES if other != ALL_REDUCE),
)


@dataclass(frozen=True)
class Choices:
    """What a person may choose. `arms`: names, None for all; `worlds`: of those in WORLDS; `largest`: bytes."""

    budget: float = DEFAULT_BUDGET
    num_launches: int | None = None
    seed: int = 1
    arms: Sequence[str] | None = None
    worlds: Sequence[World] = WORLDS
    largest: int = LARGEST


@dataclass(frozen=True)
class Part:
    """One world with its plan."""

    name: str
    plan: Plan

    @property
    def is_native(self) -> bool:
        """True: C programs; False: through PyTorch, by the lab."""
        return self.name.startswith(NATIVE)

    def seconds_left(self, before: Sequence[Launch]) -> float:
        """Returns the seconds that the next launch may take after those that ran, which may have taken longer.

        At least half of what was planned for one: a launch with hardly a round is worth less than the time it saves.
        """
        budget, num_left = self.plan.time_budget or DEFAULT_BUDGET, self.plan.num_launches - len(before)
        left = budget - sum(launch.wall_seconds for launch in before)
        return max(budget / self.plan.num_launches / 2, left / max(1, num_left))


def num_launches(choices: Choices) -> int:
    """Returns the launches of each part: as chosen, else fewer for a short budget."""
    if choices.num_launches is not None:
        return choices.num_launches
    return DEFAULT_LAUNCHES if choices.budget >= SHORT_BUDGET else FAMILY_LAUNCHES


def make_parts(choices: Choices, arms: Sequence[str], left_out: dict[str, str]) -> list[Part]:
    """Returns the parts for the native `arms` (names, those that can run); why others can't is in `left_out`.

    Raises UsageError if the engine is not among the arms, or nothing is left to run.
    """
    if any(world.kind == NATIVE for world in choices.worlds) and ENGINE not in arms:
        raise UsageError(f"nothing to compare with: {left_out.get(ENGINE, 'the engine was not asked for')}")
    if not math.isfinite(choices.budget) or choices.budget <= 0:
        raise UsageError(f"--budget must be above 0, not {choices.budget:g} s")
    whole = sum(world.share for world in choices.worlds)
    parts = []
    for world in choices.worlds:
        seconds = choices.budget * world.share / whole
        if world.kind == TORCH:
            why = why_unavailable(TORCH_GLOO)
            if why is not None:
                left_out[world.name] = why
                continue
            plan = _torch_plan(world, choices, seconds, left_out)
        else:
            plan = _native_plan(world, choices, seconds, arms, left_out)
        parts.append(Part(world.name, plan))
    if not parts:
        raise UsageError(f"nothing is left to run: {'; '.join(left_out.values())}")
    return parts


def _native_memory(num_ranks: int, num_arms: int, size_bytes: int) -> int:
    """Bytes that a native cell takes: input and output of all ranks of the arm that is visited, half as much again to
    move them, and what the idle drivers have kept."""
    return num_ranks * (5 * size_bytes // 2 + num_arms * min(2 * size_bytes, DRIVER_KEEPS))


def _sizes(world: World, choices: Choices, needed: Callable[[int], int], left_out: dict[str, str]) -> list[int]:
    """The sizes for whose cells there is memory; `needed(size)`: bytes that one takes."""
    limit = min(world.largest, choices.largest)
    sizes = powers_of_two(SMALLEST, limit)[:: world.step] + [size for size in world.odd_sizes if size <= limit]
    sizes = [size for size in sizes if size >= smallest_size(world.collective, world.num_ranks)]
    free = MEMORY_SHARE * available_memory()
    fitting = [size for size in sizes if needed(size) <= free]
    for size in sorted(set(sizes) - set(fitting)):
        left_out[f"{world.name} {format_size(size)}"] = f"needs {format_size(needed(size) >> 20 << 20)} of memory"
    return sorted(fitting)


def _native_plan(world: World, choices: Choices, seconds: float, arms: Sequence[str], left_out: dict[str, str]) -> Plan:
    launches = num_launches(choices)
    sizes = _sizes(world, choices, partial(_native_memory, world.num_ranks, len(arms)), left_out)
    labels = labels_of(arms, world.variants)
    return Plan(
        collective=world.collective,
        op=op_of(world.collective),
        dtype="float32",
        num_ranks=world.num_ranks,
        # One environment for the plan: drivers set their own, and all arms share a launch so that they are paired.
        arms=[ArmPlan(label=label, name=label.partition("/")[0]) for label in labels],
        reference=ENGINE,
        sizes=[
            SizePlan(
                size_bytes=size,
                num_launches=launches,
                max_rounds=PASSES * ROUNDS_A_STAY,
                max_iterations=MOST_BATCHES,
                batch=1,
            )
            for size in sizes
        ],
        num_launches=launches,
        seed=choices.seed,
        cell_budget=seconds / launches / (len(sizes) * len(labels)),
        margin=MARGIN,
        time_budget=seconds,
        left_out=dict(left_out),
    )


def _torch_plan(world: World, choices: Choices, seconds: float, left_out: dict[str, str]) -> Plan:
    """A plan of the lab's own, the engine as the reference so that ratios read alike in all parts."""
    launches, names = num_launches(choices), [TORCH_ENGINE, TORCH_GLOO]
    fitting = _sizes(world, choices, lambda size: memory_needed(size, world.num_ranks), left_out)
    plan = Plan(
        collective=world.collective,
        op=op_of(world.collective),
        dtype="float32",
        num_ranks=world.num_ranks,
        arms=label_arms(names),
        reference=TORCH_ENGINE,
        sizes=[size_plan(size, launches).model_copy(update={"max_iterations": 2 * MOST_BATCHES}) for size in fitting],
        num_launches=launches,
        seed=choices.seed,
        cell_budget=LEAST_CELL,
        margin=MARGIN,
        time_budget=seconds,
        left_out=dict(left_out),
    )
    a_launch = max(0.0, seconds / launches - start_seconds(world.num_ranks, any(map(needs_torch, names))))
    sizes = affordable({size: len(names) * cell_seconds(plan, size) for size in fitting}, a_launch)
    left_out.update({f"{world.name} {format_size(size)}": NO_TIME for size in fitting if size not in sizes})
    cell = max(LEAST_CELL, a_launch / (len(sizes) * len(names)))
    kept = [size for size in plan.sizes if size.size_bytes in sizes]
    return plan.model_copy(update={"sizes": kept, "cell_budget": cell})
