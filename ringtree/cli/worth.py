"""`ringtree worth TRACE`: what a setting could change in a traced job at all, and at most by how much.

For: the options. Not for: the arithmetic (ringtree.joblog), nor trying it out (`ringtree replay`).
"""

from __future__ import annotations

from typing import Annotated

import typer

from ringtree.cli.options import RUNS, AsJson, JobTrace, Runs, SkipSteps
from ringtree.cli.outcome import exit_codes
from ringtree.errors import UsageError
from ringtree.joblog.gain import predict
from ringtree.joblog.held_against import against_training
from ringtree.joblog.reading import read_trace
from ringtree.joblog.reports import worth_report
from ringtree.joblog.summary import summarise
from ringtree.joblog.worth import worth as worth_of
from ringtree.judge.training import summarise_training
from ringtree.results import find_run, read_run
from ringtree.show.cells import console_for_tables, say
from ringtree.show.job_worth_table import print_gains, print_worth


def worth(
    trace: JobTrace,
    arms: Annotated[str, typer.Option(help="Settings, named as in compare: nccl:Tree,nccl:Ring/LL128,gloo.")],
    nccl_version: Annotated[
        str | None, typer.Option(metavar="V", help="The job's NCCL version, e.g. 2.27.3. Default: as traced.")
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option("--from", metavar="RUN", help="A stored run whose ratios predict the gain.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="With --from: the arm that the job uses now. Default: the run's reference.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="With --from: a stored `ringtree train` run to check the prediction against."),
    ] = None,
    skip: SkipSteps = None,
    runs: Runs = RUNS,
    json: AsJson = False,
) -> None:
    """Show what a setting could change in a traced job: which collectives it affects, and its largest possible gain."""
    with exit_codes():
        if against is not None and benchmark is None:
            raise UsageError(
                "--against checks a prediction against a training run: add --from RUN, which makes the prediction"
            )
        found = read_trace(trace)
        summary = summarise(found, skip)
        version = nccl_version or found.ranks[0].about.nccl
        names = [name.strip() for name in arms.split(",") if name.strip()]
        judged = worth_of(summary, names, version)
        predicted = None if benchmark is None else predict(summary, read_run(find_run(runs, benchmark)), reference)
        held = []
        if against is not None and predicted is not None:
            trained = read_run(find_run(runs, against))
            if trained.run.plan.training is None:
                raise UsageError(f"{trained.run.run_id} is not a training run: --against takes a run of ringtree train")
            held = against_training(predicted[0], summary, summarise_training(trained))
        if json:
            typer.echo(worth_report(summary, judged, version, predicted, held).model_dump_json(indent=1))
            return
        console = console_for_tables()
        print_worth(console, summary, judged, version)
        if predicted is not None:
            print_gains(console, *predicted)
        for line in held:
            say(console, line)
