"""`ringtree support`: which protocol runs which algorithm of which collective.

For: the matrix, and why a cell of it is empty. Not for: how fast they are (ringtree compare, ringtree tune), or for
what an algorithm does (ringtree algorithms).
"""

from __future__ import annotations

import json as json_format
from typing import Annotated

import typer
from rich import box
from rich.table import Table

import ringtree
from ringtree.cli.outcome import exit_codes
from ringtree.cli.text import cell, console_for_tables
from ringtree.lab.printable import printable

RUNS = "yes"


def support(
    json: Annotated[bool, typer.Option("--json", help="Print the matrix as JSON and nothing else.")] = False,
) -> None:
    """Show which algorithms and protocols run each collective; an empty cell says why it is empty."""
    with exit_codes():
        rows = list(ringtree.support())
        if json:
            cells = [
                {
                    "collective": collective,
                    "algorithm": algorithm,
                    "protocol": protocol,
                    "runs": not reason,
                    "reason": reason,
                }
                for collective, algorithm, protocol, reason in rows
            ]
            typer.echo(json_format.dumps({"format": "ringtree.support/1", "cells": cells}, indent=1))
            return
        table, reasons = matrix(rows)
        console = console_for_tables()
        console.print(table)
        for number, reason in enumerate(reasons, 1):
            console.print(printable(f"({number}) {reason}"), markup=False, highlight=False, soft_wrap=True)


def matrix(rows: list[tuple[str, str, str, str]]) -> tuple[Table, list[str]]:
    """Returns the table of (collective, algorithm, protocol, reason) rows, and the reasons that its marks number."""
    protocols = list(dict.fromkeys(protocol for _, _, protocol, _ in rows))
    reasons = list(dict.fromkeys(reason for *_, reason in rows if reason))
    marks: dict[tuple[str, str], dict[str, str]] = {}
    for collective, algorithm, protocol, reason in rows:
        mark = f"({reasons.index(reason) + 1})" if reason else RUNS
        marks.setdefault((collective, algorithm), {})[protocol] = mark
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("collective", "algorithm", *protocols):
        table.add_column(heading, no_wrap=True)
    before = ""
    for (collective, algorithm), of in marks.items():
        shown = collective if collective != before else ""
        table.add_row(cell(shown), cell(algorithm), *(cell(of.get(protocol, "")) for protocol in protocols))
        before = collective
    return table, reasons
