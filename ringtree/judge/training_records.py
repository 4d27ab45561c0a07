"""The shape of what is said about a training run: what `ringtree train --json` prints and the table draws.

For: records only, so that their JSON schema can be published. Not for: filling them (training.py), or text
(training_words.py).

Times are seconds, rates tokens/s. An Interval's figures are of launches' medians.
"""

from __future__ import annotations

from pydantic import Field

from ringtree.judge.comparison import Interval, Versus
from ringtree.results import ArmPlan, CalledCollective, Record, TrainingPlan

TRAINING_FORMAT = "ringtree.training/1"


class StepParts(Record):
    """Where a step's time goes, means over the steps of all launches; the four add up to `step` exactly.

    `input`: fetching tokens, the ranks' mean. `compute`: of the same step without communication, the ranks' mean, less
    the input. What the step takes beyond that mean is `imbalance` and `exposed`, below 0 where noise is larger. Where
    steps of the arm were recorded (`recorded`) they share it as the ranks' idle time did there: waiting for the slowest
    rank, and communication, `by_collective`. Elsewhere imbalance is what the slowest rank takes beyond the mean without
    communication, the same for all arms.
    """

    step: float
    input: float
    compute: float
    imbalance: float
    exposed: float
    recorded: bool = False
    by_collective: dict[str, float] = Field(default={}, description="add up to exposed; empty: not known")


class TimelineSpan(Record):
    """What a rank did: "input", "compute", "waiting" for the slowest rank, "exposed <collective>"."""

    what: str
    begin: float
    end: float


class TimelineCall(Record):
    """A collective in flight."""

    collective: str
    size_bytes: int
    begin: float
    end: float


class StepTimeline(Record):
    """Rank 0's recorded step of the launch whose is the median one, to the slowest rank's end; it was not timed."""

    seconds: float
    spans: list[TimelineSpan] = Field(description="one after the other, without gaps")
    calls: list[TimelineCall]


class TrainingCellSummary(Record):
    """One arm on one model and number of ranks. What can't be said is null."""

    model: str
    num_ranks: int
    arm: str
    disqualified: str | None = None
    num_launches: int = 0
    step: Interval | None = None
    tokens_per_second: float | None = Field(default=None, description="of all ranks; its interval is that of the step")
    tokens_per_second_a_rank: float | None = None
    exposed: Interval | None = Field(default=None, description="step less the same step, in its round, without any "
                                                               "communication")  # fmt: skip
    efficiency: float | None = Field(
        default=None, description="tokens/s/rank over those of the arm on the smallest number of ranks"
    )
    parts: StepParts | None = None
    timeline: StepTimeline | None = Field(default=None, description="null: not recorded, as on GPUs")
    collectives: list[CalledCollective] = Field(default=[], description="of a step of rank 0; empty: not known")
    peak_bytes: int | None = Field(default=None, description="the largest of all ranks; on a CPU of all arms together")
    versus_reference: Versus | None = None


class TrainingSummary(Record):
    """A run of `ringtree train`."""

    format: str = TRAINING_FORMAT
    run: str
    run_path: str
    training: TrainingPlan
    dtype: str
    arms: list[ArmPlan] = Field(description="without the one that does not communicate")
    reference: str
    margin: float
    level: float
    num_launches: int = Field(description="blocks with at least one launch")
    num_planned: int
    cells: list[TrainingCellSummary]
    verdicts: list[str]
    caveats: list[str]
    notes: list[str]

    def find(self, model: str, num_ranks: int, arm: str) -> TrainingCellSummary | None:
        """Returns a cell; None: not measured."""
        wanted = (model, num_ranks, arm)
        return next((cell for cell in self.cells if (cell.model, cell.num_ranks, cell.arm) == wanted), None)
