"""`ringtree replay TRACE`: a traced job's step without its model, with other arms.

For: the options. Not for: replaying (ringtree.joblog), nor what a setting could change at all (`ringtree worth`).
"""

from __future__ import annotations

from typing import Annotated

import typer

from ringtree.cli.options import AsJson, JobTrace, SkipSteps
from ringtree.cli.outcome import exit_codes
from ringtree.joblog.reading import read_trace
from ringtree.joblog.replay import replay as replay_script
from ringtree.joblog.reports import replay_report
from ringtree.joblog.script import make_script
from ringtree.joblog.summary import summarise
from ringtree.show.cells import console_for_tables
from ringtree.show.job_replay_table import print_replay


def replay(
    trace: JobTrace,
    arms: Annotated[str, typer.Option(help="CPU arms, named as in compare; the first is the reference.")],
    launches: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of launches, each a fresh set of processes.")
    ] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Seed for the order of arms and the checked data.")] = 0,
    skip: SkipSteps = None,
    json: AsJson = False,
) -> None:
    """Replay a step of a traced job without its model: same compute time, same collectives, other arms."""
    with exit_codes():
        found = read_trace(trace)
        summary = summarise(found, skip)
        script = make_script(found, summary)
        names = [name.strip() for name in arms.split(",") if name.strip()]
        replayed = replay_script(summary, script, names, launches, seed)
        if json:
            typer.echo(replay_report(summary, script, replayed).model_dump_json(indent=1))
        else:
            print_replay(console_for_tables(), summary, script, replayed)
