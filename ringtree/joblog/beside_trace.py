"""A replay's exposed time beside the trace's: whether they meet, and what is likely where they don't.

For: the arm that the job ran with; other arms are expected to differ. Not for: replaying (replay.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ringtree.joblog.summary import Summary
from ringtree.units import count, format_time, format_time_range

if TYPE_CHECKING:  # a replay has these lines
    from ringtree.joblog.replay import ArmReplay

_LESS = "the job's ranks also wait for busy cores, for each other and for memory, which the replay does not have"
_MORE = "the replay's ranks were kept waiting by other load, or by each other, more than the job's were"


def exposed_by_step(summary: Summary) -> list[float]:
    """Returns the exposed seconds of each timed step, means over ranks, ascending."""
    by_step: dict[int, list[float]] = {}
    for one in summary.steps:
        if one.exposed is not None:
            by_step.setdefault(one.step, []).append(one.exposed)
    return sorted(sum(of) / len(of) for of in by_step.values())


def beside_trace(summary: Summary, arms: Sequence[ArmReplay], load: float, num_cores: int) -> str | None:
    """Returns a line where the exposed time of the job's own arm does not meet the trace's steps; None where it does,
    or where the job's backend is none of the arms. `load`: the machine's load average as the replay began."""
    backends = {row.kind.backend for row in summary.rows}
    own = next((arm for arm in arms if {arm.arm} == backends), None)
    traced = exposed_by_step(summary)
    if own is None or not traced or (own.exposed.low <= traced[-1] and traced[0] <= own.exposed.high):
        return None
    less = own.exposed.high < traced[0]
    interval = format_time_range(own.exposed.low, own.exposed.high)
    return (
        f"{own.arm} exposes {format_time(own.exposed.median)} ({interval}) here and "
        f"{format_time_range(traced[0], traced[-1])} in the trace: the two don't meet. Likely "
        f"{_LESS if less else _MORE}; load {load:.1f} on {count(num_cores, 'core')} as the replay began. Trace and "
        "replay while little else runs"
    )
