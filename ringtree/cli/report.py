"""`ringtree report RUN… -o report.html`: stored runs as one page.

For: pasting into tickets, printing, reading on a phone. Not for: figures of papers (ringtree plot), schedules (ringtree
play).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtree.cli.outcome import exit_codes
from ringtree.errors import RingtreeError
from ringtree.report.run_page import report_page
from ringtree.results import find_run, read_run


def report(
    run: Annotated[list[str], typer.Argument(metavar="RUN...", help="Directory, id, the beginning of an id, or last.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="What stands above it.")] = None,
    runs: Annotated[Path, typer.Option(help="Where runs are stored.")] = Path("runs"),
) -> None:
    """Write stored runs as one self-contained page: verdicts first, charts, tables, provenance."""
    with exit_codes():
        stored = [read_run(find_run(runs, one)) for one in run]
        plans = [one.run.plan for one in stored]
        named = title or ", ".join(dict.fromkeys(f"{plan.collective}, {plan.num_ranks} ranks" for plan in plans))
        text = report_page(stored, title=named)
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise RingtreeError(f"can't write {output}: {error.strerror}") from error
        typer.echo(f"{output}: {len(text.encode()) / 1e6:.1f} MB, open it in a browser")
