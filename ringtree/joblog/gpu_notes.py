"""What has to be said of a job's times on GPUs: which it lacks, and why.

For: lines for people; of kernels that could not be told apart, their totals. Not for: the times (summary.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict

from ringtree.joblog.call_times import runs_on_gpu
from ringtree.joblog.records import DeviceStepLine, JobTrace, KernelTotalLine
from ringtree.units import count, format_time


def gpu_notes(trace: JobTrace, counted: range | None) -> list[str]:
    """Returns notes on the steps that count; None: the whole run counts as one."""

    def counts(step: int) -> bool:
        return counted is None or step in counted

    calls = sum(counts(call.step) and runs_on_gpu(call, rank) for rank in trace.ranks for call in rank.calls)
    if not calls:
        return []
    whys = Counter(line.why for rank in trace.ranks for line in rank.not_timed if counts(line.step))
    notes = [f"not timed on the GPU, {count(num, 'step')} of ranks: {why}" for why, num in whys.most_common()]
    steps = [step for rank in trace.ranks for number, step in rank.device_steps.items() if counts(number)]
    if counted is None or not steps:
        why = "" if whys else _why_none(trace, counted)
        notes.insert(0, f"{count(calls, 'call')} on GPUs: counted, not timed{why}")
    return notes + _unsure(steps)


def _why_none(trace: JobTrace, counted: range | None) -> str:
    if trace.ranks[0].about.format == "ringtree.job-trace/1":
        return " (the trace is of an older ringtree, which could not)"
    if counted is None:
        return " (on GPUs whole steps are timed: tracer.mark_step() ends one)"
    return " (none of these steps was timed: trace more of them, or all with --time-every 1)"


def _unsure(steps: list[DeviceStepLine]) -> list[str]:
    """On steps in which not each kernel is a known call's, or not each call has its kernels."""
    unsure = [step for step in steps if step.kernels]
    if not unsure:
        return []
    lost = sorted({name for step in unsure for name in step.lost})
    unmatched = sum(step.unmatched for step in unsure)
    said = [f"not every {' and '.join(lost)} has kernels that are known for its own"] if lost else []
    if unmatched:
        said.append(f"{count(unmatched, 'kernel')} of collectives belong to no call (a CUDA graph, another library)")
    by_kind: dict[str, list[KernelTotalLine]] = defaultdict(list)
    for step in unsure:
        for kernels in step.kernels:
            by_kind[kernels.kernel].append(kernels)
    totals = [_total(name, of, len(unsure)) for name, of in sorted(by_kind.items())]
    return [f"{count(len(unsure), 'timed step')} of ranks: {'; '.join(said)}. By kind, a step: {'; '.join(totals)}"]


def _total(name: str, of: list[KernelTotalLine], num_steps: int) -> str:
    num = sum(one.num for one in of) / num_steps
    in_flight = format_time(sum(one.in_flight for one in of) / num_steps)
    exposed = format_time(sum(one.exposed for one in of) / num_steps)
    return f"{num:.4g} {name}, {in_flight} in flight, {exposed} exposed"
