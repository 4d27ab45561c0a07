"""A job trace for a terminal: the step, the table of collectives, and how much of the step is exposed.

For: one table and what qualifies it. Not for: computing (ringtree.joblog.summary).
"""

from __future__ import annotations

from rich.console import Console

from ringtree.joblog.summary import Row, Summary
from ringtree.show.cells import cell, plain_table, say
from ringtree.units import count, format_share, format_size, format_time

_IDLE = {False: "its rank's threads computed nothing", True: "nothing else ran on its rank's GPU"}
HEADINGS = (
    "collective", "size", "dtype", "ranks", "calls", "bytes", "a call", "in flight", "exposed", "share of step",
)  # fmt: skip


def print_summary(console: Console, summary: Summary) -> None:
    """Prints the table, the share of the step that is exposed, and notes."""
    first, *others = trace_lines(summary)
    say(console, first)
    table = plain_table(HEADINGS[0], right=HEADINGS[1:])
    for row in summary.rows:
        table.add_row(*(cell(text) for text in row_texts(row)))
    console.print(table)
    for line in others:
        say(console, line)


def explained(summary: Summary) -> list[str]:
    """Returns what the table's columns are, in lines for a terminal; a page makes one of them."""
    idle = " and ".join(_IDLE[on_gpu] for on_gpu in sorted({row.kind.device != "cpu" for row in summary.rows}))
    lines = [
        "a step, mean over ranks and steps (times: over timed steps); a call: median. In flight: sum of the calls,",
        f"which may overlap. Exposed: while it was in flight, {idle or _IDLE[False]}.",
    ]
    if any(row.kind.device != "cpu" and row.call_time is not None for row in summary.rows):
        lines.append(
            "On GPUs a call is in flight while its kernels run, which also wait in there for ranks that are late."
        )
    return lines


def trace_lines(summary: Summary) -> list[str]:
    """Returns what stands above the table, then what stands below it."""
    if summary.whole_run:
        lines = [f"{count(summary.num_ranks, 'rank')}, the whole run: {format_time(summary.step_time)}"]
    else:
        counted = summary.last_step - summary.first_step + 1
        skipped = f" (the first {summary.first_step} left out)" if summary.first_step else ""
        lines = [
            f"{count(summary.num_ranks, 'rank')}, {count(counted, 'step')}{skipped}: "
            f"{format_time(summary.step_time)} a step{_timed(summary)}"
        ]
    lines += explained(summary)
    if summary.exposed is not None and summary.share is not None:
        per_step = [one.exposed / (one.end - one.begin) for one in summary.steps if one.exposed is not None]
        lines.append(
            f"exposed in all: {format_time(summary.exposed)} a step, {format_share(summary.share)} of it "
            f"({format_share(min(per_step))} to {format_share(max(per_step))} over steps and ranks)"
        )
    return [*lines, *(f"note: {note}" for note in summary.notes)]


def _timed(summary: Summary) -> str:
    if summary.timed_time is None or all(one.exposed is not None for one in summary.steps):
        return ""
    return f", {format_time(summary.timed_time)} in the {summary.num_timed} that were timed"


def row_texts(row: Row) -> tuple[str, ...]:
    """Returns a row, in the order of HEADINGS."""
    kind = row.kind
    times = (row.call_time, row.step_time, row.exposed)
    return (
        f"{kind.collective} ({kind.backend})",
        format_size(kind.size_bytes),
        kind.dtype or "-",
        str(kind.group_size),
        f"{row.calls:.4g}",
        format_size(round(row.bytes)),
        *("-" if seconds is None else format_time(seconds) for seconds in times),
        "-" if row.share is None else format_share(row.share),
    )
