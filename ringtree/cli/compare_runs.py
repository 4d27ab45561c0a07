"""`ringtree compare-runs A B …`: runs, stored or of somebody's logs, against each other.

For: did it become slower, is ring faster than tree in these two logs, which version. Not for: arms of one run
(`ringtree show`), what is wrong with a log (`ringtree audit`).

Exit codes: 0 nothing is shown to be slower than the first one, 3 something is, 2 the command or its input is invalid.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ringtree.cli.options import RUNS, AsJson, Runs
from ringtree.cli.outcome import SLOWER, exit_codes
from ringtree.errors import UsageError
from ringtree.judge.runs import compare, read_contender
from ringtree.show.cells import console_for_tables
from ringtree.show.runs_table import print_runs
from ringtree.units import parse_share


def compare_runs(
    contenders: Annotated[
        list[str],
        typer.Argument(
            metavar="A B...",
            help="Stored runs (id, path, last), log files, or several launches of one configuration: name=a.log,b.log. "
            "The first one is the baseline.",
        ),
    ],
    runs: Runs = RUNS,
    margin: Annotated[str, typer.Option(help="Ignore smaller differences.")] = "2%",
    json: AsJson = False,
) -> None:
    """Compare stored runs or logs: differences with intervals. One launch per side is not enough for a verdict."""
    with exit_codes():
        if len(contenders) < 2:
            raise UsageError("a comparison needs two runs: name the baseline first, then the others")
        share = parse_share(margin)
        if not 0 <= share < 1:
            raise UsageError(f"invalid margin {margin!r}: write a share below 100%")
        result = compare([read_contender(one, runs) for one in contenders], margin=share)
        if json:
            typer.echo(result.model_dump_json(indent=1))
        else:
            print_runs(console_for_tables(), result)
        if result.regressed:
            raise typer.Exit(SLOWER)
