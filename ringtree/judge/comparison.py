"""The shape of what is said about a run: what `--json` prints and the table draws.

For: records only, so that their JSON schema can be published. Not for: filling them (summary.py, findings.py,
regression.py) or turning them into text (words.py, ringtree.show).

Sizes are bytes, times seconds, rates bytes/s. A row is a size under one placement of the cores; near and far are never
averaged together.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ringtree.results import ArmPlan, EmulatedCluster, FactorialDesign, Record, SimulatedCluster

SUMMARY_FORMAT = "ringtree.comparison/2"
# Placement of a row whose ratios are like for like, near against near and far against far, in one figure.
MIXED = "mixed"
VerdictWord = Literal["faster", "slower", "equivalent", "inconclusive"]


class Interval(Record):
    """Median over launches, seconds a call. `coverage`: what the interval really covers."""

    median: float
    low: float
    high: float
    coverage: float
    num_launches: int
    label: str


class Versus(Record):
    """Geometric mean over launches of time(arm) / time(reference); below 1 the arm is faster. Of an effect of factors:
    of the ratio that its contrast estimates.

    `low`, `high`: the interval that `label` names, of this ratio alone; None with a single launch. The verdict rests on
    the adjusted p values, which hold for all `num_comparisons` of the run together.
    """

    ratio: float = Field(gt=0)
    low: float | None
    high: float | None
    coverage: float
    num_launches: int = Field(ge=1)
    p_faster: float = Field(description="two-sided, adjusted for all comparisons: that it is faster beyond the margin")
    p_slower: float = Field(description="two-sided, adjusted for all comparisons: that it is slower beyond the margin")
    p_equivalent: float = Field(description="adjusted for all comparisons: that it lies within the margin")
    margin: float
    level: float
    num_comparisons: int
    verdict: VerdictWord
    outlook: Literal["decided", "estimated", "out of reach", "unknown"] = Field(
        description='if inconclusive, "estimated": launches_needed is the estimate; "out of reach": more than 1,000'
    )
    launches_needed: int | None = Field(default=None, description="about how many launches in all would decide it")
    label: str

    @model_validator(mode="after")
    def _holds_its_ratio(self) -> Versus:
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has both ends or none")
        if self.low is not None and self.high is not None and not self.low <= self.ratio <= self.high:
            raise ValueError(f"an interval holds its ratio: {self.low} <= {self.ratio} <= {self.high}")
        return self


class SizeRow(Record):
    """One size under one placement, and the visits that it rests on."""

    size_bytes: int
    placement: str = Field(description='"near", "far", …; "mixed": like for like over placements; "": only one')
    judged: bool = Field(
        description="false: too few launches for a verdict (a launch counts with at least 3 rounds there)"
    )
    shown: bool = Field(description="false: not in the table, as another placement of this size is judged")
    num_visits: int = Field(description="of all arms, under this placement")
    num_moved: int = Field(description="visits of this size that are in no row: the cores moved meanwhile")


class CellSummary(Record):
    """One arm in one row, over all launches. `algbw`, `busbw`: at the median time."""

    size_bytes: int
    placement: str
    arm: str
    verified: bool
    disqualified: str | None = None
    executed: list[str] = Field(
        default_factory=list,
        description="algorithms that were executed, over all launches; empty if the backend does not tell",
    )
    batch: int
    num_iterations: int = Field(description="timed iterations under this placement, over all launches")
    time: Interval | None = None
    algbw: float | None = None
    busbw: float | None = None
    limit: float | None = Field(default=None, description="no call can take less here, seconds; None: not known")
    share_of_limit: float | None = Field(default=None, description="limit / time; 1 is as fast as this machine can")
    versus_reference: Versus | None = None
    predicted: float | None = Field(
        default=None, description="seconds a call by the sliced recurrence; emulated clusters only"
    )


class FactorEffect(Record):
    """An effect of one factor, or an interaction of two, in one row: what it multiplies the time by.

    One factor: the time with its value over that with its first value, averaged (geometrically) over the settings of
    the others. Two: the root of this ratio with the other factor's value over this ratio with the other's first value.
    """

    size_bytes: int
    placement: str
    effect: str = Field(description='"A 1→2" of one factor, "A × B" of two')
    factors: list[str] = Field(description="variables: one, or two that interact")
    values: list[str] = Field(description="of each factor, held against its first value")
    aliases: list[str] = Field(description='what else it may be in a fraction; "−A × B": that, the other way round')
    versus_reference: Versus


class Crossover(Record):
    """Where `first` and `second` change places, under one placement.

    "crossing": `faster_below` is faster below `estimate`, the other one above it. "none": `faster_below` is faster at
    all `sizes`. "several": they cross more than once. "undecided": the launches do not tell.
    """

    first: str
    second: str
    placement: str
    kind: Literal["crossing", "none", "several", "undecided"]
    sizes: list[int]
    faster_below: str | None = None
    estimate: float | None = Field(default=None, description="bytes")
    low: float | None = Field(default=None, description="bytes")
    high: float | None = Field(default=None, description="bytes")
    low_open: bool = Field(default=False, description="the interval goes on below the smallest size")
    high_open: bool = Field(default=False, description="the interval goes on above the largest size")
    first_faster_at: list[int] = Field(default_factory=list, description="sizes at which it was shown")
    second_faster_at: list[int] = Field(default_factory=list, description="sizes at which it was shown")
    open_at: list[int] = Field(default_factory=list, description="sizes at which neither was shown to be faster")
    label: str = Field(description="what the interval is")


class Fastest(Record):
    """The arms of a row that no other arm was shown to beat."""

    size_bytes: int
    placement: str
    arms: list[str]


class Straggler(Record):
    """A rank that is slower than the others with this arm."""

    arm: str
    rank: int
    share_slowest: float = Field(description="share of the iterations in which it was the slowest")
    excess: float = Field(description="its time over that of the other ranks, minus 1")
    p: float


class Outlier(Record):
    """A launch whose time lies far from the others'. It is flagged, and kept in every figure."""

    arm: str
    size_bytes: int
    placement: str
    launch: int
    ratio: float = Field(description="its median over the median of all launches")


