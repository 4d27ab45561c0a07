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
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from ringtree.cli.outcome import exit_codes
from ringtree.cli.text import cell, console_for_tables
from ringtree.errors import UsageError
from ringtree.lab.printable import printable
from ringtree.lab.units import format_size
from ringtree.results import RunListing, list_runs, writer_of

FIELDS = (
    "run_id",
    "path",
    "state",
    "problem",
    "created_utc",
    "purpose",
    "collective",
    "sizes",
    "arms",
    "num_ranks",
    "launches_stored",
    "launches_planned",
    "host",
    "emulated",
)
COMPLETE, RUNNING, INCOMPLETE, UNREADABLE = "complete", "running", "incomplete", "unreadable"


def runs(
    runs: Annotated[Path, typer.Option(help="Where runs are stored.")] = Path("runs"),
    csv: Annotated[bool, typer.Option("--csv", help="Print the list as CSV and nothing else.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the list as JSON and nothing else.")] = False,
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
        elif rows:
            _print_table(rows, runs)
        else:
            typer.echo(f"ringtree: no runs in {printable(str(runs))}; `ringtree compare` stores some", err=True)


def describe(listing: RunListing) -> dict[str, Any]:
    """Returns what FIELDS name; None for what an unreadable run does not tell."""
    row: dict[str, Any] = dict.fromkeys(FIELDS)
    row.update(run_id=listing.run_id, path=str(listing.path), state=UNREADABLE, problem=listing.problem)
    if listing.run is None:
        return row
    plan = listing.run.plan
    return {
        **row,
        "state": _state(listing),
        "created_utc": listing.run.created_utc,
        "purpose": plan.purpose,
        "collective": plan.collective,
        "sizes": [size.size_bytes for size in plan.sizes],
        "arms": [arm.label for arm in plan.arms],
        "num_ranks": plan.num_ranks,
        "launches_stored": listing.num_stored,
        "launches_planned": listing.num_planned,
        "host": listing.run.provenance.host_name,
        "emulated": listing.run.provenance.emulated,
    }


def _state(listing: RunListing) -> str:
    if listing.num_stored >= (listing.num_planned or 0):
        return COMPLETE
    try:
        return INCOMPLETE if writer_of(listing.path) is None else RUNNING
    except UsageError:
        return INCOMPLETE  # resuming it will say what is wrong with the lock


def _print_table(rows: list[dict[str, Any]], runs: Path) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
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
            cell(f"{state}, emulated" if row["emulated"] else state),
            cell(row["host"]),
        )
    console = console_for_tables()
    console.print(table)
    place = "" if runs == Path("runs") else f" --runs {quote(str(runs))}"
    for row in rows:
        if row["state"] == INCOMPLETE:
            said = f"{row['run_id']}: goes on with `ringtree compare --resume {quote(row['run_id'])}{place}`"
            console.print(cell(said), soft_wrap=True)
        elif row["state"] == UNREADABLE:
            console.print(cell(f"{row['run_id']}: {row['problem']}"), soft_wrap=True)
