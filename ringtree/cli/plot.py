"""`ringtree plot RUN… --kind busbw -o f.svg`: figures of stored runs and of logs.

For: papers and tickets; the numbers are those of `ringtree show`. Not for: pages (ringtree play).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtree.cli.options import RUNS, Runs, RunsOrLogs
from ringtree.cli.outcome import exit_codes
from ringtree.show.plot import KINDS, SUFFIXES, draw
from ringtree.show.views import read_views


def plot(
    run: RunsOrLogs,
    output: Annotated[Path, typer.Option("-o", "--output", help=f"The file to write: {', '.join(SUFFIXES)}.")],
    kind: Annotated[str, typer.Option(help=f"One of {', '.join(KINDS)}.")] = "busbw",
    runs: Runs = RUNS,
) -> None:
    """Draw stored runs and logs: bus bandwidth or time over size, differences, scaling over ranks, crossovers."""
    with exit_codes():
        draw(kind, read_views(run, runs)[0], output)
        typer.echo(str(output))
