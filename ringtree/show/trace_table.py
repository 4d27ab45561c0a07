"""The summary of a traced run for a terminal.

For: one table, what it is of, and what qualifies it. Not for: computing (ringtree.trace).
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from ringtree.results import EmulatedCluster
from ringtree.show.cells import plain_table, say
from ringtree.trace.summary import LinkLoad, TraceSummary
from ringtree.trace.traced_run import TracedRun
from ringtree.trace_events import VIEWERS
from ringtree.units import count, format_rate, format_share, format_size, format_time

# What is shown of the kinds of waits; those of the second group only where somebody waited for it.
_ALWAYS = {"message": "messages", "slot": "slots", "dependency": "dependencies"}
_SOMETIMES = {"wire": "under way", "card": "card", "readers": "readers"}


def print_run(console: Console, run: TracedRun, summary: TraceSummary, path: Path) -> None:
    """Prints what was traced, where the time of each rank went, the busiest link, and where the file is."""
    console.print(_title(run), style="bold", highlight=False, soft_wrap=True)
    for line in (_times(run), *_notes(run, summary)):
        say(console, line)
    if summary.ranks:
        console.print(_table(summary))
        console.print(
            "time of one call, mean: slice steps; idle, by what the next slice step waited for; the rest is polling\n"
            "and the engine itself. Idle ranks poll, then sleep: asleep is a part of idle",
            style="dim",
            highlight=False,
            soft_wrap=True,
        )
    for line in _links(run, summary):
        say(console, line)
    for line in file_lines(path, summary.num_events):
        say(console, line)


def file_lines(path: Path, num_events: int) -> tuple[str, ...]:
    """Returns where a timeline is and how to look at it."""
    return f"trace: {path} ({count(num_events, 'event')})", *VIEWERS


def _title(run: TracedRun) -> str:
    options = run.options
    executed = dict.fromkeys(f"{call.schedule.name}/{call.protocol}" for trace in run.traces for call in trace.calls)
    emulated = "" if options.emulation is None else f", emulated {_cluster(options.emulation)}"
    return (
        f"{options.collective} {options.dtype} of {format_size(options.size_bytes)}, "
        f"{count(options.num_ranks, 'rank')}, "
        f"{' and '.join(executed)}, {count(options.num_channels, 'channel')}{emulated}"
    )


def _cluster(emulation: EmulatedCluster) -> str:
    return (
        f"{emulation.hosts}x{emulation.ranks_per_host} ({format_time(emulation.alpha)}, {format_rate(emulation.beta)})"
    )


def _times(run: TracedRun) -> str:
    return (
        f"{count(run.options.num_calls, 'call')} traced: {format_time(run.traced)} a call; as many untraced before: "
        f"{format_time(run.untraced)} (medians, first rank's begin to last rank's end)"
    )


def _notes(run: TracedRun, summary: TraceSummary) -> list[str]:
    notes = []
    if not run.own_cores and run.options.emulation is None:
        notes.append("note: fewer cores than ranks: waits show the scheduler as well")
    if summary.num_lost:
        notes.append(
            f"note: {count(summary.num_lost, 'event')} did not fit and the oldest are lost; "
            f"{count(summary.num_left_out, 'call')} left out below: use more --events"
        )
    return notes


def _table(summary: TraceSummary) -> Table:
    kinds = dict(_ALWAYS)
    kinds |= {kind: name for kind, name in _SOMETIMES.items() if any(rank.idle[kind] > 0 for rank in summary.ranks)}
    table = plain_table(right=("rank",))
    for heading in ("call", "steps", *(f"idle: {name}" for name in kinds.values()), "rest", "asleep"):
        table.add_column(heading, justify="right")
    for rank in summary.ranks:
        spent = (rank.call, rank.steps, *(rank.idle[kind] for kind in kinds), rank.rest, rank.asleep)
        table.add_row(str(rank.rank), *(format_time(seconds) if seconds > 0 else "-" for seconds in spent))
    return table


def _links(run: TracedRun, summary: TraceSummary) -> list[str]:
    if not summary.links:
        return []
    busiest = summary.links[0]
    alike = sum(load.bytes == busiest.bytes for load in summary.links)
    lines = [
        f"busiest link: rank {busiest.sender} to rank {busiest.receiver}, {format_size(round(busiest.bytes))} in "
        f"{count(round(busiest.messages), 'message')} a call"
        + (f" (as much on {alike} of {len(summary.links)} links)" if alike > 1 else f" (of {len(summary.links)} links)")
    ]
    emulation = run.options.emulation
    if emulation is not None and emulation.hosts > 1:
        lines.append(_busiest_card(emulation, summary.links, run.traced))
    return lines


def _busiest_card(emulation: EmulatedCluster, links: tuple[LinkLoad, ...], seconds: float) -> str:
    sent = [0.0] * emulation.hosts
    for load in links:
        sender, receiver = load.sender // emulation.ranks_per_host, load.receiver // emulation.ranks_per_host
        sent[sender] += load.bytes if sender != receiver else 0.0
    host = max(range(emulation.hosts), key=lambda one: sent[one])
    busy = sent[host] / emulation.beta
    return (
        f"busiest network card: host {host} sends {format_size(round(sent[host]))} a call, for {format_time(busy)}, "
        f"{format_share(busy / seconds)} of it"
    )