class Drift(Record):
    """An arm whose times moved in one direction from the first to the last launch."""

    arm: str
    change: float = Field(description="last over first time, minus 1")
    p: float


class Regressed(Record):
    """One cell against the same cell of an earlier run; a ratio above 1 is slower now."""

    size_bytes: int
    placement: str
    arm: str
    relative_to: str | None = Field(description="arm that both runs measured it against; None: plain times")
    ratio: float
    low: float | None
    high: float | None
    coverage: float
    p: float = Field(description="adjusted for all cells that were compared")
    verdict: Literal["slower", "not shown"]
    num_launches: int
    num_launches_baseline: int
    label: str = Field(description="what the interval is")


class Regression(Record):
    """A run against an earlier one, its baseline."""

    run: str
    baseline: str
    margin: float
    level: float
    cells: list[Regressed]
    caveats: list[str]
    regressed: bool

    @model_validator(mode="after")
    def _regressed_means_a_cell(self) -> Regression:
        if self.regressed != any(cell.verdict == "slower" for cell in self.cells):
            raise ValueError("a run has regressed if and only if one of its cells has")
        return self


class Comparison(Record):
    """A run as it may be shown."""

    format: str = SUMMARY_FORMAT
    run: str
    run_path: str
    collective: str
    op: str
    dtype: str
    num_ranks: int
    usable_cores: int
    num_launches: int = Field(description="blocks that ran: how often each arm was launched")
    num_planned: int = Field(description="blocks that were planned")
    seed: int
    margin: float
    level: float
    arms: list[ArmPlan]
    reference: str
    sizes: list[int]
    placements: list[str] = Field(description='classes that the probes of the run fall into; one: [""]')
    left_out: dict[str, str]
    emulated: EmulatedCluster | None
    simulated: SimulatedCluster | None = Field(default=None, description="null: every time was measured")
    preset: str | None
    rows: list[SizeRow]
    cells: list[CellSummary]
    design: FactorialDesign | None = Field(default=None, description="null: the arms are not an experiment on factors")
    effects: list[FactorEffect] = Field(default_factory=list, description="of the design's factors, row by row")
    crossovers: list[Crossover] = Field(default_factory=list)
    fastest: list[Fastest] = Field(default_factory=list, description="empty unless three or more arms competed")
    stragglers: list[Straggler] = Field(default_factory=list)
    outliers: list[Outlier] = Field(default_factory=list)
    drifts: list[Drift] = Field(default_factory=list)
    regression: Regression | None = None
    verdicts: list[str] = Field(default_factory=list, description="what may be said, in plain words")
    caveats: list[str] = Field(description="what qualifies every figure, to be read with them")
    notes: list[str]

    def find(self, size_bytes: int, arm: str, placement: str) -> CellSummary | None:
        """Returns the cell of `arm` (a label) in a row; None if the arm was not measured there."""
        wanted = (size_bytes, arm, placement)
        return next((cell for cell in self.cells if (cell.size_bytes, cell.arm, cell.placement) == wanted), None)

    def cell(self, size_bytes: int, arm: str, placement: str | None = None) -> CellSummary:
        """Returns the cell of `arm` (a label) at `size_bytes`, in the first row unless a placement is given.

        Raises KeyError if there is none.
        """
        for cell in self.cells:
            if (cell.size_bytes, cell.arm) == (size_bytes, arm) and placement in (None, cell.placement):
                return cell
        raise KeyError(f"{arm} was not measured at {size_bytes} bytes")

    def shown_rows(self) -> list[SizeRow]:
        """Returns the rows that belong into a table."""
        return [row for row in self.rows if row.shown]
