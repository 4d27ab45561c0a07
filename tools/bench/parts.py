"""What `make bench` and `make bench-hosts` measure: each part a plan of `ringtree compare`.

For: which arms at which sizes, and what share of the time each part gets. Not for: running plans (runner.py), or bars
(bars.py).

Native C and through PyTorch are parts of their own, as each collective and number of ranks is. The first arm of a part
is the one that the others are compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtree.errors import UsageError
from ringtree.measure.environment import available_memory
from ringtree.measure.estimate import cost_of, start_of
from ringtree.measure.plan import memory_needed
from ringtree.measure.request import Request, make_plan
from ringtree.results import Plan
from ringtree.units import format_size

NATIVE, TORCH, RATE = "native", "torch", "rate"
ALL_REDUCE = "all_reduce"
OTHERS = ("reduce_scatter", "all_gather", "broadcast", "all_to_all")
AUTO, SHARED = "auto", "auto/shared"
# Open MPI also without copies straight from one process's memory to the other's, a system call each: faster at some
# sizes.
PEERS = (
    "openmpi4",
    "openmpi4@OMPI_MCA_btl_vader_single_copy_mechanism=none",
    "openmpi5",
    "openmpi5@OMPI_MCA_smsc=^cma",
    "mpich4",
    "mpich5",
    "impi",
    "impi@I_MPI_THREAD_YIELD=2",
    "oneccl",
)
ODD_SIZES = (1000, 12344, 100004, (3 << 20) + 4)  # that nobody tunes for
LEAVES_A_REST = 144 << 10  # blocks of two ranks that are a little longer than a slot (docs/decisions/0037)
LEAST_CELL = 0.01  # seconds of a cell in a launch
NO_TIME = "did not fit into the time"
RATE_BPS = 1e9  # bits per second of the links of the parts "rate"


@dataclass(frozen=True)
class Part:
    """`share`: of the time. `hosts`: of equally many ranks each. `shaping`: tc's words for what a host sends, None: as
    fast as the machine can."""

    name: str
    share: float
    ranks: int
    arms: tuple[str, ...]
    sizes: tuple[int, ...]
    collective: str = ALL_REDUCE
    hosts: int = 1
    shaping: str | None = None

    @property
    def host_of_ranks(self) -> list[int]:
        """By rank, the host that it runs on."""
        return [rank * self.hosts // self.ranks for rank in range(self.ranks)]


@dataclass(frozen=True)
class Choices:
    """What a person may choose. `budget`: seconds aimed at for all `parts`."""

    budget: float
    launches: int
    seed: int
    parts: Sequence[Part]

    def seconds(self, part: Part) -> float:
        """Returns what a part may take."""
        return self.budget * part.share / sum(one.share for one in self.parts)


def powers(first: int, last: int, step: int = 1) -> tuple[int, ...]:
    """Returns every `step`-th power of two of a range, ends included."""
    return tuple(1 << bit for bit in range(first.bit_length() - 1, last.bit_length(), step))


# The other collectives are held against the peers once, with a core a rank.
PARTS = (
    Part("native-2", 0.33, 2, (AUTO, SHARED, *PEERS), (*powers(8, 256 << 20), *ODD_SIZES)),
    Part("native-4", 0.15, 4, (AUTO, *PEERS), powers(8, 64 << 20, 2)),
    Part("native-16", 0.11, 16, (AUTO, *PEERS), powers(8, 1 << 20, 4)),
    Part("torch-2", 0.08, 2, (AUTO, "gloo"), powers(8, 256 << 20)),
    Part("torch-4", 0.05, 4, (AUTO, "gloo"), powers(8, 64 << 20, 2)),
    *(
        Part(f"native-2-{other}", 0.07, 2, (AUTO, *PEERS), (*powers(8, 32 << 20, 2), LEAVES_A_REST), other)
        for other in OTHERS
    ),
)
# The burst is what passes unshaped after a pause. With 64 KB, as much as one packet that the kernel cuts up late, plain
# sockets reached half of 1 Gbit/s when both directions were busy, with 256 KB 93 %: the bucket then lost what it was
# due, not the sender. That of the crossover is as small as tc allows with some room: a message that fits passes free.
_SHAPING = {RATE: "rate 1gbit burst 256kb latency 50ms", "crossover": "rate 200mbit burst 4kb latency 50ms"}
_SMALL, _LARGE, _TREES = (8, 1 << 10, 64 << 10), (1 << 20, 16 << 20), ("ring", "tree", "double_tree")
_TCP_PEERS = (AUTO, "openmpi4", "openmpi5")
HOST_PARTS = (
    *(
        Part(f"{kind}-{hosts}x{each}", share, hosts * each, arms, sizes, hosts=hosts, shaping=_SHAPING.get(kind))
        for kind, share, shapes, arms, sizes in (
            (NATIVE, 0.07, ((2, 1), (4, 1), (2, 2)), _TCP_PEERS, (*_SMALL, *_LARGE)),
            (TORCH, 0.08, ((2, 1), (4, 1), (2, 2)), (AUTO, "gloo"), (8, 64 << 10, *_LARGE)),
            (RATE, 0.07, ((2, 1), (4, 1)), ("ring", AUTO, "gloo"), _LARGE[1:]),
            ("crossover", 0.06, ((4, 1),), _TREES, powers(256, 512 << 10)),
            ("unshaped", 0.05, ((4, 1),), _TREES, powers(4 << 10, 4 << 20)),
        )
        for hosts, each in shapes
    ),
    *(
        Part(f"native-{hosts}x{each}-{other}", 0.0375, hosts * each, _TCP_PEERS, (*_SMALL, *_LARGE), other, hosts)
        for other in OTHERS
        for hosts, each in ((4, 1), (2, 2))
    ),
)


def parts_named(names: str) -> list[Part]:
    """Returns the parts that `names` lists. Raises UsageError."""
    known = {part.name: part for part in (*PARTS, *HOST_PARTS)}
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        raise UsageError(f"there is no part {unknown[0]!r}; choose from: {', '.join(known)}")
    return [known[name] for name in names.split(",")]


def plan_of(part: Part, choices: Choices) -> Plan:
    """Returns the plan of a part, with the sizes that its time allows: the largest are given up first, the smallest
    never. Raises UsageError if it can't run here."""
    free, native = available_memory(), part.name.startswith(NATIVE)
    fit = [size for size in sorted(part.sizes) if memory_needed(size, part.ranks, part.collective) <= free]
    plan = make_plan(
        Request(
            ranks=part.ranks,
            sizes=",".join(map(str, fit)),
            arms=",".join(part.arms),
            launches=choices.launches,
            seed=choices.seed,
            collective=part.collective,
            reference=part.arms[0],
            # What native arms are started by between hosts is across.py's, not the lab's.
            agents=None if native or part.hosts == 1 else part.host_of_ranks,
        )
    ).model_copy(update={"cell_budget": LEAST_CELL, "hosts": part.host_of_ranks if part.hosts > 1 else None})
    if all(arm.name.startswith(AUTO) for arm in plan.arms):
        raise UsageError(f"nothing to compare with: {'; '.join(plan.left_out.values())}")
    seconds, sizes = choices.seconds(part), list(plan.sizes)
    while len(sizes) > 1 and cost_of(plan.model_copy(update={"sizes": sizes})).seconds > seconds:
        sizes.pop()
    given_up = {format_size(size.size_bytes): NO_TIME for size in plan.sizes[len(sizes) :]}
    a_launch = seconds / choices.launches - start_of(plan)
    cell = max(LEAST_CELL, a_launch / (len(sizes) * len(plan.arms)))
    return plan.model_copy(update={"sizes": sizes, "cell_budget": cell, "left_out": {**plan.left_out, **given_up}})
