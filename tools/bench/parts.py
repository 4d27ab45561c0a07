"""What `make bench` measures: the parts of a run, each a plan of `ringtree compare`, measured and stored as any other.

For: which arms at which sizes, what share of the time each part gets, and the run's directory filled part by part. Not
for: measuring (ringtree.measure), or what becomes of it (page.py).

Native C and through PyTorch are parts of their own, as each collective and number of ranks is. Where two ranks share a
core is part of the question, so all ranks get the same two cores.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.stored import ArmNote, Header, machine_name, part_path, relative, take_over, write_header
from ringtree.arms import kind_named, native_of
from ringtree.errors import RingtreeError, UsageError
from ringtree.measure.environment import allowed, available_memory
from ringtree.measure.estimate import cell_seconds, start_of
from ringtree.measure.plan import label_arms, memory_needed
from ringtree.measure.probe import usable_cores
from ringtree.measure.recording import ComparisonFailed, resume_comparison, run_comparison
from ringtree.measure.request import Request, make_plan
from ringtree.results import Plan
from ringtree.stats import least_launches
from ringtree.traits import BLOCKED
from ringtree.units import format_size

NATIVE, TORCH = "native", "torch"
ENGINE, GLOO = "auto", "gloo"
ALL_REDUCE = "all_reduce"
COLLECTIVES = (ALL_REDUCE, "reduce_scatter", "all_gather", "broadcast", "all_to_all")
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
ITEM_BYTES, SMALLEST, LARGEST = 4, 8, 256 << 20  # float32 throughout
ODD_SIZES = (1000, 12344, 100004, (3 << 20) + 4)  # that nobody tunes for
DEFAULT_BUDGET, SHORT_BUDGET = 40 * 60.0, 20 * 60.0  # below it there are only as many launches as a verdict needs
DEFAULT_LAUNCHES = 8
# One more than a single comparison needs: with six, where most peers are slower, the flip of all launches makes one of
# them look as fast as anything could, and a peer that is faster everywhere could not be told.
FAMILY_LAUNCHES = least_launches() + 1
LEAST_CELL, FLOOR_SHARE = 0.01, 0.75  # seconds of a cell in a launch; share of a launch for the fewest visits
NUM_CORES = 2
NO_TIME = "did not fit into the time"
UNDER_WAY = "under-way"


@dataclass(frozen=True)
class Part:
    """`share`: of the time; sizes are powers of two up to `largest`, every `step`-th, and `odd_sizes`."""

    kind: str
    num_ranks: int
    share: float
    largest: int
    step: int = 1
    odd_sizes: tuple[int, ...] = ()
    collective: str = ALL_REDUCE

    @property
    def name(self) -> str:
        """The part's folder, and how the page calls it: "native-2", of other collectives "native-2-broadcast"."""
        return f"{self.kind}-{self.num_ranks}" + ("" if self.collective == ALL_REDUCE else f"-{self.collective}")

    def sizes(self, largest: int) -> list[int]:
        """Returns the sizes up to `largest` for which there is an element in each block, and memory."""
        most, least = min(self.largest, largest), ITEM_BYTES * (self.num_ranks if self.collective in BLOCKED else 1)
        powers = [1 << i for i in range(SMALLEST.bit_length() - 1, most.bit_length())][:: self.step]
        free = available_memory()
        sizes = {size for size in (*powers, *self.odd_sizes) if least <= size <= most}
        return sorted(size for size in sizes if memory_needed(size, self.num_ranks, self.collective) <= free)


# The other collectives are held against the peers once, with a core a rank: every second power of two up to 32 MB.
PARTS = (
    Part(NATIVE, 2, 0.33, LARGEST, 1, ODD_SIZES),
    Part(NATIVE, 4, 0.15, 64 << 20),
    Part(NATIVE, 16, 0.11, 1 << 20, 4),
    Part(TORCH, 2, 0.08, LARGEST),
    Part(TORCH, 4, 0.05, 64 << 20, 2),
    *(Part(NATIVE, 2, 0.07, 32 << 20, 2, collective=other) for other in COLLECTIVES if other != ALL_REDUCE),
)


@dataclass(frozen=True)
class Choices:
    """What a person may choose. `arms`: peers, None for all; `largest`: bytes."""

    budget: float = DEFAULT_BUDGET
    num_launches: int | None = None
    seed: int = 1
    arms: Sequence[str] | None = None
    parts: Sequence[Part] = PARTS
    largest: int = LARGEST

    @property
    def launches(self) -> int:
        """Of each part: as chosen, else fewer for a short budget."""
        return self.num_launches or (DEFAULT_LAUNCHES if self.budget >= SHORT_BUDGET else FAMILY_LAUNCHES)


