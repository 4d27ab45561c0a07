"""`ringtree report RUN… -o report.html`: stored runs, and somebody's logs, as one page.

For: pasting into tickets, printing, reading on a phone. Not for: figures of papers (ringtree plot), schedules (ringtree
play).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from ringtree.audit import Setup
from ringtree.cli.options import MACHINE, RUNS, Runs, RunsOrLogs, asks
from ringtree.cli.outcome import exit_codes
from ringtree.errors import RingtreeError, UsageError, os_errors
from ringtree.explain.ladder_record import Ladder
from ringtree.show.ladder.picture import write_picture
from ringtree.show.run_page import Extra, report_page
from ringtree.show.training_page import read_trainings, trace_extra, training_page
from ringtree.show.views import read_views


@asks(Setup, MACHINE, into="setup")
def report(
    run: RunsOrLogs,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    explain: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Add the waterfall chart of a file written by `ringtree explain --json FILE`."
        ),
    ] = None,
    trace: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="Add the table of a folder written by `ringtree trace`; repeatable."),
    ] = None,
    runs: Runs = RUNS,
    *,
    setup: Setup,
) -> None:
    """Write stored runs, training runs or logs as one self-contained page: verdicts first, charts, tables, provenance;
    for logs also the findings of an audit."""
    with exit_codes():
        extras = [] if explain is None else [_waterfall(explain)]
        trainings = read_trainings(run, runs, setup)
        extras += [trace_extra(folder, trainings) for folder in trace or []]
        if trainings:
            _write(output, training_page(trainings, title=title, extras=extras))
            return
        views, named = read_views(run, runs, setup)
        if not extras and not any(view.cells for view in views):
            raise UsageError(
                f"{', '.join(run)}: no table of timings, so there is nothing to show; `ringtree import --dry-run` "
                "lists what was read, `ringtree audit` what was found"
            )
        _write(output, report_page(views, title=title or named, extras=extras))


def _write(output: Path, text: str) -> None:
    with os_errors(f"can't write {output}", kind=RingtreeError):
        output.write_text(text, encoding="utf-8")
    typer.echo(f"{output}: {len(text.encode()) / 1e6:.1f} MB, open it in a browser")


def _waterfall(file: Path) -> Extra:
    with os_errors(f"can't read {file}"):
        content = file.read_bytes()
    try:
        ladder = Ladder.model_validate_json(content)
    except ValidationError as error:
        raise UsageError(f"{file} is not what `ringtree explain --json` writes: {error.errors()[0]['msg']}") from error
    with tempfile.TemporaryDirectory(prefix="ringtree-") as directory:
        picture = Path(directory) / "waterfall.svg"
        write_picture(ladder, picture)
        return Extra("From a ring in Python to the engine, one thing at a time", svg=picture.read_bytes())
