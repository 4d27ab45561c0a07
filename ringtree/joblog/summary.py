"""What a job trace adds up to: collectives by size, a step at a time, and the share of the step that each has exposed.

For: means over the ranks and steps that count. Not for: printing (ringtree.show.job_trace_table), what of it a setting
could change (worth.py).

The first steps don't count (DDP lays its buckets anew after one; memory, caches and connections are warmed up), nor
does what follows the last step. A job without an optimizer step is one step, from its first collective to its end.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ringtree.errors import UsageError
from ringtree.joblog.call_times import CallSpan, runs_on_gpu, spans_of
from ringtree.joblog.gpu_notes import gpu_notes
from ringtree.joblog.records import CallLine, JobTrace, RankRecord
from ringtree.joblog.sizes import size_of_call
from ringtree.units import count

SKIPPED = 2  # steps, where that leaves at least one


class Kind(NamedTuple):
    """What calls have in common that make one row."""

    collective: str
    size_bytes: int
    dtype: str
    group_size: int
    backend: str
    device: str


@dataclass(frozen=True)
class Row:
    """Calls of one kind, a step: means over ranks and steps, times over the steps that were timed. None: not timed."""

    kind: Kind
    calls: float
    bytes: float
    call_time: float | None  # median of a call's begin to end
    step_time: float | None  # sum over the step's calls, which may overlap
    exposed: float | None
    share: float | None  # of the step


@dataclass(frozen=True)
class StepOfRank:
    """One counted step of one rank."""

    rank: int
    step: int
    begin: float
    end: float
    exposed: float | None  # None: not timed


@dataclass(frozen=True)
class Summary:
    """A trace, summed up. `whole_run`: no step was seen, the run counts as one. `timed_time`: of the steps that were
    timed, which takes a little longer than the others; None: there are none. `num_timed`: steps that a rank or more
    timed, as on GPUs each rank chooses by its own clock."""

    rows: list[Row]
    steps: list[StepOfRank]
    num_ranks: int
    first_step: int
    last_step: int
    whole_run: bool
    step_time: float
    timed_time: float | None
    num_timed: int
    exposed: float | None
    notes: list[str]

    @property
    def share(self) -> float | None:
        """Share of the step that all collectives together have exposed."""
        return None if self.exposed is None or not self.timed_time else self.exposed / self.timed_time


def summarise(trace: JobTrace, skip: int | None = None) -> Summary:
    """Sums a trace up without the first `skip` steps. Raises UsageError if that leaves none."""
    notes = list(trace.notes)
    common = min(len(rank.steps) for rank in trace.ranks)
    whole_run = common == 0
    if whole_run:
        notes.append("no optimizer step was seen: the whole run counts as one step")
        first, last = 0, 0
    else:
        if skip is None:
            skip = min(SKIPPED, common - 1)
        if skip >= common:
            raise UsageError(f"--skip {skip} leaves none of {count(common, 'step')}")
        first, last = skip, common - 1
    counted = range(first, last + 1)
    per_rank = [_of_rank(rank, None if whole_run else counted) for rank in trace.ranks]
    steps = [step for found, _ in per_rank for step in found]
    on_gpus = gpu_notes(trace, None if whole_run else counted)
    notes += on_gpus
    mean = statistics.fmean(step.end - step.begin for step in steps)
    timed = [(step.end - step.begin, step.exposed) for step in steps if step.exposed is not None]
    timed_time = statistics.fmean(seconds for seconds, _ in timed) if timed else None
    exposed = statistics.fmean(idle for _, idle in timed) if timed else None
    if not timed and not on_gpus:
        notes.append("none of these steps was timed: trace more of them, or all (--time-every 1)")
    lost = {
        name
        for rank in trace.ranks
        for number, step in rank.device_steps.items()
        if number in counted
        for name in step.lost
    }
    rows = _rows([row for _, rows in per_rank for row in rows], len(steps), len(timed), timed_time, lost)
    num_timed = len({step.step for step in steps if step.exposed is not None})
    return Summary(rows, steps, len(trace.ranks), first, last, whole_run, mean, timed_time, num_timed, exposed, notes)


def median_step(trace: JobTrace, summary: Summary) -> int:
    """The number of the counted step that has the median length on the first rank; of those that were timed, if any."""
    of_first = [one for one in summary.steps if one.rank == trace.ranks[0].about.rank]
    first = [one for one in of_first if one.exposed is not None] or of_first
    return sorted(first, key=lambda one: one.end - one.begin)[len(first) // 2].step


class _Call(NamedTuple):
    kind: Kind
    seconds: float | None
    exposed: float | None
    in_timed: bool  # its step is one of those over which times are means


def _of_rank(rank: RankRecord, counted: range | None) -> tuple[list[StepOfRank], list[_Call]]:
    spans = spans_of(rank)
    if counted is None:
        steps = [_whole_run(rank, spans)]
        return steps, [_call(call, rank, spans, steps[0].exposed is not None) for call in rank.calls]
    calls = [call for call in rank.calls if call.step in counted]
    by_step: dict[int, list[CallLine]] = defaultdict(list)
    for call in calls:
        by_step[call.step].append(call)
    lines = {line.step: line for line in rank.steps}
    steps = []
    for step in counted:
        line = lines[step]
        exposed = _exposed(rank, step, by_step[step], spans) if line.timed else None
        steps.append(StepOfRank(rank.about.rank, step, line.begin, line.end, exposed))
    timed = {one.step for one in steps if one.exposed is not None}
    return steps, [_call(call, rank, spans, call.step in timed) for call in calls]


def _call(call: CallLine, rank: RankRecord, spans: dict[int, CallSpan], in_timed: bool) -> _Call:
    span = spans.get(call.call)
    seconds, exposed = (None, None) if span is None else (span.in_flight, span.exposed)
    return _Call(kind_of(call, rank), seconds, exposed, in_timed)


def _whole_run(rank: RankRecord, spans: dict[int, CallSpan]) -> StepOfRank:
    begins = [call.begin for call in rank.calls]
    ends = [call.end for call in rank.calls if call.end is not None]
    begin = min(begins, default=0.0)
    end = rank.end.end if rank.end is not None else max(ends, default=begin)
    return StepOfRank(rank.about.rank, 0, begin, end, _exposed(rank, None, rank.calls, spans))


def _exposed(rank: RankRecord, step: int | None, calls: Sequence[CallLine], spans: dict[int, CallSpan]) -> float | None:
    """None if a GPU's are among them, in a step that was not recorded there; a call of a timed step that never ended
    counts as nothing."""
    on_gpu = None if step is None else rank.device_steps.get(step)
    if on_gpu is None and any(runs_on_gpu(call, rank) for call in calls):
        return None
    on_cpu = [spans[call.call].exposed or 0.0 for call in calls if call.device == "cpu" and call.call in spans]
    return sum(on_cpu) + (0.0 if on_gpu is None else on_gpu.exposed)


def kind_of(call: CallLine, rank: RankRecord) -> Kind:
    """The row to which a call belongs."""
    group = rank.groups[call.group]
    size = size_of_call(call.collective, call.in_bytes, call.out_bytes, group.size)
    return Kind(call.collective, size, call.dtype, group.size, group.backend, call.device)


def _rows(
    calls: Sequence[_Call], num_steps: int, num_timed: int, timed_time: float | None, lost: Collection[str]
) -> list[Row]:
    """`lost`: collectives whose times on GPUs are not all known, and so none of a row's."""
    by_kind: dict[Kind, list[_Call]] = defaultdict(list)
    for call in calls:
        by_kind[call.kind].append(call)
    rows = []
    for kind, found in by_kind.items():
        known = [] if kind.device != "cpu" and kind.collective in lost else found
        each = [call.seconds for call in known if call.seconds is not None]
        # Of a step whose part on the GPU is not known the host may have timed others: they are in no mean step.
        seconds = [call.seconds for call in known if call.seconds is not None and call.in_timed]
        exposed = [call.exposed for call in known if call.exposed is not None and call.in_timed]
        a_step = sum(exposed) / num_timed if exposed and num_timed else None
        rows.append(
            Row(
                kind,
                len(found) / num_steps,
                kind.size_bytes * len(found) / num_steps,
                statistics.median(each) if each else None,
                sum(seconds) / num_timed if seconds and num_timed else None,
                a_step,
                None if a_step is None or not timed_time else a_step / timed_time,
            )
        )
    return sorted(rows, key=lambda row: (-(row.exposed or 0.0), -row.bytes, row.kind))
