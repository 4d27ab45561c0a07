"""The RESULT: raw samples of a comparison and where they came from.

For: the shape of what is stored; every table, plot and verdict is a view of these records.
Not for: reading or writing files (store.py), computing anything from the samples (ringtree.stats).

Sizes are bytes and times are seconds. Records are immutable and refuse fields that they do not know; the format's
version is in `Run.format`, and store.py refuses a newer one by name.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from ringtree.results.record import Record
from ringtree.results.training import TrainedCell, TrainingPlan
from ringtree.stats.factorial import contrasts

FORMAT_NAME = "ringtree.run"
FORMAT_VERSION = 2
FORMAT = f"{FORMAT_NAME}/{FORMAT_VERSION}"

# What a timed call crosses, the thinnest first: nothing (C), Python with NumPy arrays, PyTorch with tensors. "cuda":
# Python puts the call on a stream, and the result lies on the GPU; "cuda_native": C does.
Boundary: TypeAlias = Literal["native", "numpy", "torch", "cuda", "cuda_native"]
ON_GPU: frozenset[Boundary | None] = frozenset(("cuda", "cuda_native"))


class EmulatedCluster(Record):
    """The cluster whose links were emulated by slowing real ones."""

    hosts: int = Field(ge=1)
    ranks_per_host: int = Field(ge=1)
    alpha: float = Field(ge=0, description="latency between hosts, seconds")
    beta: float = Field(gt=0, description="bandwidth between hosts, bytes/s, of each host's NIC in each direction")


class SimulatedCluster(Record):
    """The cluster on which a run was simulated: no time of such a run was measured, anywhere."""

    name: str
    hosts: int = Field(ge=1)
    ranks_per_host: int = Field(ge=1)
    what_if: list[str] = Field(default_factory=list, description="what was changed in the description, in words")
    description: str = Field(description="all of it, as TOML that `ringtree simulate --cluster` takes")

    @property
    def called(self) -> str:
        """The cluster in a few words, with what is different on it."""
        changed = f" with {', '.join(self.what_if)}" if self.what_if else ""
        return f"{self.hosts} × {self.ranks_per_host} ranks of {self.name}{changed}"


class ArmPlan(Record):
    """One configuration under comparison. `label` is unique in a run; two arms may share a `name`."""

    label: str
    name: str
    kind: str | None = Field(default=None, description="kind of arm that ran; null: the run is older than kinds")
    environment: dict[str, str] = Field(
        default_factory=dict, description="variables that its rank processes get; arms that differ here never share one"
    )


class Factor(Record):
    """A variable of the environment that a design sets. The first value is the one that the others are held against."""

    variable: str
    values: list[str] = Field(min_length=2)


class FactorialDesign(Record):
    """How the arms of a plan make up an experiment: each is one arm with one value of every factor.

    Which arms there are is the plan's; a fraction's aliases follow from them.
    """

    factors: list[Factor] = Field(min_length=1)
    fraction: Literal["full", "1/2", "1/4"] = Field(default="full", description="of all combinations of values")
    notes: list[str] = Field(default=[], description="what qualifies the factors, known before the first launch")

    def levels(self, arm: ArmPlan) -> tuple[int, ...]:
        """Returns the place of each factor's value in the arm. Raises ValueError if the arm lacks a factor."""
        return tuple(factor.values.index(arm.environment.get(factor.variable, "")) for factor in self.factors)


class SizePlan(Record):
    """How one size is measured. Huge sizes get fewer launches, rounds and iterations, which the intervals then show."""

    size_bytes: int = Field(ge=0)
    num_launches: int = Field(ge=1, description="blocks in which this size takes part, the first ones of the plan")
    max_rounds: int = Field(ge=1, description="rounds of a launch in which each arm is visited, at most")
    max_iterations: int = Field(ge=1, description="timed iterations of one visit, at most")
    batch: int = Field(ge=1, description="calls timed together, each on its own buffer")


