"""`ringtree sql`: ask the stored runs.

For: the options of a query, and its result as a table, CSV, JSON or a file. Not for: the tables (results/tables.py) or
the database (results/query.py).

Standard output holds the result and nothing else; what was left out is said on standard error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtree.cli.options import RUNS, AsCsv, AsJson, Runs
from ringtree.cli.outcome import exit_codes
from ringtree.errors import UsageError
from ringtree.show.cells import cell, console_for_tables, plain_table
from ringtree.show.printable import printable

MAX_ROWS = 1000  # of a table for people; --csv, --json and -o have no limit


def sql(
    query: Annotated[str | None, typer.Argument(help="One query; leave it out to list the tables.")] = None,
    runs: Runs = RUNS,
    csv: AsCsv = False,
    json: AsJson = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the rows to a .parquet, .csv or .json file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")] = False,
) -> None:
    """Query the stored runs in SQL: tables runs, launches, cells, visits, samples, rank_times."""
    with exit_codes():
        # Imported here: DuckDB takes longer to load than most other commands take.
        from ringtree.results.export import check_free, format_of, send_result, write_result
        from ringtree.results.query import Database

        if csv + json + (output is not None) > 1:
            raise UsageError("choose one of --csv, --json and -o")
        if output is not None:  # before the runs are read
            format_of(output)
            check_free(output, force)
        with Database(runs) as database:
            for note in database.notes:
                typer.echo(f"ringtree: {printable(note)}", err=True)
            asked = query if query is not None else _columns_query()
            if output is not None:
                write_result(database, asked, output, force)
            elif csv or json:
                send_result(database, asked, "csv" if csv else "json", typer.get_binary_stream("stdout"))
            else:
                cursor = database.execute(asked)
                _print_rows([str(column[0]) for column in cursor.description or []], cursor.fetchmany(MAX_ROWS + 1))


def _columns_query() -> str:
    """Returns the query for all tables, their columns, types and meanings."""
    from ringtree.results.tables import TABLES

    meanings = ", ".join(
        f"({place}, '{table}', '{column}', '{meaning.replace(chr(39), chr(39) * 2)}')"
        for place, (table, column, meaning) in enumerate(
            (table, column, meaning) for table, columns in TABLES.items() for column, meaning in columns.items()
        )
    )
    return (
        "SELECT table_name AS table, column_name AS column, data_type AS type, meaning FROM duckdb_columns() "
        f"JOIN (VALUES {meanings}) AS said(place, table_name, column_name, meaning) USING (table_name, column_name) "
        "WHERE schema_name = 'main' ORDER BY place"
    )


def _print_rows(names: list[str], rows: list[tuple[object, ...]]) -> None:
    table = plain_table()
    numeric = [
        any(row[i] is not None for row in rows)
        and all(row[i] is None or (isinstance(row[i], int | float) and not isinstance(row[i], bool)) for row in rows)
        for i in range(len(names))
    ]
    for name, is_numeric in zip(names, numeric, strict=True):
        table.add_column(cell(name), justify="right" if is_numeric else "left", overflow="fold")
    for row in rows[:MAX_ROWS]:
        table.add_row(*(cell(value) for value in row))
    console_for_tables().print(table)
    if len(rows) > MAX_ROWS:
        typer.echo(f"ringtree: the first {MAX_ROWS} rows; --csv prints all", err=True)
