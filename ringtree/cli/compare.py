"""`ringtree compare`: run arms against each other and say what the samples support.

For: the options of a comparison. Not for: planning, running or judging it (ringtree.lab).

The result goes to standard output, everything else to standard error. Started by a launcher on several hosts (torchrun,
or RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT), the process of rank 0 is the one that speaks.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from ringtree.cli.outcome import exit_codes
from ringtree.cli.output import check_format, finish
from ringtree.errors import UsageError
from ringtree.lab.crew import crew_of_the_launcher
from ringtree.lab.dry_run import print_plan
from ringtree.lab.launch import COMPARISON
from ringtree.lab.request import DEFAULT_ARMS, DEFAULT_SIZES, Request, make_plan
from ringtree.lab.session import Question, resume, run
from ringtree.lab.units import parse_share


def _with_default(text: str, default: str) -> str:
    """Names a default that typer can't know; escaped, as rich would take the brackets for markup and drop them."""
    return escape(f"{text} [default: {default}]")


def compare(
    ranks: Annotated[int | None, typer.Option(help=_with_default("Number of ranks, a process each.", "4"))] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help=_with_default("Sizes in bytes: a list, first:last (×4) or first:last:factor.", DEFAULT_SIZES)
        ),
    ] = None,
    arms: Annotated[
        str | None,
        typer.Option(
            help=_with_default(
                "Algorithms, auto (also ring/ll128, auto/shared, …), gloo, send-recv:<algorithm>, "
                "textbook-shm:<algorithm>; arm@VAR=value sets a variable, arm+10% slows it.",
                DEFAULT_ARMS.replace(",", ", "),  # so that the line can be broken
            )
        ),
    ] = None,
    launches: Annotated[int | None, typer.Option(help=_with_default("Fresh sets of processes.", "8"))] = None,
    seed: Annotated[int | None, typer.Option(help=_with_default("Seed of order and data.", "random, stored"))] = None,
    collective: Annotated[str, typer.Option(help="The collective to compare.")] = "all_reduce",
    dtype: Annotated[str, typer.Option(help="Element type.")] = "float32",
    reference: Annotated[
        str | None, typer.Option(help=_with_default("Arm that the others are compared with.", "gloo, else the first"))
    ] = None,
    margin: Annotated[str | None, typer.Option(help=_with_default("A difference below it is none.", "2%"))] = None,
    budget: Annotated[
        str | None, typer.Option(help="Time for all of it, e.g. 10m: a pilot decides where launches are spent.")
    ] = None,
    detect: Annotated[
        str | None,
        typer.Option(help=_with_default("Refuse a machine too noisy to tell this difference, e.g. 10%.", "100%")),
    ] = None,
    no_preflight: Annotated[
        bool, typer.Option("--no-preflight", help="Don't look at the machine's noise before the first launch.")
    ] = False,
    emulate: Annotated[
        str | None, typer.Option(help="Emulate a cluster on this machine: hosts x ranks per host, e.g. 2x8.")
    ] = None,
    alpha: Annotated[str | None, typer.Option(help=_with_default("Latency between emulated hosts.", "1ms"))] = None,
    beta: Annotated[
        str | None, typer.Option(help=_with_default("Bandwidth between emulated hosts.", "200MB/s"))
    ] = None,
    preset: Annotated[str | None, typer.Option(help="textbook: a from-scratch ring against a library.")] = None,
    library: Annotated[
        str | None, typer.Option(help=_with_default("The library of --preset textbook.", "auto"))
    ] = None,
    launcher: Annotated[
        str | None,
        typer.Option(help="Template of your launcher, e.g. 'srun --ntasks {ranks}' (--dry-run only so far)."),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where runs are stored.")] = Path("runs"),
    resume_run: Annotated[
        str | None, typer.Option("--resume", metavar="RUN", help="Go on with a stored run that was interrupted.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print plan, duration and cost, and run nothing.")] = False,
    fail_if_slower_than: Annotated[
        str | None, typer.Option(metavar="RUN", help="Exit with 3 if an arm is slower than it was in a stored run.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the result as CSV and nothing else.")] = False,
) -> None:
    """Compare collective algorithms and libraries in fresh processes, with every result verified."""
    with exit_codes():
        check_format(json, csv)
        stderr = Console(stderr=True)
        asked = {
            "ranks": ranks,
            "sizes": sizes,
            "arms": arms,
            "launches": launches,
            "seed": seed,
            "reference": reference,
            "margin": margin,
            "budget": budget,
            "emulate": emulate,
            "alpha": alpha,
            "beta": beta,
            "preset": preset,
            "library": library,
            "launcher": launcher,
        }
        with crew_of_the_launcher(COMPARISON) or contextlib.nullcontext() as crew:
            if crew is not None and crew.rank != 0:
                crew.serve()
                return
            if resume_run is not None:
                given = [name for name, value in asked.items() if value is not None]
                given += ["dry-run"] if dry_run else []
                if given:
                    raise UsageError(f"--resume goes on with a stored plan: leave --{given[0]} out")
                stored = resume(runs, resume_run, stderr, crew)
            else:
                hosts = None if crew is None else crew.hosts
                plan = make_plan(Request(collective=collective, dtype=dtype, hosts=hosts, **asked))  # type: ignore[arg-type]
                if dry_run:
                    print_plan(Console(), plan)
                    return
                if launcher is not None:
                    raise UsageError(
                        "--launcher can't start ranks, only --dry-run shows what it would: start ringtree by it"
                    )
                question = Question(detect=None if detect is None else parse_share(detect), preflight=not no_preflight)
                stored = run(plan, runs, question, stderr, crew)
        finish(stored, runs, as_json=json, as_csv=csv, baseline=fail_if_slower_than)
