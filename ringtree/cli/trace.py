"""`ringtree trace -- COMMAND`: every collective that a training job issues, recorded in its ranks.

For: the options. Not for: the recording (ringtree.joblog), nor the inside of one call (`ringtree trace-run`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtree.cli.options import AsJson
from ringtree.cli.outcome import FAILED, exit_codes
from ringtree.joblog.picture import write_picture
from ringtree.joblog.reading import read_trace
from ringtree.joblog.reports import trace_report
from ringtree.joblog.running import run_traced
from ringtree.joblog.summary import summarise
from ringtree.joblog.timed_steps import DEFAULT_TIME_EVERY
from ringtree.show.cells import console_for_tables, say
from ringtree.show.job_trace_table import print_summary

PICTURE = "step.json"


def trace(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND...", help="The job's usual command. Without it, the trace in --out is printed again."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the trace; new or empty.")] = Path("job-trace"),
    optimizer_steps: Annotated[int, typer.Option(min=1, help="Calls of optimizer.step() in one training step.")] = 1,
    time_every: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Time one step in N; for the others, record only calls and bytes. Default: 10, or more on GPUs if "
            "timing would take over 1 % of the job.",
            show_default=str(DEFAULT_TIME_EVERY),
        ),
    ] = None,
    skip: Annotated[
        int | None,
        typer.Option(min=0, help="Number of initial steps to leave out of the table.", show_default="2, or fewer"),
    ] = None,
    json: AsJson = False,
) -> None:
    """Record every collective that a PyTorch job issues: sizes, times, and how much of it is exposed."""
    with exit_codes():
        code = run_traced(command, out, optimizer_steps, time_every) if command else 0
        found = read_trace(out)
        summary = summarise(found, skip)
        step = write_picture(out / PICTURE, found, summary)
        if json:
            typer.echo(trace_report(summary).model_dump_json(indent=1))
        else:
            console = console_for_tables()
            print_summary(console, summary)
            say(console, f"trace: {out}; step {step} as a timeline: {out / PICTURE}, for https://ui.perfetto.dev")
        if code:
            typer.echo(f"ringtree: the job failed with exit code {code}; the trace ends there", err=True)
            raise typer.Exit(FAILED)
