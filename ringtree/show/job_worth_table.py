"""What settings could change in a job, for a terminal.

For: a sentence and a table an arm, and the predicted gains. Not for: computing (ringtree.joblog.worth, gain).
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ringtree.arms.nccl_name import ALGO
from ringtree.joblog.gain import Gain
from ringtree.joblog.summary import Summary
from ringtree.joblog.worth import TO_NCCL, ArmWorth, Effect
from ringtree.nccl.names import algorithm_name
from ringtree.nccl.support import first_release_with_any_error
from ringtree.show.cells import cell, plain_table, say
from ringtree.units import format_change, format_change_range, format_share, format_size, format_time

_WORDS: dict[Effect, str] = {
    "changes": "can change",
    "falls_back": "falls back, unchanged",
    "error": "ERROR",
    "ignored": "ignored",
    "unknown": "not known",
    "same": "as now",
    "alone": "one rank",
    "missing": "not in this library",
}


def print_worth(console: Console, summary: Summary, found: Sequence[ArmWorth], nccl_version: str | None) -> None:
    """Prints what the job calls, a verdict an arm, and what happens to each collective."""
    say(console, bytes_line(summary))
    for each in found:
        say(console, verdict(summary, each))
    arms = [each.arm.label for each in found]
    table = plain_table("collective", right=("size", "calls a step", "exposed"))
    for label in arms:
        table.add_column(label, no_wrap=True)
    for index, row in enumerate(summary.rows):
        exposed = "-" if row.exposed is None else format_time(row.exposed)
        effects = (_WORDS[each.rows[index].effect] for each in found)
        texts = (row.kind.collective, format_size(row.kind.size_bytes), f"{row.calls:.4g}", exposed, *effects)
        table.add_row(*map(cell, texts))
    console.print(table)
    reasons = {(each.arm.label, one.explanation): None for each in found for one in each.rows if _tells(one.effect)}
    for label, reason in reasons:
        say(console, f"{label}: {reason}")
    backends = sorted({row.kind.backend for row in summary.rows})
    if nccl_version is not None and backends != ["nccl"]:
        say(console, f"note: times are those of {', '.join(backends)}, with which the job was traced, not of NCCL")
    for note in summary.notes:
        say(console, f"note: {note}")


def print_gains(console: Console, gains: Sequence[Gain], notes: Sequence[str]) -> None:
    """Prints the predicted change of the step by arm."""
    say(console, "predicted step time against now, from the benchmark's launches:")
    for gain in gains:
        step = gain.step
        bounded = step.low is not None and step.high is not None
        ends = f"{format_change_range(step.low or 0.0, step.high or 0.0)}, " if bounded else ""
        of = f"measured: {format_share(gain.covered)} of the exposed time"
        say(console, f"  {gain.arm}: {format_change(step.ratio)} ({ends}{step.label}; {of})")
    for note in notes:
        say(console, f"note: {note}")


def bytes_line(summary: Summary) -> str:
    """What the job moves a step, by collective: an all-reduce is named also where there is none."""
    of: dict[str, float] = {"all_reduce": 0.0}
    for row in summary.rows:
        of[row.kind.collective] = of.get(row.kind.collective, 0.0) + row.bytes
    said = ", ".join(f"{format_size(round(size))} of {name}" for name, size in of.items())
    sharded = not of["all_reduce"] and of.get("all_gather") and of.get("reduce_scatter")
    return f"a step: {said}" + (" (as FSDP FULL_SHARD)" if sharded else "")


def verdict(summary: Summary, each: ArmWorth) -> str:
    """One sentence: whether the arm can change the job, by how much at most, and whether it runs at all."""
    label, forced = each.arm.label, each.arm.environment.get(ALGO)
    at_stake = format_size(round(each.bytes))
    if each.refusal is not None:
        return f"{label}: cannot run: {each.refusal}"
    if each.errors:
        named = sorted({one.row.kind.collective for one in each.errors})
        ends = f"{_since(named, forced) or 'it ends in an error'} ({', '.join(named)})"
        if each.bytes:
            return f"{label}: could change {at_stake} a step, but {ends}"
        of = "" if forced is None else f"0 bytes a step of what {forced} can run; "
        return f"{label}: {of}{forced or label} cannot change this job; {ends}"
    if not each.bytes:
        if all(one.effect in ("same", "alone") for one in each.rows):
            return f"{label}: what the job uses now"
        later = _since(sorted({one.row.kind.collective for one in each.rows if one.effect == "falls_back"}), forced)
        return f"{label}: cannot change this job: no collective uses it" + (f"; {later}" if later else "")
    can = "can change" if any(one.effect == "changes" for one in each.rows) else "may change (not known)"
    if each.bound is None or each.share is None:
        return f"{label}: {can} {at_stake} a step; the trace has no times to bound the gain by"
    return (
        f"{label}: {can} {at_stake} a step; gains at most {format_time(each.bound)} of "
        f"{format_time(summary.timed_time or summary.step_time)}, {format_share(each.share)} of the step: "
        "all that these calls have exposed"
    )


def _since(collectives: Sequence[str], algorithm: str | None) -> str | None:
    if algorithm is None or algorithm_name(algorithm) is None:  # a list is read by each release in its own way
        return None
    asked = [(TO_NCCL.get(collective, collective), algorithm, None) for collective in collectives]
    since = first_release_with_any_error(asked)
    return None if since is None else f"on {since} and later it ends in an error"


def _tells(effect: Effect) -> bool:
    return effect in ("error", "falls_back", "ignored", "unknown", "missing")