class Plan(Record):
    """What was to be run, fixed before the first launch."""

    collective: str
    op: str
    dtype: str
    num_ranks: int = Field(ge=1)
    arms: list[ArmPlan]
    boundary: Boundary | None = Field(
        default=None, description="by which every arm is called; null: the run is older than this"
    )
    reference: str = Field(description="label of the arm that the others are compared with")
    sizes: list[SizePlan]
    num_launches: int = Field(ge=1, description="blocks: how often each arm is launched")
    seed: int
    cell_budget: float = Field(
        gt=0, description="time aimed at for all visits of one arm at one size in a launch, seconds"
    )
    margin: float = Field(default=0.02, ge=0, lt=1, description="a difference below this share counts as none")
    level: float = Field(default=0.95, gt=0.5, lt=1, description="of intervals; 1 - level is the family-wise error")
    time_budget: float | None = Field(default=None, description="seconds that the user gave for the whole comparison")
    purpose: Literal["comparison", "pilot"] = Field(
        default="comparison", description="a pilot plans the launches of a comparison and is not evidence"
    )
    pilot: str | None = Field(default=None, description="run whose launches decided where this plan spends its time")
    left_out: dict[str, str] = Field(default_factory=dict, description="what was asked for but can't run here -> why")
    emulation: EmulatedCluster | None = None
    simulation: SimulatedCluster | None = Field(default=None, description="null: the run was measured")
    hosts: list[int] | None = Field(
        default=None, description="by rank, the number of its host, counted by their first ranks; null: one host"
    )
    by_agents: bool = Field(
        default=False, description="the processes of a launcher start the ranks, of one environment at a time"
    )
    preset: str | None = None
    native_launcher: list[str] = Field(
        default_factory=list, description="words that start the ranks of an MPI library; none: ringtree's own choice"
    )
    design: FactorialDesign | None = Field(default=None, description="null: the arms are not an experiment on factors")
    training: TrainingPlan | None = Field(
        default=None, description="null: a collective is timed; else a training's steps are, each size is a model's"
    )

    @property
    def workloads(self) -> list[tuple[int, int]]:
        """Returns what has launches of its own: (place of the size, ranks); of a training each model on each number of
        ranks, else all sizes together, which is one with place -1."""
        if self.training is None:
            return [(-1, self.num_ranks)]
        return [(model, ranks) for model in range(len(self.sizes)) for ranks in self.training.world_sizes]

    @model_validator(mode="before")
    @classmethod
    def _without_launcher(cls, given: Any) -> Any:
        """Runs of before 2026-11-23 name a launcher, which `--dry-run` printed and nothing else used: read over."""
        return {name: given[name] for name in given if name != "launcher"} if isinstance(given, dict) else given

    @model_validator(mode="after")
    def _labels_are_unique(self) -> Plan:
        labels = [arm.label for arm in self.arms]
        if len(set(labels)) != len(labels):
            raise ValueError(f"arm labels must be unique, not {labels}")
        if self.reference not in labels:
            raise ValueError(f"the reference {self.reference!r} is not one of the arms {labels}")
        return self

    @model_validator(mode="after")
    def _arms_are_those_of_the_design(self) -> Plan:
        if self.design is not None:
            levels = [self.design.levels(arm) for arm in self.arms]
            if len(set(levels)) != len(levels):
                raise ValueError("no two arms of a design have the same values of all factors")
            contrasts(np.array(levels))  # raises for arms that can't tell the factors' effects
        return self


class CopyRate(Record):
    """What copying reached: every core that ranks can use copies `size_bytes` at the same time."""

    size_bytes: int
    bytes_per_second: float = Field(gt=0, description="of one core, bytes copied (read once, written once)")


class MachineLimits(Record):
    """What the machine was probed to do at best, before the first launch; the floor under every time."""

    num_copying: int = Field(ge=1, description="cores that copied at the same time")
    copy_rates: list[CopyRate]
    handoff: float | None = Field(description="one cache line from core to core, one way, seconds; None: one core only")


class Launcher(Record):
    """What started the processes of a run, where it was not the lab itself."""

    name: str
    job: str | None = Field(description="its id, as the launcher gives it")
    num_processes: int = Field(ge=1, description="each starts as many ranks of every launch")
    hosts: list[str] = Field(description="names, in the order of their first ranks")


