"""The command `ringtree`: arguments in, one call, exit code out.

For: options, help and exit codes; one file a command. Not for: anything that could be called from Python too.

Exit codes: 0 done, 1 the run failed or something did not verify, 2 a mistake in what was asked, 130 interrupted.
"""

from __future__ import annotations

import typer

from ringtree.cli.algorithms import algorithms
from ringtree.cli.compare import compare
from ringtree.cli.verify import verify

app = typer.Typer(
    name="ringtree",
    help="Collective algorithms as data: verify them, run them, compare them with statistics that hold.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(compare)
app.command()(verify)
app.command()(algorithms)

__all__ = ["app"]
