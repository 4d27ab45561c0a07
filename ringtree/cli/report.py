"""`ringtree report RUN… -o report.html`: stored runs as one page.

For: pasting into tickets, printing, reading on a phone. Not for: figures of papers (ringtree plot), schedules (ringtree
play).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from ringtree.cli.outcome import exit_codes
from ringtree.errors import RingtreeError, UsageError
from ringtree.explain.picture import write_picture
from ringtree.explain.record import Ladder
from ringtree.report.run_page import Extra, report_page
from ringtree.results import find_run, read_run


def report(
    run: Annotated[list[str], typer.Argument(metavar="RUN...", help="Directory, id, the beginning of an id, or last.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="What stands above it.")] = None,
    explain: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What `ringtree explain --json FILE` wrote: its waterfall joins."),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where runs are stored.")] = Path("runs"),
) -> None:
    """Write stored runs as one self-contained page: verdicts first, charts, tables, provenance."""
    with exit_codes():
        stored = [read_run(find_run(runs, one)) for one in run]
        plans = [one.run.plan for one in stored]
        named = title or ", ".join(dict.fromkeys(f"{plan.collective}, {plan.num_ranks} ranks" for plan in plans))
        extras = [] if explain is None else [_waterfall(explain)]
        text = report_page(stored, title=named, extras=extras)
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise RingtreeError(f"can't write {output}: {error.strerror}") from error
        typer.echo(f"{output}: {len(text.encode()) / 1e6:.1f} MB, open it in a browser")


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
