"""`ringtree import FILE…`: what other people's benchmarks, logs and traces say.

For: options, one file after the other, exit codes. Not for: formats (ringtree.logs), what is wrong with a log
(`ringtree audit`).

Exit codes: 0 something was read in each file, 1 a file held nothing that a reader knows, 2 a file could not be read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from ringtree.cli.import_summary import Overview, print_overview
from ringtree.cli.outcome import FAILED, USAGE, exit_codes
from ringtree.cli.text import console_for_tables
from ringtree.errors import UsageError
from ringtree.lab.printable import printable
from ringtree.logs import Imported, Item, read_file, read_stream
from ringtree.logs.export_json import JsonExport

STANDARD_INPUT = "-"


def import_logs(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Logs, traces, tables; - is standard input.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what was read, and store nothing.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print everything that was read as JSON and nothing else.")
    ] = False,
) -> None:
    """Read logs of nccl-tests, NCCL, OSU, IMB and others: tables, versions, devices, and what could not be read."""
    with exit_codes():
        code = _as_json(files) if json else _as_text(files)
        if code:
            raise typer.Exit(code)


def _as_json(files: list[str]) -> int:
    worst = 0
    with JsonExport(sys.stdout) as export:
        for name in files:
            overview = Overview(name)
            export.begin(name)

            def emit(item: Item, overview: Overview = overview) -> None:
                overview.add(item)
                export.emit(item)

            imported, problem = _read(name, emit)
            export.end(imported, problem)
            worst = max(worst, _code(overview, problem))
    return worst


def _as_text(files: list[str]) -> int:
    worst = 0
    console = console_for_tables()
    for name in files:
        overview = Overview(name)
        imported, problem = _read(name, overview.add)
        if imported is not None:
            print_overview(console, overview, imported)
        worst = max(worst, _code(overview, problem))
    return worst


def _read(name: str, emit: Callable[[Item], None]) -> tuple[Imported | None, str | None]:
    """Reads a file, or says on standard error why it can't be: the others are read all the same."""
    try:
        if name == STANDARD_INPUT:
            return read_stream(sys.stdin.buffer, name, emit), None
        return read_file(Path(name), emit), None
    except UsageError as error:
        typer.echo(f"ringtree: {printable(str(error))}", err=True)
        return None, str(error)


def _code(overview: Overview, problem: str | None) -> int:
    if problem is not None:
        return USAGE
    return 0 if overview.num_items else FAILED
