"""What a training adds to RESULT: the models, how they are trained, and what each step of an arm gave besides its time.

For: records only; a run of `ringtree train` is a Run like any other. Not for: planning or running one (ringtree.train).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ringtree.results.record import Record

NOT_KNOWN = "not known"  # as `executed["backend"]` of a script's cell: no rank told which backend it used


class TrainedModel(Record):
    """A model that is built from its configuration, with random weights; or a user's own script."""

    name: str
    parameters: int = Field(ge=0, description="0: not known, as of a script")
    layers: int = Field(default=0, ge=0)
    width: int = Field(default=0, ge=0, description="of the hidden state")
    vocabulary: int = Field(default=0, ge=0)
    configuration: dict[str, Any] = Field(default={}, description="as transformers reads it, model_type among it")


class TrainingPlan(Record):
    """How the models are trained: the same for all arms."""

    models: list[TrainedModel] = Field(min_length=1)
    world_sizes: list[int] = Field(min_length=1, description="ascending")
    strategy: Literal["ddp", "fsdp1", "fsdp2", "script"] = "ddp"
    sharding: Literal["full", "grad_op", "hybrid"] = Field(default="full", description="of FSDP")
    precision: Literal["float32", "bf16"] = "float32"
    experts: Literal["replicated", "parallel"] = Field(
        default="replicated", description="parallel: spread over ranks, tokens travel by all_to_all"
    )
    checkpointing: bool = Field(default=False, description="of activations")
    accumulate: int = Field(default=1, ge=1, description="batches of a step")
    batch: int = Field(default=1, ge=1, description="sequences of a rank")
    sequence: int = Field(default=512, ge=1, description="tokens; a script counts its own, 1")
    tokens: str | None = Field(default=None, description="file whose bytes are the tokens; null: made up")
    learning_rate: float = Field(default=0.1, gt=0)
    num_warm_up: int = Field(default=5, ge=1, description="steps before the first that counts")
    command: list[str] = Field(default=[], description="a user's script")
    script_sha256: str | None = Field(default=None, description="of the script's file, null: the command names none")
    metric: str | None = Field(default=None, description="regular expression that finds tokens/s in its output")
    price: float | None = Field(default=None, ge=0, description="of a rank-hour, in whatever currency")
    transformers: str | None = Field(default=None, description="version of what builds the models; null: a script")
    alone: str | None = Field(default=None, description="label of the arm that does not communicate; null: none")

    @property
    def tokens_per_step(self) -> int:
        """Returns the tokens of one rank in a step."""
        return self.accumulate * self.batch * self.sequence


class CalledCollective(Record):
    """What a rank calls in a step: `size_bytes` of all `calls` together, as nccl-tests counts a size."""

    collective: str
    calls: int
    size_bytes: int


class RecordedCall(Record):
    """A collective of a recorded step; times are seconds since the step's begin on this rank."""

    collective: str
    group: str = Field(description="torch.distributed's name of the group, the same on its ranks")
    group_size: int
    size_bytes: int = Field(description="as nccl-tests counts it")
    begin: float
    end: float | None = Field(description="null: it was not seen to end")
    exposed: list[tuple[float, float]] = Field(description="when the rank's threads computed nothing because of it")


class RecordedStep(Record):
    """One rank's step that was looked at and not timed, from when all ranks were let go."""

    seconds: float
    input_seconds: float = 0.0
    calls: list[RecordedCall] = Field(description="in the order of their begin")


class TrainedSteps(Record):
    """What one rank's steps gave besides their times. `losses`, `input_seconds`: one a step."""

    losses: list[float] = Field(default=[])
    input_seconds: list[float] = Field(default=[])
    peak_bytes: int = Field(default=0, description="of this rank's memory so far; 0: not known")
    collectives: list[CalledCollective] = Field(default=[], description="of the last step, if they were counted")
    recorded: RecordedStep | None = Field(default=None, description="the last step, if it was recorded")


class TrainedCell(Record):
    """The steps of one arm in a launch, warm-up included. `losses[rank][step]`: of the rank's own tokens."""

    losses: list[list[float]] = Field(default=[])
    input_seconds: list[list[float]] = Field(default=[], description="by rank, of each timed step: fetching its tokens")
    peak_bytes: list[int] = Field(default=[], description="by rank; on a CPU of the process, which hosts all arms")
    collectives: list[CalledCollective] = Field(default=[], description="of rank 0, in the last step of the warm-up")
    recorded: list[RecordedStep | None] = Field(
        default=[], description="by rank, the last step of the warm-up; empty: not recorded, as on GPUs"
    )
