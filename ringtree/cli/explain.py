"""`ringtree explain`: why the library is so much faster than a textbook's algorithm, change by change.

For: the options of a ladder. Not for: measuring, judging or drawing it (ringtree.explain).

The result goes to standard output, everything else to standard error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ringtree.cli.options import RUNS, Runs, asks, with_default
from ringtree.cli.outcome import FAILED, exit_codes
from ringtree.comm.meeting import refuse_launched
from ringtree.errors import UsageError, os_errors
from ringtree.explain.ladder import ladder_of
from ringtree.explain.ladder_kinds import KINDS
from ringtree.explain.ladder_record import TOO_FEW_ROUNDS, Ladder
from ringtree.explain.ladder_run import measure, read_again
from ringtree.explain.plan import Asked
from ringtree.results.files import write_whole
from ringtree.show.cells import say
from ringtree.show.ladder.picture import write_picture
from ringtree.show.ladder.table import print_ladder
from ringtree.show.plot.figure import why_no_figure

PICTURE = "ladder.svg"


OPTIONS = {
    "ladder": f"Which ladder: {'; '.join(f'{kind.name} ({kind.about})' for kind in KINDS)}.",
    "ranks": "Number of ranks, one process each.",
    "sizes": "Sizes in bytes: a list, or first:last:factor.",
    "budget": "Target duration.",
    "launches": with_default(
        "Number of launches, each a fresh set of processes.", "what the budget allows, at least 8"
    ),
    "algorithm": "Algorithm of the ladder's first rung.",
    "seed": with_default("Seed for order and data.", "random, recorded"),
}


@asks(Asked, OPTIONS)
def explain(
    asked: Asked,
    runs: Runs = RUNS,
    show: Annotated[
        str | None, typer.Option(metavar="RUN", help="Print the ladder of a stored run again; measure nothing.")
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the ladder as JSON.")] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=with_default("File of the waterfall chart: .svg, .png or .pdf.", "ladder.svg beside the run"),
        ),
    ] = None,
) -> None:
    """Measure and draw a ladder: a series of implementations, each with one change from the one before."""
    with exit_codes():
        stderr = Console(stderr=True)
        why = why_no_figure(picture)
        if why is not None and picture is not None:
            raise UsageError(why)
        if show is not None:
            stored, pilot = read_again(runs, show)
        else:
            refuse_launched("ringtree explain")
            stored, pilot = measure(asked, runs, stderr)
        ladder = ladder_of(stored, pilot)
        print_ladder(Console(), ladder)
        if json is not None:
            with os_errors(f"can't write {json}"):
                write_whole(json, ladder.model_dump_json(indent=1).encode() + b"\n")
        if why is not None:
            say(stderr, f"no picture: {why}")
        else:
            drawn = stored.path / PICTURE if picture is None else picture
            write_picture(ladder, drawn)
            say(stderr, f"picture: {drawn}")
        if show is None and is_wrong(ladder):
            raise typer.Exit(FAILED)


def is_wrong(ladder: Ladder) -> bool:
    """Whether an arm's result was wrong, or it failed: it has no time, and merely too few rounds are not the reason."""
    return any(
        one.arm is not None and one.time is None and one.why != TOO_FEW_ROUNDS
        for panel in ladder.panels
        for one in panel.entries()
    )
