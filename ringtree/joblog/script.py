"""One step of a traced job as a script: for how long a rank computes, what it issues, and for which calls it waits.

For: the step of median length, rank by rank, from the two clocks of the trace. Not for: playing it
(ringtree.measure.replayed_steps).

Between two neighbouring readings of the trace a rank computed for as long as its CPU time advanced. It waits for a call
where the trace shows it: its threads stood still for more than half of the time before the oldest call under way was
over. What no reading shows is waited for at the end of the step. Time with neither computing nor a call under way
(input, no core) is left out, so a replayed step is shorter by it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringtree.errors import UsageError
from ringtree.joblog.records import CallLine, JobTrace, RankRecord, StepLine
from ringtree.joblog.summary import Summary, kind_of, median_step
from ringtree.measure.collective_data import SHAPES
from ringtree.units import count

Action = tuple[str, float]  # compute seconds; issue, wait: the number of a call in the step
_STANDS_STILL = 0.5


@dataclass(frozen=True)
class ScriptedCall:
    """A call of the step, the same on all ranks."""

    collective: str
    size_bytes: int
    dtype: str


@dataclass(frozen=True)
class Script:
    """`actions`: by rank. `left_out`: barriers."""

    step: int
    calls: list[ScriptedCall]
    actions: list[list[Action]]
    left_out: int


def make_script(trace: JobTrace, summary: Summary) -> Script:
    """Returns the script of the step of median length. Raises UsageError for a job that can't be replayed, which says
    why: without steps, on GPUs, in groups of some ranks, ranks that call different things, or are missing."""
    world_size = trace.ranks[0].about.world_size
    if summary.whole_run:
        raise UsageError(
            "the trace has no step: replay needs a job with an optimizer, or ringtree.joblog.tracer.mark_step()"
        )
    if len(trace.ranks) != world_size:
        raise UsageError(f"the trace has {len(trace.ranks)} of {count(world_size, 'rank')}: replay needs all of them")
    step = median_step(trace, summary)
    by_rank = [[call for call in rank.calls if call.step == step] for rank in trace.ranks]
    kept = [[call for call in calls if call.collective != "barrier"] for calls in by_rank]
    said = [[_scripted(call, rank) for call in calls] for calls, rank in zip(kept, trace.ranks, strict=True)]
    different = next((rank for rank, calls in enumerate(said) if calls != said[0]), None)
    if different is not None:
        raise UsageError(f"ranks 0 and {different} issue different collectives in step {step}: replay can't pair them")
    if not any(line.step == step and line.timed for line in trace.ranks[0].steps):
        raise UsageError("none of the counted steps was timed: trace more of them, or all (--time-every 1)")
    if not said[0]:
        raise UsageError(f"step {step} has no collective to replay")
    lines = [next(line for line in rank.steps if line.step == step) for rank in trace.ranks]
    actions = [actions_of(calls, line) for calls, line in zip(kept, lines, strict=True)]
    return Script(step, said[0], actions, len(by_rank[0]) - len(kept[0]))


def actions_of(calls: list[CallLine], step: StepLine) -> list[Action]:
    """What one rank does in the step."""
    readings = [(step.end, step.ran_end, -1, False)]
    for number, call in enumerate(calls):
        readings.append((call.begin, call.ran_begin, number, True))
        if call.end is not None and call.ran_end is not None and call.end < step.end:
            readings.append((call.end, call.ran_end, number, False))
    readings.sort(key=lambda reading: (reading[0], not reading[3]))
    actions: list[Action] = []
    under_way: dict[int, None] = {}
    waited: set[int] = set()
    before, ran_before, computed = step.begin, step.ran_begin, 0.0
    for now, ran, number, begins in readings:
        wall = max(0.0, now - before)
        ran_now = min(max(0.0, ran - ran_before), wall)
        computed += ran_now
        oldest = next(iter(under_way), None)
        if begins:
            actions += [("compute", computed), ("issue", number)]
            computed = 0.0
            under_way[number] = None
        elif number >= 0:
            if number == oldest and wall - ran_now > _STANDS_STILL * wall:
                actions += [("compute", computed), ("wait", number)]
                computed = 0.0
                waited.add(number)
            under_way.pop(number, None)
        before, ran_before = now, ran
    actions.append(("compute", computed))
    actions += [("wait", number) for number in range(len(calls)) if number not in waited]
    return [action for action in actions if action[0] != "compute" or action[1] > 0]


def _scripted(call: CallLine, rank: RankRecord) -> ScriptedCall:
    kind = kind_of(call, rank)
    if kind.device != "cpu":
        raise UsageError("the trace is of a job on GPUs, and a replay computes on CPUs: it can't be replayed")
    if kind.collective not in SHAPES:
        raise UsageError(f"replay can't run {kind.collective}; it can run: {', '.join(SHAPES)}")
    if kind.group_size != rank.about.world_size:
        raise UsageError(
            f"the job has {kind.collective} in groups of {kind.group_size} of {rank.about.world_size} ranks: replay "
            "runs collectives of all ranks only"
        )
    return ScriptedCall(kind.collective, kind.size_bytes, kind.dtype)
