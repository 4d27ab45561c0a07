"""`ringtree runs`: what is stored.

For: the list of runs, newest first, with what to do about those that are not complete. Not for: their results
(ringtree show), questions about them (ringtree sql).
"""

from __future__ import annotations

import csv as csv_format
import json as json_format
import sys
from pathlib import Path
from shlex import quote
from typing import Any

import typer

from ringtree.cli.options import RUNS, AsCsv, AsJson, Runs
from ringtree.cli.outcome import exit_codes
from ringtree.errors import UsageError
from ringtree.logs.storing import ImportHeader, list_imports
from ringtree.results import list_runs
from ringtree.results.described import FIELDS, INCOMPLETE, UNREADABLE, describe
from ringtree.show.cells import cell, console_for_tables, plain_table
from ringtree.show.printable import printable
from ringtree.units import format_size


def runs(
    runs: Runs = RUNS,
    csv: AsCsv = False,
    json: AsJson = False,
) -> None:
    """List the stored runs, newest first."""
    with exit_codes():
        if csv and json:
            raise UsageError("choose one of --csv and --json")
        rows = [describe(listing) for listing in list_runs(runs)]
        if json:
            typer.echo(json_format.dumps({"format": "ringtree.runs/1", "runs": rows}, indent=1))
        elif csv:
            writer = csv_format.DictWriter(sys.stdout, FIELDS, lineterminator="\n")
            writer.writeheader()
            for row in rows:
                joined = {name: ";".join(map(str, row[name] or ())) for name in ("sizes", "arms")}
                writer.writerow({**row, **joined})
        elif rows or list_imports(runs):
            if rows:
                _print_table(rows, runs)
            _print_imports(list_imports(runs))
        else:
            typer.echo(f"ringtree: no runs in {printable(str(runs))}; `ringtree compare` stores some", err=True)


def _print_imports(imports: list[ImportHeader]) -> None:
    if not imports:
        return
    table = plain_table()
    for name in ("imported", "from", "bytes", "when"):
        table.add_column(name, overflow="fold", no_wrap=name == "imported")
    for one in imports:
        table.add_row(cell(one.run_id), cell(one.name), cell(one.num_bytes), cell(one.created_utc))
    console_for_tables().print(table)


def _print_table(rows: list[dict[str, Any]], runs: Path) -> None:
    table = plain_table()
    for name in ("run", "collective", "sizes", "arms"):
        table.add_column(name, overflow="fold", no_wrap=name == "run")
    for name in ("ranks", "launches"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("state", "host"):
        table.add_column(name, overflow="fold")
    for row in rows:
        if row["state"] == UNREADABLE:
            table.add_row(cell(row["run_id"]), *[cell(None)] * 5, cell(UNREADABLE), cell(None))
            continue
        ends = dict.fromkeys((min(row["sizes"]), max(row["sizes"]))) if row["sizes"] else {}
        state = row["state"] + (", pilot" if row["purpose"] == "pilot" else "")
        table.add_row(
            cell(row["run_id"]),
            cell(row["collective"]),
            cell("–".join(format_size(size) for size in ends)),
            cell(", ".join(row["arms"])),
            cell(row["num_ranks"]),
            cell(f"{row['launches_stored']}/{row['launches_planned']}"),
            cell(", ".join([state, *(mark for mark in ("emulated", "simulated") if row[mark])])),
            cell(row["host"]),
        )
    console = console_for_tables()
    console.print(table)
    place = "" if runs == Path("runs") else f" --runs {quote(str(runs))}"
    for row in rows:
        if row["state"] == INCOMPLETE:
            said = f"{row['run_id']}: continue it with `ringtree compare --resume {quote(row['run_id'])}{place}`"
            console.print(cell(said), soft_wrap=True)
        elif row["state"] == UNREADABLE:
            console.print(cell(f"{row['run_id']}: {row['problem']}"), soft_wrap=True)
