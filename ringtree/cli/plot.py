"""`ringtree plot RUN… --kind busbw -o f.svg`: figures of stored runs.

For: papers and tickets; the numbers are those of `ringtree show`. Not for: pages (ringtree play).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtree.cli.outcome import exit_codes
from ringtree.errors import UsageError
from ringtree.lab.summary import summarise
from ringtree.logs.storing import find_import
from ringtree.report.plot import KINDS, SUFFIXES, draw
from ringtree.results import find_run, read_run


def plot(
    run: Annotated[list[str], typer.Argument(metavar="RUN...", help="Directory, id, the beginning of an id, or last.")],
    output: Annotated[Path, typer.Option("-o", "--output", help=f"The file to write: {', '.join(SUFFIXES)}.")],
    kind: Annotated[str, typer.Option(help=f"One of {', '.join(KINDS)}.")] = "busbw",
    runs: Annotated[Path, typer.Option(help="Where runs are stored.")] = Path("runs"),
) -> None:
    """Draw stored runs: bus bandwidth or time over size, differences, scaling over ranks, crossovers."""
    with exit_codes():
        for one in run:
            if Path(one).is_file() or find_import(runs, one) is not None:
                raise UsageError(f"{one} is a log: plot draws measured runs, `ringtree report {one}` draws logs")
        draw(kind, [summarise(read_run(find_run(runs, one))) for one in run], output)
        typer.echo(str(output))
