"""`ringtree doctor`: check this machine for what slows or breaks collectives.

For: options, text and exit code. Not for: looking (ringtree.doctor).

Exit codes: 0 no check failed, 1 one did, 2 the command or its input is invalid.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ringtree.cli.options import AsJson
from ringtree.cli.outcome import FAILED, exit_codes
from ringtree.doctor import Host, Verdict, examine
from ringtree.errors import UsageError
from ringtree.show.cells import console_for_tables
from ringtree.show.doctor_text import print_doctor


def doctor(
    arms: Annotated[
        str | None, typer.Option(help="Check only what these arms need (e.g. nccl,openmpi); fail if one is not ready.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also print where each fact was read.")] = False,
    json: AsJson = False,
) -> None:
    """Check cores, memory, limits, network, GPUs, software and variables, and list what to fix before measuring.
    Exits with 1 if a check fails."""
    with exit_codes():
        names = [name.strip() for name in (arms or "").split(",") if name.strip()]
        if arms is not None and not names:
            raise UsageError("--arms names no arm; `ringtree arms` lists all arms")
        report = examine(Host(), names)
        if json:
            typer.echo(report.model_dump_json(indent=1))
        else:
            print_doctor(console_for_tables(), report, verbose)
        if report.verdict is Verdict.FAIL:
            raise typer.Exit(FAILED)
