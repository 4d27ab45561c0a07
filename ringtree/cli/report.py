"""`ringtree report RUN… -o report.html`: stored runs, and somebody's logs, as one page.

For: pasting into tickets, printing, reading on a phone. Not for: figures of papers (ringtree plot), schedules (ringtree
play).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from ringtree.audit import Setup
from ringtree.cli.outcome import exit_codes
from ringtree.errors import RingtreeError, UsageError
from ringtree.explain.picture import write_picture
from ringtree.explain.record import Ladder
from ringtree.logs.storing import find_import
from ringtree.report.run_page import Extra, LogBook, report_page
from ringtree.results import StoredRun, find_run, read_run

STANDARD_INPUT = "-"


def report(
    run: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Stored runs and imported logs (directory, id, the beginning of an id, last), log files, - for "
            "standard input.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="What stands above it.")] = None,
    explain: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What `ringtree explain --json FILE` wrote: its waterfall joins."),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where runs are stored.")] = Path("runs"),
    gpu: Annotated[str | None, typer.Option(help="The GPU of the logs, where they do not name it.")] = None,
    system: Annotated[str | None, typer.Option(help="Their system, of the hardware catalogue.")] = None,
    hosts: Annotated[int | None, typer.Option(min=1, help="Their number of hosts, where they do not say it.")] = None,
    ranks: Annotated[
        int | None, typer.Option(min=1, help="The number of ranks that they are said to have had.")
    ] = None,
) -> None:
    """Write stored runs and logs as one self-contained page: verdicts first, charts, tables, provenance; of logs what
    the audit found."""
    with exit_codes():
        stored: list[StoredRun] = []
        logs = LogBook(Setup(gpu, system, hosts, ranks))
        for one in run:
            if not _take_log(logs, one, runs):
                stored.append(read_run(find_run(runs, one)))
        plans = [one.run.plan for one in stored]
        parts = [f"{plan.collective}, {plan.num_ranks} ranks" for plan in plans] + ([logs.title()] if logs else [])
        extras = [] if explain is None else [_waterfall(explain)]
        text = report_page(stored, title=title or ", ".join(dict.fromkeys(parts)), logs=logs, extras=extras)
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise RingtreeError(f"can't write {output}: {error.strerror}") from error
        typer.echo(f"{output}: {len(text.encode()) / 1e6:.1f} MB, open it in a browser")


def _take_log(logs: LogBook, text: str, runs: Path) -> bool:
    """Reads the log that `text` names; returns False if it names none."""
    if text == STANDARD_INPUT:
        logs.add_stream(sys.stdin.buffer, "standard input")
        return True
    if Path(text).is_file():
        logs.add_file(Path(text))
        return True
    imported = find_import(runs, text)
    if imported is not None:
        logs.add_stored(imported)
    return imported is not None


def _waterfall(file: Path) -> Extra:
    try:
        ladder = Ladder.model_validate_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"can't read {file}: {error.strerror}") from error
    except ValidationError as error:
        raise UsageError(f"{file} is not what `ringtree explain --json` writes: {error.errors()[0]['msg']}") from error
    with tempfile.TemporaryDirectory(prefix="ringtree-") as directory:
        picture = Path(directory) / "waterfall.svg"
        write_picture(ladder, picture)
        return Extra("From a ring in Python to the engine, one thing at a time", svg=picture.read_bytes())
