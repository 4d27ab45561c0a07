"""What a setting could change in a job at all, before a GPU is booked: per arm, from the job's trace.

For: does the algorithm that an arm forces exist for each collective of the trace, what happens where it does not, and
how much of the step is at stake: all exposed time of the collectives that can change, which no setting can exceed. Not
for: what it would gain (gain.py, from a benchmark), nor finding it out by training.

What NCCL makes of a setting, release by release, is ringtree.nccl's; PyTorch's barrier is an all-reduce of NCCL there,
and its gather, scatter and all_to_all go point to point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ringtree.arms import kind_named
from ringtree.arms.nccl_name import ALGO, HEAD, PROTO
from ringtree.errors import UsageError
from ringtree.joblog.summary import Row, Summary
from ringtree.measure.plan import label_arms
from ringtree.nccl import library_support, read
from ringtree.nccl.names import KERNELS, POINT_TO_POINT, algorithm_name
from ringtree.nccl.releases import release
from ringtree.nccl.support import Outcome
from ringtree.results import ArmPlan

TO_NCCL = {"send": "send_recv", "recv": "send_recv", "barrier": "all_reduce"}
# changes: the collective may run otherwise than now. The others are those of NCCL's table, "alone": a group of one.
Effect = Literal["changes", "falls_back", "error", "ignored", "unknown", "same", "alone", "missing"]
_EFFECTS: dict[Outcome, Effect] = {
    "runs": "changes",
    "falls_back": "falls_back",
    "error": "error",
    "ignored": "ignored",
    "unknown": "unknown",
}


@dataclass(frozen=True)
class RowWorth:
    """What an arm does to one row of the trace."""

    row: Row
    effect: Effect
    explanation: str


@dataclass(frozen=True)
class ArmWorth:
    """What an arm could change: bytes a step, and the exposed time of these calls, seconds and share of the step.

    `refusal`: why no communicator can be made at all. `bound` is None where the trace has no times of them.
    """

    arm: ArmPlan
    rows: list[RowWorth]
    bytes: float
    bound: float | None
    share: float | None
    refusal: str | None

    @property
    def errors(self) -> list[RowWorth]:
        return [each for each in self.rows if each.effect == "error"]


def worth(summary: Summary, arms: Sequence[str], nccl_version: str | None) -> list[ArmWorth]:
    """Returns what each arm could change in the job. Raises UsageError for an arm that does not exist, and where one of
    NCCL's is asked about without a version."""
    planned = label_arms(arms)
    for arm in planned:
        kind = kind_named(arm.name)
        if HEAD in kind.heads and nccl_version is None:
            raise UsageError("which NCCL would the job run with? Set --nccl-version, e.g. 2.27.3")
    if nccl_version is not None and release(nccl_version) is None:
        raise UsageError(f"invalid version of NCCL {nccl_version!r}; write it as 2.21.5")
    return [_arm_worth(summary, arm, nccl_version or "") for arm in planned]


def _arm_worth(summary: Summary, arm: ArmPlan, nccl_version: str) -> ArmWorth:
    refusal = None
    if arm.name.partition(":")[0].partition("/")[0].partition("+")[0] == HEAD:
        refusal = _refusal(arm, nccl_version)
        rows = [_on_nccl(row, arm, nccl_version) for row in summary.rows]
    else:
        rows = [_elsewhere(row, arm) for row in summary.rows]
    can = [each.row for each in rows if each.effect in ("changes", "unknown")]
    timed = all(row.exposed is not None for row in can)
    bound = sum(row.exposed or 0.0 for row in can) if timed else None
    share = None if bound is None or not summary.timed_time else bound / summary.timed_time
    return ArmWorth(arm, rows, sum(row.bytes for row in can), bound, share, refusal)


def _refusal(arm: ArmPlan, nccl_version: str) -> str | None:
    for variable in (ALGO, PROTO):
        value = arm.environment.get(variable)
        refused = read(variable, value, None, nccl_version).refusal if value else None
        if refused is not None:
            return f"NCCL {nccl_version} refuses {variable}={value}: {refused}"
    return None


def _on_nccl(row: Row, arm: ArmPlan, nccl_version: str) -> RowWorth:
    collective = TO_NCCL.get(row.kind.collective, row.kind.collective)
    if row.kind.group_size == 1:
        return RowWorth(row, "alone", "a group of one rank: nothing is sent")
    algorithms, protocols = (arm.environment.get(variable) for variable in (ALGO, PROTO))
    if algorithms is None and protocols is None:
        if row.kind.backend == HEAD and not arm.environment:
            return RowWorth(row, "same", "as NCCL chooses now")
        return RowWorth(row, "changes", "nothing is known to prevent it")
    if collective in KERNELS[POINT_TO_POINT]:
        return RowWorth(row, "ignored", library_support(collective, "Ring", None, nccl_version).explanation)
    left = _left(algorithms, collective, nccl_version) if algorithms else ("Ring", "Tree", "NVLS", "PAT")
    allowed = read(PROTO, protocols, collective, nccl_version).left if protocols else (None,)
    found = [library_support(collective, name, proto, nccl_version) for name in left for proto in allowed or (None,)]
    for outcome in ("runs", "unknown"):
        each = next((one for one in found if one.outcome == outcome), None)
        if each is not None:
            return RowWorth(row, _EFFECTS[each.outcome], each.explanation)
    if not found:
        return RowWorth(
            row, "unknown", f"NCCL {nccl_version} knows nothing of {algorithms} that {collective} could use"
        )
    return RowWorth(row, _EFFECTS[found[0].outcome], found[0].explanation)


def _left(algorithms: str, collective: str, nccl_version: str) -> tuple[str, ...]:
    """What NCCL_ALGO leaves the collective or, where that is nothing, what it asks for and this release lacks."""
    reading = read(ALGO, algorithms, collective, nccl_version)
    lacking = (algorithm_name(word) for word in reading.passed_over)
    return reading.left or tuple(name for name in lacking if name is not None)


def _elsewhere(row: Row, arm: ArmPlan) -> RowWorth:
    """Another library, or this one's engine: every collective that it has may take another time."""
    kind = kind_named(arm.name)
    if row.kind.group_size == 1:
        return RowWorth(row, "alone", "a group of one rank: nothing is sent")
    if arm.name == row.kind.backend and not arm.environment:
        return RowWorth(row, "same", f"{arm.label} is what the job used")
    collective = row.kind.collective
    if collective in kind.collectives and kind.accepts(arm.name, collective):
        return RowWorth(row, "changes", f"{arm.label} has {collective}")
    return RowWorth(row, "missing", f"{arm.label} has no {collective}")
