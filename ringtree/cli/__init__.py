"""The command `ringtree`: arguments in, one call, exit code out.

For: options, help and exit codes; one file a command. Not for: anything that could be called from Python too.

Exit codes: 0 done, 1 the run failed, something did not verify, or an audit has warnings, 2 a mistake in what was asked,
3 slower than a baseline, or an audit found errors, 4 the machine is too noisy for what was asked, 7 wrong elements or
too little bandwidth in a bench (as nccl-tests), 130 interrupted.
"""

from __future__ import annotations

from typing import Annotated

import typer

import ringtree
from ringtree.cli.algorithms import algorithms
from ringtree.cli.audit import audit
from ringtree.cli.bench import CONTEXT, bench
from ringtree.cli.compare import compare
from ringtree.cli.compare_runs import compare_runs
from ringtree.cli.explain import explain
from ringtree.cli.export import export
from ringtree.cli.hardware import hardware
from ringtree.cli.import_logs import import_logs
from ringtree.cli.play import play
from ringtree.cli.plot import plot
from ringtree.cli.report import report
from ringtree.cli.runs import runs
from ringtree.cli.serve import serve
from ringtree.cli.show import show
from ringtree.cli.sql import sql
from ringtree.cli.support import support
from ringtree.cli.trace_run import trace_run
from ringtree.cli.tune import tune
from ringtree.cli.verify import verify
from ringtree.cli.which import which

app = typer.Typer(
    name="ringtree",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ringtree {ringtree.__version__}")
        raise typer.Exit


@app.callback()
def ringtree_command(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Collective algorithms as data: verify them, run them, compare them with statistics that hold."""


app.command()(compare)
app.command()(compare_runs)
app.command()(explain)
app.command()(show)
app.command()(runs)
app.command()(sql)
app.command()(export)
app.command("import")(import_logs)
app.command()(verify)
app.command()(algorithms)
app.command()(play)
app.command()(plot)
app.command()(report)
app.command()(serve)
app.command()(tune)
app.command()(which)
app.command()(support)
app.command()(audit)
app.command()(hardware)
app.command()(trace_run)
app.command(context_settings=CONTEXT)(bench)

__all__ = ["app"]
