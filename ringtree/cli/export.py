"""`ringtree export`: a table of stored runs as a file.

For: taking raw samples to another tool. Not for: a selection or a sum (ringtree sql -o).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtree.cli.options import RUNS, Runs
from ringtree.cli.outcome import exit_codes
from ringtree.errors import UsageError
from ringtree.results import RunListing, find_run, list_run, list_runs
from ringtree.results.tables import TABLES
from ringtree.show.printable import printable

ALL = "all"


def export(
    run: Annotated[list[str], typer.Argument(help="Runs: a directory, id, id prefix, last or all.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .parquet, .csv or .json file.")],
    table: Annotated[str, typer.Option(help=f"One of {', '.join(TABLES)}.")] = "samples",
    runs: Runs = RUNS,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a table of stored runs to a Parquet, CSV or JSON file."""
    with exit_codes():
        # Imported here: DuckDB takes longer to load than most other commands take.
        from ringtree.results.export import check_free, format_of, write_result
        from ringtree.results.query import Database

        if table not in TABLES:
            raise UsageError(f"unknown table {table!r}; choose from: {', '.join(TABLES)}")
        format_of(output)
        check_free(output, force)
        with Database(_chosen(runs, run)) as database:
            for note in database.notes:
                typer.echo(f"ringtree: {printable(note)}", err=True)
            write_result(database, f"SELECT * FROM {table}", output, force)


def _chosen(runs: Path, names: list[str]) -> list[RunListing]:
    """Returns the runs that are meant, each once. One that was named and can't be read is an error, not a note."""
    if ALL in names:
        return list_runs(runs)
    listings = {path.resolve(): list_run(path) for path in (find_run(runs, name) for name in names)}
    for listing in listings.values():
        if listing.problem is not None:
            raise UsageError(listing.problem)
    return list(listings.values())
