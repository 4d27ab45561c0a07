"""`ringtree explain`: why the library is so much faster than a ring written in Python, change by change.

For: the options of a ladder. Not for: measuring, judging or drawing it (ringtree.explain).

The result goes to standard output, everything else to standard error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from ringtree.cli.outcome import FAILED, exit_codes
from ringtree.errors import UsageError
from ringtree.explain.ladder import ladder_of
from ringtree.explain.picture import why_no_picture, write_picture
from ringtree.explain.plan import (
    DEFAULT_ALGORITHM,
    DEFAULT_BUDGET,
    DEFAULT_RANKS,
    DEFAULT_SIZES,
    Asked,
)
from ringtree.explain.record import TOO_FEW_ROUNDS, Ladder
from ringtree.explain.session import measure, read_again
from ringtree.explain.table import print_ladder
from ringtree.meeting import refuse_several_hosts
from ringtree.results.files import write_whole

PICTURE = "ladder.svg"


def explain(
    ranks: Annotated[int, typer.Option(help="Number of ranks, a process each.")] = DEFAULT_RANKS,
    sizes: Annotated[str, typer.Option(help="Sizes in bytes: a list, or first:last:factor.")] = DEFAULT_SIZES,
    budget: Annotated[str, typer.Option(help="Time aimed at.")] = DEFAULT_BUDGET,
    launches: Annotated[
        int | None, typer.Option(help=escape("Fresh sets of processes. [default: what the budget allows, 8 at least]"))
    ] = None,
    algorithm: Annotated[str, typer.Option(help="With which the ladder starts.")] = DEFAULT_ALGORITHM,
    seed: Annotated[int | None, typer.Option(help=escape("Seed of order and data. [default: random, stored]"))] = None,
    runs: Annotated[Path, typer.Option(help="Where runs are stored.")] = Path("runs"),
    show: Annotated[
        str | None, typer.Option(metavar="RUN", help="Measure nothing: the ladder of a stored run, again.")
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the ladder as JSON, too.")] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=escape("The waterfall, .svg or .png. [default: ladder.svg beside the run]")),
    ] = None,
) -> None:
    """Measure a ladder from a ring in Python to auto, each rung changing one thing, and draw it."""
    with exit_codes():
        stderr = Console(stderr=True)
        why = why_no_picture(picture)
        if why is not None and picture is not None:
            raise UsageError(why)
        if show is not None:
            stored, pilot = read_again(runs, show)
        else:
            refuse_several_hosts("ringtree explain")
            stored, pilot = measure(Asked(algorithm, ranks, sizes, budget, launches, seed), runs, stderr)
        ladder = ladder_of(stored, pilot)
        print_ladder(Console(), ladder)
        if json is not None:
            _write(json, ladder.model_dump_json(indent=1) + "\n")
        if why is not None:
            stderr.print(f"no picture: {why}", markup=False, highlight=False, soft_wrap=True)
        else:
            drawn = stored.path / PICTURE if picture is None else picture
            write_picture(ladder, drawn)
            stderr.print(f"picture: {drawn}", markup=False, highlight=False, soft_wrap=True)
        if show is None and is_wrong(ladder):
            raise typer.Exit(FAILED)


def is_wrong(ladder: Ladder) -> bool:
    """Whether an arm's result was wrong, or it failed: it has no time, and merely too few rounds are not the reason."""
    return any(
        one.arm is not None and one.time is None and one.why != TOO_FEW_ROUNDS
        for panel in ladder.panels
        for one in panel.entries()
    )


def _write(file: Path, text: str) -> None:
    try:
        write_whole(file, text.encode())
    except OSError as error:
        raise UsageError(f"can't write {file}: {error.strerror}") from error
