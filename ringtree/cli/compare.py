"""`ringtree compare`: run arms against each other and say what the samples support.

For: the options of a comparison. Not for: planning, running or judging it (ringtree.judge).

The result goes to standard output, everything else to standard error. Where a launcher has started several processes
(torchrun, srun, mpirun, …), that of rank 0 is the one that speaks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console

from ringtree.cli.agents import as_lab_or_agent
from ringtree.cli.options import (
    EMULATE,
    RUNS,
    DryRun,
    ResumeRun,
    Runs,
    asks,
    refuse_beside_resume,
    with_default,
    written,
)
from ringtree.cli.outcome import exit_codes
from ringtree.cli.output import WANTED, Wanted, check_format, finish, warn_of
from ringtree.compare.dry_run import print_plan
from ringtree.compare.whole_comparison import Question, resume, run
from ringtree.measure.collective_data import SHAPES
from ringtree.measure.crew import Crew
from ringtree.measure.factors import FRACTIONS
from ringtree.measure.few_launches import few_launches
from ringtree.measure.request import DEFAULT_ARMS, DEFAULT_SIZES, Request, make_plan
from ringtree.units import parse_share

OPTIONS = {
    "ranks": with_default("Number of ranks, one process each.", "4"),
    "sizes": with_default("Sizes in bytes: a list, first:last (×4) or first:last:factor.", DEFAULT_SIZES),
    "arms": with_default(
        "Arms, separated by commas: what to compare with each other. An algorithm (ring, tree, …), auto or a "
        "library (gloo, openmpi, nccl:Ring, …); `ringtree arms` lists all. ring/ll128 fixes the protocol, auto/shared "
        "shares buffers, arm@VAR=value sets a variable, arm+10% slows the arm down.",
        DEFAULT_ARMS.replace(",", ", "),  # so that the line can be broken
    ),
    "factors": typer.Option(
        metavar="VAR=A,B[,C]",
        help="Vary an environment variable of the only arm; repeatable. All combinations of values run, so that "
        "effects can be separated.",
    ),
    "fraction": f"With --factors: run only {' or '.join(FRACTIONS)} of the combinations, the "
    "fraction that separates the factors' effects best (highest resolution); every factor must have two values.",
    "launches": with_default("Number of launches, each a fresh set of processes.", "8"),
    "seed": with_default("Seed for order and data.", "random, recorded"),
    "collective": f"One of {', '.join(SHAPES)}.",
    "dtype": "Element type.",
    "reference": with_default("Arm that the others are compared with.", "a library, else the first"),
    "margin": with_default("Ignore smaller differences.", "2%"),
    "budget": "Total time, e.g. 10m; a pilot run decides where to spend launches.",
    "detect": None,
    "no_preflight": None,
    "emulate": EMULATE,
    "alpha": with_default("Latency between emulated hosts.", "1ms"),
    "beta": with_default("Bandwidth between emulated hosts.", "200MB/s"),
    "preset": "textbook: a hand-written ring against a library.",
    "library": with_default("The library of --preset textbook.", "auto"),
    "launcher": "Command that starts the ranks of an MPI library, e.g. 'srun --mpi=pmix'.",
}


@asks(Request, OPTIONS)
@asks(Wanted, WANTED, into="wanted")
def compare(
    context: typer.Context,
    asked: Request,
    detect: Annotated[
        str | None,
        typer.Option(
            help=with_default("Refuse to run if the machine is too noisy to detect this difference, e.g. 10%.", "100%")
        ),
    ] = None,
    no_preflight: Annotated[
        bool, typer.Option("--no-preflight", help="Skip the noise check before the first launch.")
    ] = False,
    runs: Runs = RUNS,
    resume_run: ResumeRun = None,
    dry_run: DryRun = False,
    *,
    wanted: Wanted,
) -> None:
    """Compare collective algorithms and libraries in fresh processes, verifying every result."""
    with exit_codes():
        check_format(wanted)
        stderr = Console(stderr=True)

        def measure(crew: Crew | None) -> None:
            if resume_run is not None:
                refuse_beside_resume(written(context, *OPTIONS, "dry_run"))
                stored = resume(runs, resume_run, stderr, crew)
            else:
                plan = make_plan(replace(asked, agents=None if crew is None else crew.agent_hosts))
                warn_of(few_launches(plan), stderr)
                if dry_run:
                    print_plan(Console(), plan)
                    return
                question = Question(detect=None if detect is None else parse_share(detect), preflight=not no_preflight)
                stored = run(plan, runs, question, stderr, crew)
            finish(stored, runs, wanted)

        as_lab_or_agent(measure)