def plan_of(part: Part, choices: Choices, seconds: float) -> Plan:
    """Returns the plan of a part that may take `seconds`, the engine its reference. Raises UsageError."""
    peers = [GLOO] if part.kind == TORCH else list(PEERS if choices.arms is None else choices.arms)
    own = (
        [ENGINE]
        if part.kind == TORCH or part.collective != ALL_REDUCE or part.num_ranks != 2
        else [ENGINE, f"{ENGINE}/shared"]
    )
    request = Request(
        ranks=part.num_ranks,
        sizes=",".join(map(str, part.sizes(choices.largest))),
        arms=",".join([*own, *peers]),
        launches=choices.launches,
        seed=choices.seed,
        collective=part.collective,
        reference=ENGINE,
    )
    plan = make_plan(request)
    if len(plan.arms) == len(own):
        raise UsageError(f"{part.name}: nothing to compare with: {'; '.join(plan.left_out.values())}")
    a_launch = max(0.0, seconds / choices.launches - start_of(plan))
    plan = plan.model_copy(update={"cell_budget": LEAST_CELL, "time_budget": seconds})
    floors = {size.size_bytes: len(plan.arms) * cell_seconds(plan, size.size_bytes) for size in plan.sizes}
    kept = affordable(floors, a_launch)
    left_out = {**plan.left_out, **{format_size(size): NO_TIME for size in floors if size not in kept}}
    sizes = [size for size in plan.sizes if size.size_bytes in kept]
    cell = max(LEAST_CELL, a_launch / (len(sizes) * len(plan.arms)))
    return plan.model_copy(update={"sizes": sizes, "cell_budget": cell, "left_out": left_out})


def affordable(floors: Mapping[int, float], seconds: float) -> list[int]:
    """Returns the sizes that a launch of `seconds` can measure: the largest are given up first, the smallest never.

    `floors[size]`: seconds of the fewest visits at that size, all arms together.
    """
    sizes = sorted(floors)
    while len(sizes) > 1 and sum(floors[size] for size in sizes) > FLOOR_SHARE * seconds:
        sizes.pop()
    return sizes


def chosen_cores() -> list[int]:
    """Returns the cores for ranks, which are this process's from now on. Raises UsageError if there are too few."""
    cores = usable_cores()[:NUM_CORES]
    if len(cores) < NUM_CORES:
        raise UsageError(f"the bench needs {NUM_CORES} cores, and {len(cores)} may be used")
    os.sched_setaffinity(0, cores)
    return cores


def run(choices: Choices, directory: Path, root: Path, say: Callable[[str], None]) -> None:
    """Measures everything into `directory`; of a run that was interrupted what it lacks. Raises UsageError for what
    can't be done; KeyboardInterrupt says how to go on."""
    if not 0 < choices.budget < float("inf"):
        raise UsageError(f"--budget must be above 0, not {choices.budget:g} s")
    machine, cores = machine_name(len(usable_cores())), chosen_cores()
    whole = sum(part.share for part in choices.parts)
    plans: dict[str, Plan] = {}
    left_out: dict[str, str] = {}
    for part in choices.parts:
        try:
            plans[part.name] = plan_of(part, choices, choices.budget * part.share / whole)
            left_out.update(plans[part.name].left_out)
        except UsageError as error:
            left_out[part.name] = str(error)
    if not plans:
        raise UsageError(f"nothing is left to run: {'; '.join(left_out.values())}")
    header = Header(
        machine=machine,
        created_utc=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        budget=choices.budget,
        num_launches=choices.launches,
        seed=choices.seed,
        cores=cores,
        parts=[part.name for part in choices.parts],
        arms=_notes(plans, cores, root),
        left_out={name: relative(why, root) for name, why in left_out.items()},
    )
    write_header(directory, header)
    for name, plan in plans.items():
        if not part_path(directory, name).exists():
            say(f"{name}: about {plan.time_budget:.0f} s")
            _measure(plan, directory, name, root, say)


def _measure(plan: Plan, directory: Path, name: str, root: Path, say: Callable[[str], None]) -> None:
    """One part, to its end, or as far as it came."""
    runs = directory / UNDER_WAY / name
    begun = sorted(path for path in runs.glob("*") if path.is_dir())
    try:
        quietly = lambda launch, report: None  # noqa: E731
        stored = resume_comparison(begun[0], quietly) if begun else run_comparison(plan, runs, quietly)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"go on with the same options and --out {directory}") from None
    except (ComparisonFailed, RingtreeError) as failed:
        say(f"{name} is left out: {failed}")
        return
    take_over(stored, directory, name, root)
    shutil.rmtree(directory / UNDER_WAY)


def _notes(plans: Mapping[str, Plan], cores: Sequence[int], root: Path) -> list[ArmNote]:
    """How native arms are started with two ranks."""
    natives = [(plan, arm) for plan in plans.values() if plan.boundary == NATIVE for arm in plan.arms]
    notes = {}
    for plan, arm in natives:
        native = native_of(arm, plan.collective)
        command = native.program.command(2, Path("SOCKET"), cores)
        set_ = {**native.program.environment(), **arm.environment}
        environment = {name: relative(value, root) for name, value in allowed(set_).items()}
        notes[arm.label] = ArmNote(
            name=arm.label, command=[relative(word, root) for word in command], environment=environment
        )
    asked = {arm.label: arm.name for arm in label_arms([*PEERS])}
    missing = {label: why for label, name in asked.items() if label not in notes and (why := kind_named(name).lacks())}
    return [*notes.values(), *(ArmNote(name=label, missing=why) for label, why in missing.items())]
