"""The RESULT: raw samples of a comparison and where they came from.

For: the shape of what is stored; every table, plot and verdict is a view of these records.
Not for: reading or writing files (store.py), computing anything from the samples (ringtree.stats).

Sizes are bytes and times are seconds. Records are immutable and refuse fields that they do not know; the format's
version is in `Run.format`, and store.py refuses a newer one by name.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

FORMAT_NAME = "ringtree.run"
FORMAT_VERSION = 1
FORMAT = f"{FORMAT_NAME}/{FORMAT_VERSION}"


class Record(BaseModel):
    """Base of all stored records: immutable, strict about unknown fields."""

    # JSON has no NaN: a wrong element may be one, so it is written as the string that reads back as NaN.
    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="strings")


class EmulatedCluster(Record):
    """The cluster whose links were emulated by slowing real ones."""

    hosts: int = Field(ge=1)
    ranks_per_host: int = Field(ge=1)
    alpha: float = Field(ge=0, description="latency between hosts, seconds")
    beta: float = Field(gt=0, description="bandwidth between hosts, bytes/s, of each host's NIC in each direction")


class ArmPlan(Record):
    """One configuration under comparison. `label` is unique in a run; two arms may share a `name`."""

    label: str
    name: str


class SizePlan(Record):
    """How one size is measured. Huge sizes get fewer launches and iterations, which the intervals then show."""

    size_bytes: int = Field(ge=0)
    num_launches: int = Field(ge=1)
    min_iterations: int = Field(ge=1)
    max_iterations: int = Field(ge=1)
    batch: int = Field(ge=1, description="calls timed together, each on its own buffer")


class Plan(Record):
    """What was to be run, fixed before the first launch."""

    collective: str
    op: str
    dtype: str
    num_ranks: int = Field(ge=1)
    arms: list[ArmPlan]
    reference: str = Field(description="label of the arm that the others are compared with")
    sizes: list[SizePlan]
    num_launches: int = Field(ge=1)
    seed: int
    cell_budget: float = Field(gt=0, description="time aimed at for the timed iterations of one cell, seconds")
    left_out: dict[str, str] = Field(default_factory=dict, description="what was asked for but can't run here -> why")
    emulation: EmulatedCluster | None = None
    preset: str | None = None

    @model_validator(mode="after")
    def _labels_are_unique(self) -> Plan:
        labels = [arm.label for arm in self.arms]
        if len(set(labels)) != len(labels):
            raise ValueError(f"arm labels must be unique, not {labels}")
        if self.reference not in labels:
            raise ValueError(f"the reference {self.reference!r} is none of the arms {labels}")
        return self


class Provenance(Record):
    """Machine, versions and command of a run. The environment holds allow-listed variables only."""

    host_name: str
    cpu_model: str
    num_cpus: int
    affinity: list[int]
    kernel: str
    memory_bytes: int
    load_average: list[float]
    versions: dict[str, str | None] = Field(description="python, ringtree, numpy, torch; None: not installed")
    git_commit: str | None
    command: list[str]
    environment: dict[str, str]
    emulated: bool = Field(description="true: links were slowed on purpose; no time here is the machine's own")


class Run(Record):
    """One run: its plan and provenance, written before the first launch."""

    format: str = FORMAT
    run_id: str
    created_utc: str
    plan: Plan
    provenance: Provenance


class WrongElement(Record):
    """The first element that differed from the exact result."""

    rank: int
    iteration: int
    call: int
    index: int
    expected: float
    found: float


class Cell(Record):
    """One arm at one size in one launch.

    `times[rank][iteration]` is the time of one batch of `batch` calls on that rank, seconds; a sample is the slowest
    rank's time of an iteration divided by `batch`. `verified` is true only if every element on every rank was right in
    every iteration. `error` says why there are no times.
    """

    arm: str
    size_bytes: int
    executed: dict[str, Any] | None = None
    batch: int = Field(ge=1)
    times: list[list[float]]
    verified: bool
    first_wrong: WrongElement | None = None
    error: str | None = None

    @model_validator(mode="after")
    def _ranks_agree(self) -> Cell:
        if len({len(row) for row in self.times}) > 1:
            raise ValueError("every rank must have timed the same number of iterations")
        if self.verified and (self.error is not None or self.first_wrong is not None or not self.times):
            raise ValueError("a cell with an error, a wrong element or no times is not verified")
        return self


class Launch(Record):
    """One fresh set of processes: the unit of replication. `order` is the order in which cells ran: (size, arm)."""

    launch: int = Field(ge=0)
    block: int = Field(ge=0)
    seed: int
    order: list[tuple[int, str]]
    pids: list[int]
    started_utc: str
    wall_seconds: float
    cells: list[Cell]
