"""`ringtree launchers`: who this process is to the launcher that started it, and from which variables that follows.

For: printing it, under srun or mpirun in every process. Not for: finding it out (ringtree.launchers).
"""

from __future__ import annotations

from dataclasses import asdict
from json import dumps

import typer

from ringtree.cli.options import AsJson
from ringtree.cli.outcome import USAGE, exit_codes
from ringtree.launchers import Described, Surroundings, describe
from ringtree.show.printable import printable


def launchers(json: AsJson = False) -> None:
    """Show what this process's launcher has set: rank, hosts, job and where ranks meet, and in which variables."""
    with exit_codes():
        found = describe(Surroundings.here())
        typer.echo(dumps(asdict(found), indent=1) if json else "\n".join(map(printable, lines_of(found))))
        if found.problem is not None:
            raise typer.Exit(USAGE)


def lines_of(found: Described) -> list[str]:
    """Returns what was found as lines: the launcher, then a row a fact, then what is wrong."""
    heading = f"launcher: {found.launcher or 'none has started this process as one of several ranks'}"
    widths = [max((len(row[column]) for row in found.rows), default=0) for column in range(2)]
    rows = [f"  {what:<{widths[0]}}  {value:<{widths[1]}}  {source}".rstrip() for what, value, source in found.rows]
    return [heading, *rows, *([f"ringtree: {found.problem}"] if found.problem is not None else [])]
