"""The command `ringtree`: arguments in, one call, exit code out.

For: options, help and exit codes; one file a command. Not for: anything that could be called from Python too.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ringtree.cli.commands import CommandGroup
from ringtree.version import __version__

EXIT_CODES = (
    "Exit codes: 0 done; 1 the run failed, a result or schedule did not verify, a check failed, audit has warnings, or "
    "health finds the system slower than its peers; 2 the command or its input is invalid; 3 slower than a baseline, "
    "health finds the system far slower than its peers, or audit found errors; 4 the machine is too noisy to detect "
    "what was asked; 5 health has no peers to compare with; 7 wrong elements or too little bandwidth in a bench (as in "
    "nccl-tests); 130 interrupted; 143 terminated."
)

app = typer.Typer(
    name="ringtree",
    cls=CommandGroup,
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ringtree {__version__}")
        raise typer.Exit


@app.callback()
def ringtree_command(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Measure, check and choose collective algorithms: all-reduce and the others, for training clusters."""


__all__ = ["EXIT_CODES", "app"]
