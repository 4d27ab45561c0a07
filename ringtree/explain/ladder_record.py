"""The shape of a ladder: what `ringtree explain --json` writes, and table and picture draw.

For: records only, so that their JSON schema can be published. Not for: filling them (ladder.py).

Sizes are bytes, times seconds a call, factors times: above 1 the change made a call faster. Every factor comes from
pairs inside launches, so the factors of neighbouring rungs multiply to about, not exactly, the ratio of the times.
"""

from __future__ import annotations

from pydantic import Field

from ringtree.judge.comparison import Interval, VerdictWord
from ringtree.results import Provenance, Record

LADDER_FORMAT = "ringtree.ladder/1"
TOO_FEW_ROUNDS = "too few rounds with the cores so"  # the one `why` of an arm that ran and was right


class Effect(Record):
    """Time before a change over time after it: geometric mean over launches, with the interval that `label` names."""

    factor: float = Field(gt=0)
    low: float | None = Field(description="None with a single launch")
    high: float | None
    coverage: float
    num_launches: int
    verdict: VerdictWord = Field(description="holds for all factors of the ladder together")
    label: str


class RungRecord(Record):
    """One rung at one size. `why`: the reason why nothing was measured, or what was wrong."""

    key: str
    title: str
    arm: str | None
    executed: str | None = Field(default=None, description="what the engine or the textbook ran")
    time: Interval | None = None
    below: str | None = Field(default=None, description="arm of the rung that it stands on")
    step: Effect | None = Field(default=None, description="time of the rung below over its time")
    aside: bool = Field(default=False, description="the next rung does not stand on it")
    why: str | None = None


class TakingRecord(Record):
    """The top with one thing taken away, alone. `why` as of a rung."""

    key: str
    title: str
    arm: str | None
    executed: str | None = None
    time: Interval | None = None
    worth: Effect | None = Field(default=None, description="time without it over time of the top")
    interaction: Effect | None = Field(
        default=None,
        description="factor of the rung of this key over `worth`; away from 1: it is worth what the others allow",
    )
    why: str | None = None


class PanelRecord(Record):
    """One size under one placement of the cores."""

    size_bytes: int
    placement: str = Field(description='"near", "far", …; "mixed": like for like over placements; "": only one')
    judged: bool = Field(description="false: too few launches for verdicts")
    rungs: list[RungRecord]
    takings: list[TakingRecord]
    total: Effect | None = Field(description="time of the lowest rung that was measured over time of the top")
    floor: float | None = Field(description="seconds below which no such call can be; None: not known")

    def entries(self) -> list[RungRecord | TakingRecord]:
        """Returns the rungs, and after them what was taken away."""
        return [*self.rungs, *self.takings]


class Ladder(Record):
    """A ladder as it may be shown."""

    format: str = LADDER_FORMAT
    run: str
    run_path: str
    pilot: str
    created_utc: str
    provenance: Provenance
    collective: str
    op: str
    dtype: str
    ladder: str = Field(default="python", description="which one: `ringtree explain --ladder`")
    top: str = Field(default="auto/shared", description="its last arm, from which one thing at a time is taken away")
    algorithm: str = Field(description="with which the ladder starts")
    num_ranks: int
    through: str = Field(description='boundary of every call: "torch", "numpy", "native" (C) or "cuda"')
    num_launches: int
    num_planned: int
    seed: int
    margin: float
    level: float
    floor_formula: str
    panels: list[PanelRecord]
    caveats: list[str]
