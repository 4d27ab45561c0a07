"""A replayed step by arm, for a terminal.

For: the table, and the replay's exposed time beside the trace's. Not for: replaying (ringtree.joblog.replay).
"""

from __future__ import annotations

from rich.console import Console

from ringtree.joblog.beside_trace import exposed_by_step
from ringtree.joblog.replay import Replay
from ringtree.joblog.script import Script
from ringtree.joblog.summary import Summary
from ringtree.show.cells import cell, plain_table, say
from ringtree.units import count, format_change, format_change_range, format_time, format_time_range


def print_replay(console: Console, summary: Summary, script: Script, found: Replay) -> None:
    """Prints step and exposed time by arm, and how the replay compares with the traced step."""
    calls, ranks = count(len(script.calls), "call"), count(len(script.actions), "rank")
    say(console, f"step {script.step} of the trace, {calls} on {ranks}; {count(found.num_launches, 'launch')}")
    table = plain_table("arm", right=("step", "exposed", f"step vs {found.reference}", "verdict"))
    for arm in found.arms:
        versus = arm.versus
        if versus is None:
            change, verdict = "-", "reference"
        elif versus.low is None or versus.high is None:
            change, verdict = format_change(versus.ratio), versus.verdict
        else:
            ends = format_change_range(versus.low, versus.high)
            change, verdict = f"{format_change(versus.ratio)} ({ends})", versus.verdict
        exposed = f"{format_time(arm.exposed.median)} ({format_time_range(arm.exposed.low, arm.exposed.high)})"
        table.add_row(*map(cell, (arm.arm, format_time(arm.step.median), exposed, change, verdict)))
    console.print(table)
    say(console, "medians over launches; exposed: mean over ranks of the time spent waiting; in brackets, intervals")
    if summary.exposed is not None:
        means = exposed_by_step(summary)
        say(
            console,
            f"in the trace: {format_time(summary.timed_time or 0.0)} a step, exposed {format_time(summary.exposed)} "
            f"({format_time_range(means[0], means[-1])} over {count(len(means), 'timed step')})",
        )
    if script.left_out:
        say(console, f"note: {count(script.left_out, 'barrier')} of the step left out")
    for note in found.notes:
        say(console, f"note: {note}")
    for arm_label, why in found.disqualified.items():
        say(console, f"{arm_label}: disqualified: {why}")
