"""What is measured between hosts, in what share of the time, and the plan of each part.

For: the one place that knows parts, sizes and arms. Not for: bars (bars.py), running (session.py).

A part is a run of its own in the format of ringtree.results. Native parts time C programs of each library
(ringtree.arms), the others are comparisons of the lab: through PyTorch against Gloo, and the engine's own algorithms
over shaped links.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bench.hosts.arms import ENGINE
from bench.parts import ALL_REDUCE, NATIVE, TORCH
from ringtree.arms import common_boundary
from ringtree.errors import UsageError
from ringtree.measure.estimate import start_seconds
from ringtree.measure.plan import label_arms, native_size, size_plan
from ringtree.results import ArmPlan, Plan
from ringtree.stats import MARGIN

RATE, CROSSOVER, UNSHAPED = "rate", "crossover", "unshaped"  # the last two: crossovers over slow and over bare links
DEFAULT_BUDGET = 10 * 60.0
LEAST_CELL = 0.03  # seconds of an arm at a size in a launch
BARRED_SIZES = (8, 64 << 10, 16 << 20)
NATIVE_SIZES = (8, 1 << 10, 64 << 10, 1 << 20, 16 << 20)
TORCH_SIZES = (8, 64 << 10, 1 << 20, 16 << 20)  # Gloo's calls take long
RATE_SIZES = (16 << 20,)
CROSSOVER_SIZES = tuple(256 << exponent for exponent in range(12))  # 256 B to 512 KB
UNSHAPED_SIZES = tuple(4096 << exponent for exponent in range(11))  # 4 KB to 4 MB
ENGINE_ARMS = ("ring", "tree", "double_tree")
LINK_BPS = {RATE: 1e9, CROSSOVER: 200e6}  # bits per second; others are unshaped
# The burst is what passes unshaped after a pause. With 64 KB, as much as one packet that the kernel cuts up late, plain
# sockets reached half of 1 Gbit/s when both directions were busy, with 256 KB 93 %: the bucket then lost what it was
# due, not the sender. That of the crossover is as small as tc allows with some room, since the model knows a latency
# and a rate and nothing that passes for free.
BURST_BYTES = 256 << 10
SHAPING = {RATE: "rate 1gbit burst 256kb latency 50ms", CROSSOVER: "rate 200mbit burst 4kb latency 50ms"}
AUTO, GLOO, RING = "auto", "gloo", "ring"
LAB_ARMS = {TORCH: (AUTO, GLOO), RATE: (RING, AUTO, GLOO), CROSSOVER: ENGINE_ARMS, UNSHAPED: ENGINE_ARMS}
SIZES = {
    NATIVE: NATIVE_SIZES,
    TORCH: TORCH_SIZES,
    RATE: RATE_SIZES,
    CROSSOVER: CROSSOVER_SIZES,
    UNSHAPED: UNSHAPED_SIZES,
}


@dataclass(frozen=True)
class World:
    """One part. `share`: of the time budget."""

    kind: str
    hosts: int
    ranks_per_host: int
    share: float

    @property
    def name(self) -> str:
        """The part's folder: "native-2x1"."""
        return f"{self.kind}-{self.hosts}x{self.ranks_per_host}"

    @property
    def num_ranks(self) -> int:
        return self.hosts * self.ranks_per_host

    @property
    def shaping(self) -> str | None:
        """tc's words for what a host sends; None: as fast as the machine can."""
        return SHAPING.get(self.kind)


WORLDS = (
    World(NATIVE, 2, 1, 0.11),
    World(NATIVE, 4, 1, 0.09),
    World(NATIVE, 2, 2, 0.09),
    World(TORCH, 2, 1, 0.12),
    World(TORCH, 4, 1, 0.13),
    World(TORCH, 2, 2, 0.13),
    World(RATE, 2, 1, 0.08),
    World(RATE, 4, 1, 0.11),
    World(CROSSOVER, 4, 1, 0.08),
    World(UNSHAPED, 4, 1, 0.06),
)


def world_of(name: str) -> World:
    """Returns the part of that name. Raises UsageError if there is none."""
    for world in WORLDS:
        if world.name == name:
            return world
    raise UsageError(f"there is no part {name!r}; there are: {', '.join(world.name for world in WORLDS)}")


def default_launches(budget: float) -> int:
    """As many as a verdict needs and one to spare, or hardly any for a trial."""
    return 8 if budget >= 4 * 60 else 2


def make_plan(world: World, seconds: float, launches: int, seed: int, arms: Sequence[str]) -> Plan:
    """The plan of a part that may take `seconds`; `arms`: of a native part."""
    if not math.isfinite(seconds) or seconds <= 0:
        raise UsageError(f"a part needs time, not {seconds:g} s")
    native = world.kind == NATIVE
    planned = [ArmPlan(label=arm, name=arm) for arm in arms] if native else label_arms(LAB_ARMS[world.kind])
    boundary = "native" if native else common_boundary(arm.name for arm in planned)
    a_launch = seconds / launches - start_seconds(world.num_ranks, boundary)
    sizes = SIZES[world.kind]
    return Plan(
        collective=ALL_REDUCE,
        op="sum",
        dtype="float32",
        num_ranks=world.num_ranks,
        arms=planned,
        boundary=boundary,
        reference=ENGINE if native else planned[0].label,
        sizes=[native_size(size, launches) if native else size_plan(size, launches) for size in sizes],
        num_launches=launches,
        seed=seed,
        cell_budget=max(LEAST_CELL, a_launch / (len(sizes) * len(planned))),
        margin=MARGIN,
        time_budget=seconds,
        hosts=[rank // world.ranks_per_host for rank in range(world.num_ranks)],
    )