class Provenance(Record):
    """Machine, versions and command of a run. The environment holds allow-listed variables only."""

    host_name: str
    cpu_model: str
    num_cpus: int
    affinity: list[int]
    kernel: str
    memory_bytes: int
    load_average: list[float]
    governor: str | None = Field(
        default=None, description="of cpufreq; None: not readable, as in most virtual machines"
    )
    cgroup_cpus: float | None = Field(default=None, description="cores' worth of time that the cgroup allows")
    virtual: bool | None = Field(default=None, description="true in a virtual machine; None: not known")
    gpus: list[str] = Field(default_factory=list, description="names of this host's; empty: the run used none")
    versions: dict[str, str | None] = Field(
        description="python, ringtree, numpy, torch, on GPUs nccl and cuda (the driver's); None: not installed"
    )
    git_commit: str | None
    command: list[str]
    environment: dict[str, str]
    emulated: bool = Field(description="true: links were slowed on purpose; no time here is the machine's own")
    launcher: Launcher | None = Field(default=None, description="null: the lab started all processes, on one host")


class Preflight(Record):
    """What one launch of the reference arm against itself said about the noise before the run.

    `scatter[size]` is the expected standard deviation of a launch's log ratio, from its rounds; launches differ more
    than that, so `detectable` is what the planned launches could tell at best.
    """

    arm: str
    scatter: dict[int, float]
    detectable: float = Field(gt=0, description="smallest difference that would be told 4 times in 5, as a share")
    asked: float = Field(gt=0, description="difference that the comparison was to be able to tell, as a share")
    wall_seconds: float


class Run(Record):
    """One run: its plan and provenance, written before the first launch."""

    format: str = FORMAT
    run_id: str
    created_utc: str
    plan: Plan
    provenance: Provenance
    limits: MachineLimits | None = None
    preflight: Preflight | None = None


class WrongElement(Record):
    """The first element that differed from the exact result."""

    rank: int
    iteration: int
    call: int
    index: int
    expected: float
    found: float


class Visit(Record):
    """One stay of a launch at one cell: a few timed iterations in a row. In a round every arm of a size is visited."""

    round: int = Field(ge=0)
    position: int = Field(ge=0, description="place in the order of all visits of the launch")
    num_iterations: int = Field(ge=1)
    handoff: tuple[float, float] | None = Field(
        default=None, description="core to core, one way, seconds, probed right before and after; None: not probed"
    )


class WarmUp(Record):
    """How the untimed start of a cell ended: its times no longer fell ("stable"), or the limit was reached."""

    num_iterations: int = Field(ge=0)
    ended: Literal["stable", "limit"]


class Cell(Record):
    """One arm at one size in one launch.

    `times[rank][iteration]` is the time of one batch of `batch` calls on that rank, seconds; a sample is the slowest
    rank's time of an iteration divided by `batch`. Iterations are in the order of `visits`, which say how many belong
    to each. `verified` is true only if every element on every rank was right in every iteration. `error` says why there
    are not times.
    """

    arm: str
    size_bytes: int
    executed: dict[str, Any] | None = None
    batch: int = Field(ge=1)
    times: list[list[float]]
    visits: list[Visit]
    warm_up: WarmUp | None = None
    verified: bool
    first_wrong: WrongElement | None = None
    error: str | None = None
    device_times: list[list[float]] = Field(
        default=[], description="as times, between two events around the batch on the GPU's stream; empty: no GPU"
    )
    trained: TrainedCell | None = Field(default=None, description="null: not a training")

    @model_validator(mode="after")
    def _ranks_agree(self) -> Cell:
        if len({len(row) for row in self.times}) > 1:
            raise ValueError("every rank must have timed the same number of iterations")
        if sum(visit.num_iterations for visit in self.visits) != (len(self.times[0]) if self.times else 0):
            raise ValueError("the visits must account for every iteration")
        if self.verified and (self.error is not None or self.first_wrong is not None or not self.times):
            raise ValueError("a cell with an error, a wrong element or no times is not verified")
        return self


class Launch(Record):
    """One fresh set of processes: the unit of replication.

    `launch` numbers the plan's launches in the order in which they are to run. Arms are paired by `block`: a block has
    one launch for all arms that can share processes, and further ones for arms that need their own environment.
    """

    launch: int = Field(ge=0)
    block: int = Field(ge=0)
    arms: list[str] = Field(description="labels of the arms that ran in it")
    workload: int = Field(default=0, ge=0, description="place among the plan's workloads: of a training only")
    seed: int = Field(description="of the data and of the order of visits")
    pids: list[int]
    started_utc: str
    wall_seconds: float
    load_average: float = Field(description="over one minute, when the launch started")
    stolen: float | None = Field(
        default=None, description="share of CPU time that the hypervisor took during the launch"
    )
    cells: list[Cell]
