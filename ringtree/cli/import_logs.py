"""`ringtree import FILE…`: what other people's benchmarks, logs and traces say.

For: options, one file after the other, exit codes. Not for: formats (ringtree.logs), what is wrong with a log
(`ringtree audit`).

Exit codes: 0 something was read in each file, 1 a file held nothing that a reader knows, 2 a file could not be read.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, BinaryIO, NamedTuple

import typer

from ringtree.cli.options import AsJson
from ringtree.cli.outcome import FAILED, USAGE, exit_codes
from ringtree.errors import UsageError
from ringtree.logs import Imported, Item, read_stream
from ringtree.logs.export_json import JsonExport
from ringtree.logs.storing import store_log
from ringtree.results import StoreError
from ringtree.show.cells import console_for_tables
from ringtree.show.import_summary import Overview, print_overview
from ringtree.show.printable import printable

STANDARD_INPUT = "-"
_IN_MEMORY, _BLOCK = 1 << 24, 1 << 20


class _Outcome(NamedTuple):
    """`imported` null: the file could not be read, `problem` says why. `stored`: the id in the store."""

    imported: Imported | None = None
    stored: str | None = None
    problem: str | None = None


def import_logs(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Logs, traces, tables; - for standard input.")],
    runs: Annotated[Path, typer.Option(help="Directory of stored runs, which also receives the log.")] = Path("runs"),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what was read; store nothing.")] = False,
    json: AsJson = False,
) -> None:
    """Read logs of nccl-tests, NCCL, OSU, IMB and others and store them. Prints tables, versions, devices, and what
    could not be read."""
    with exit_codes():
        where = None if dry_run else runs
        code = _as_json(files, where) if json else _as_text(files, where)
        if code:
            raise typer.Exit(code)


def _as_json(files: list[str], runs: Path | None) -> int:
    worst = 0
    with JsonExport(sys.stdout) as export:
        for name in files:
            overview = Overview(name)
            export.begin(name)

            def emit(item: Item, overview: Overview = overview) -> None:
                overview.add(item)
                export.emit(item)

            outcome = _import(name, emit, overview, runs)
            export.end(outcome.imported, outcome.problem, outcome.stored)
            worst = max(worst, _code(overview, outcome))
    return worst


def _as_text(files: list[str], runs: Path | None) -> int:
    worst = 0
    console = console_for_tables()
    for name in files:
        overview = Overview(name)
        outcome = _import(name, overview.add, overview, runs)
        if outcome.imported is not None:
            print_overview(console, overview, outcome.imported, outcome.stored)
        worst = max(worst, _code(overview, outcome))
    return worst


def _import(name: str, emit: Callable[[Item], None], overview: Overview, runs: Path | None) -> _Outcome:
    """Reads a file, and stores it if something was read; what fails is said on standard error, and the others go on."""
    imported = None
    try:
        with _opened(name) as stream:
            imported = read_stream(stream, name, emit)
            if runs is None or not overview.num_items:
                return _Outcome(imported)
            stream.seek(0)
            return _Outcome(imported, store_log(stream, name, runs).run_id)
    except OSError as error:
        problem = f"can't read {name}: {error.strerror or error}"
    except (UsageError, StoreError) as error:
        problem = str(error)
    typer.echo(f"ringtree: {printable(problem)}", err=True)
    return _Outcome(imported, None, problem)


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    """Opens a file so that it can be read twice: a pipe is copied first."""
    if name == STANDARD_INPUT:
        with _copied(sys.stdin.buffer) as copy:
            yield copy  # type: ignore[misc] # it has what BinaryIO has
        return
    with open(name, "rb") as stream:
        if stream.seekable():
            yield stream
        else:
            with _copied(stream) as copy:
                yield copy  # type: ignore[misc] # as above


def _copied(stream: IO[bytes]) -> tempfile.SpooledTemporaryFile[bytes]:
    copy = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 — the caller closes it
    while block := stream.read(_BLOCK):
        copy.write(block)
    copy.seek(0)
    return copy


def _code(overview: Overview, outcome: _Outcome) -> int:
    if outcome.problem is not None:
        return USAGE
    return 0 if overview.num_items else FAILED
