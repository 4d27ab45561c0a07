"""`ringtree compare`: run arms against each other and say what the samples support.

For: the options of a comparison. Not for: planning, running or judging it (ringtree.lab).

The table goes to standard output, progress to standard error; with --json standard output holds the result only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from ringtree.cli.outcome import exit_codes
from ringtree.lab.compare import run_comparison
from ringtree.lab.progress import LiveProgress
from ringtree.lab.request import DEFAULT_ARMS, DEFAULT_SIZES, Request, make_plan
from ringtree.lab.summary import summarise
from ringtree.lab.table import print_comparison


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
        typer.Option(help=_with_default("Algorithms, auto, gloo, send-recv:<algorithm>.", DEFAULT_ARMS)),
    ] = None,
    launches: Annotated[int | None, typer.Option(help=_with_default("Fresh sets of processes.", "6"))] = None,
    seed: Annotated[int | None, typer.Option(help=_with_default("Seed of order and data.", "random, stored"))] = None,
    collective: Annotated[str, typer.Option(help="The collective to compare.")] = "all_reduce",
    dtype: Annotated[str, typer.Option(help="Element type.")] = "float32",
    reference: Annotated[
        str | None, typer.Option(help=_with_default("Arm that the others are compared with.", "gloo, else the first"))
    ] = None,
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
    runs: Annotated[Path, typer.Option(help="Where runs are stored.")] = Path("runs"),
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Compare collective algorithms and libraries in fresh processes, with every result verified."""
    with exit_codes():
        plan = make_plan(
            Request(
                ranks=ranks,
                sizes=sizes,
                arms=arms,
                launches=launches,
                seed=seed,
                collective=collective,
                dtype=dtype,
                reference=reference,
                emulate=emulate,
                alpha=alpha,
                beta=beta,
                preset=preset,
                library=library,
            )
        )
        with LiveProgress(Console(stderr=True), plan) as progress:
            stored = run_comparison(plan, runs, progress.on_cell)
        comparison = summarise(stored)
        if json:
            typer.echo(comparison.model_dump_json(indent=1))
        else:
            print_comparison(Console(), comparison)
        if any(cell.disqualified for cell in comparison.cells):
            raise typer.Exit(1)
