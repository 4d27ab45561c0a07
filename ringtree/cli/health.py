"""`ringtree health LOG…`: is this as fast as it should be?

For: options, text and exit code of a check-up; in CI the acceptance test of a cluster. Not for: judging
(ringtree.health).

Exit codes: 0 as fast as others, 1 below, 3 far below or a log that refutes itself, 5 nothing to compare with, 2 a
mistake in what was asked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtree.audit import Setup
from ringtree.cli.options import MACHINE, AsJson, asks
from ringtree.cli.outcome import FAILED, NOTHING_KNOWN, SLOWER, exit_codes
from ringtree.errors import UsageError
from ringtree.health import Question, Verdict, health_of
from ringtree.show.cells import console_for_tables
from ringtree.show.health_text import print_health
from ringtree.units import parse_share, parse_size

_CODES = {
    Verdict.AS_FAST: 0,
    Verdict.BELOW: FAILED,
    Verdict.FAR_BELOW: SLOWER,
    Verdict.WRONG: SLOWER,
    Verdict.UNKNOWN: NOTHING_KNOWN,
}


@asks(Setup, {"system": MACHINE["system"], **MACHINE}, into="setup")
def health(
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="One or more logs of the same system.")],
    *,
    setup: Setup,
    collective: Annotated[str | None, typer.Option(help="Check this collective only.")] = None,
    at_least: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Require this share of what others reached, e.g. 90%, instead of a result within their spread.",
        ),
    ] = None,
    smallest: Annotated[str, typer.Option("--from", metavar="SIZE", help="Smallest size to judge, e.g. 256M.")] = "0",
    json: AsJson = False,
) -> None:
    """Compare logs with results of other machines with the same links, and with the hardware's limit. Exits with 1 if
    below, 3 if far below, 5 if there is nothing to compare with."""
    with exit_codes():
        share = None if at_least is None else parse_share(at_least)
        if share is not None and not 0 < share <= 1:
            raise UsageError(f"--at-least {at_least}: write a share above 0% and up to 100%")
        asked = Question(setup, share, collective, parse_size(smallest))
        report = health_of(logs, asked)
        if json:
            typer.echo(report.model_dump_json(indent=1))
        else:
            print_health(console_for_tables(), report)
        if _CODES[report.verdict]:
            raise typer.Exit(_CODES[report.verdict])
