"""What `ringtree trace`, `worth` and `replay` print with --json.

For: records, so that their JSON schema can be published, and filling them. Not for: computing (summary.py, worth.py,
gain.py, replay.py), nor the lines of a trace itself (records.py).

Times are seconds, sizes bytes; what can't be said is null.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from ringtree.joblog.gain import Gain
from ringtree.joblog.replay import Replay
from ringtree.joblog.script import Script
from ringtree.joblog.summary import Row, Summary
from ringtree.joblog.worth import ArmWorth
from ringtree.judge.comparison import Interval, Versus
from ringtree.results import Record

TRACE_FORMAT, WORTH_FORMAT, REPLAY_FORMAT = "ringtree.trace/1", "ringtree.worth/1", "ringtree.replay/1"


class TracedRow(Record):
    """Calls of one kind: means a step, over ranks and steps; times over the steps that were timed."""

    collective: str
    size_bytes: int = Field(description="of a call, as nccl-tests counts it")
    dtype: str
    group_size: int
    backend: str
    device: str
    calls: float
    bytes: float = Field(description="of all calls of the step")
    call_time: float | None = Field(description="median of a call, from begin to end")
    step_time: float | None = Field(description="sum over the step's calls, which may overlap")
    exposed: float | None
    share: float | None = Field(description="of the step")


class TraceReport(Record):
    """A job trace, summed up. `timed_time`: of the steps that were timed."""

    format: str = TRACE_FORMAT
    num_ranks: int
    first_step: int
    last_step: int
    whole_run: bool = Field(description="no step was seen, the run counts as one")
    step_time: float
    timed_time: float | None
    num_timed: int = Field(description="steps that a rank or more timed")
    exposed: float | None
    share: float | None = Field(description="of the step, that all collectives together have exposed")
    rows: list[TracedRow]
    notes: list[str]


class WorthRow(Record):
    """What an arm does to one row of the trace."""

    collective: str
    size_bytes: int
    group_size: int
    effect: str
    explanation: str


class WorthArm(Record):
    """What an arm could change: bytes a step and the exposed time of these calls, which no setting can exceed."""

    arm: str
    bytes: float
    bound: float | None
    share: float | None = Field(description="of the step")
    refusal: str | None = Field(description="why no communicator can be made at all")
    rows: list[WorthRow]


class PredictedStep(Record):
    """Step time with an arm over that of now, by a benchmark. `covered`: share of the exposed time that it measured."""

    arm: str
    step: Versus
    covered: float


class WorthReport(Record):
    """What settings could change in a traced job."""

    format: str = WORTH_FORMAT
    nccl_version: str | None
    trace: TraceReport
    arms: list[WorthArm]
    predicted: list[PredictedStep]
    notes: list[str] = Field(description="what the predictions rest on")
    against: list[str] = Field(default=[], description="the predictions held against a training, line by line")


class ReplayedArm(Record):
    """An arm's step and how long ranks waited in it, over launches. `versus`: null for the reference."""

    arm: str
    step: Interval
    exposed: Interval
    versus: Versus | None


class ReplayReport(Record):
    """A traced step, replayed."""

    format: str = REPLAY_FORMAT
    trace: TraceReport
    step: int = Field(description="of the trace")
    num_calls: int
    num_left_out: int = Field(description="barriers")
    num_launches: int
    reference: str
    arms: list[ReplayedArm]
    disqualified: dict[str, str]
    notes: list[str] = Field(default=[], description="what the replay does otherwise than the job")


def trace_report(summary: Summary) -> TraceReport:
    """Returns the record of a summary."""
    return TraceReport.from_fields_of(summary, rows=[_row(row) for row in summary.rows], share=summary.share)


def worth_report(
    summary: Summary,
    arms: Sequence[ArmWorth],
    nccl_version: str | None,
    predicted: tuple[list[Gain], list[str]] | None,
    against: list[str],
) -> WorthReport:
    """Returns the record of what arms could change; `predicted`: as predict() returns it, `against`: as
    against_training() does."""
    gains, notes = predicted or ([], [])
    return WorthReport(
        nccl_version=nccl_version,
        trace=trace_report(summary),
        arms=[_arm(one) for one in arms],
        predicted=[PredictedStep(arm=gain.arm, step=gain.step, covered=gain.covered) for gain in gains],
        notes=notes,
        against=against,
    )


def replay_report(summary: Summary, script: Script, found: Replay) -> ReplayReport:
    """Returns the record of a replay."""
    arms = [
        ReplayedArm(
            arm=one.arm,
            step=Interval.from_fields_of(one.step),
            exposed=Interval.from_fields_of(one.exposed),
            versus=one.versus,
        )
        for one in found.arms
    ]
    return ReplayReport.from_fields_of(
        found,
        arms=arms,
        trace=trace_report(summary),
        step=script.step,
        num_calls=len(script.calls),
        num_left_out=script.left_out,
        notes=found.notes,
    )


def _row(row: Row) -> TracedRow:
    return TracedRow.from_fields_of(row, **row.kind._asdict())


def _arm(one: ArmWorth) -> WorthArm:
    rows = [
        WorthRow(
            collective=each.row.kind.collective,
            size_bytes=each.row.kind.size_bytes,
            group_size=each.row.kind.group_size,
            effect=each.effect,
            explanation=each.explanation,
        )
        for each in one.rows
    ]
    return WorthArm.from_fields_of(one, arm=one.arm.label, rows=rows)
