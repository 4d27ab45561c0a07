"""`ringtree support`: which protocol runs which algorithm of which collective.

For: the matrix, and why a cell of it is empty. Not for: how fast they are (ringtree compare, ringtree tune), or for
what an algorithm does (ringtree algorithms).
"""

from __future__ import annotations

import json as json_format

import typer
from rich.table import Table

from ringtree.cli.options import AsJson
from ringtree.cli.outcome import exit_codes
from ringtree.comm.communicator import support as support_of
from ringtree.show.cells import cell, console_for_tables, plain_table, say

RUNS = "yes"


def support(
    json: AsJson = False,
) -> None:
    """Show which algorithms and protocols run each collective, and why the others do not."""
    with exit_codes():
        rows = list(support_of())
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
            say(console, f"({number}) {reason}")


def matrix(rows: list[tuple[str, str, str, str]]) -> tuple[Table, list[str]]:
    """Returns the table of (collective, algorithm, protocol, reason) rows, and the reasons that its marks number."""
    protocols = list(dict.fromkeys(protocol for _, _, protocol, _ in rows))
    reasons = list(dict.fromkeys(reason for *_, reason in rows if reason))
    marks: dict[tuple[str, str], dict[str, str]] = {}
    for collective, algorithm, protocol, reason in rows:
        mark = f"({reasons.index(reason) + 1})" if reason else RUNS
        marks.setdefault((collective, algorithm), {})[protocol] = mark
    table = plain_table("collective", "algorithm", *protocols)
    before = ""
    for (collective, algorithm), of in marks.items():
        shown = collective if collective != before else ""
        table.add_row(cell(shown), cell(algorithm), *(cell(of.get(protocol, "")) for protocol in protocols))
        before = collective
    return table, reasons
