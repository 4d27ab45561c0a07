"""`ringtree audit`: what a log really says.

For: options, text and exit code of an audit. Not for: finding anything (ringtree.audit).

Exit codes: 0 nothing above info was found, 1 warnings, 3 errors, 2 a mistake in what was asked (a file that can't be
read, too). With --claims: 3 if one falls, 2 if a table that one names can't be read. `--fail-on error` leaves with 0
for warnings, `--fail-on never` with 0 for everything that was audited.
"""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from ringtree.audit import Audit, FileReport, Finding, Session, Setup, Severity
from ringtree.cli.outcome import FAILED, exit_codes
from ringtree.errors import UsageError
from ringtree.lab.printable import printable

STANDARD_INPUT = "-"
CLAIMS_FORMAT = "ringtree.claims/1"
WARNINGS, ERRORS = FAILED, 3
SHOWN = 3  # places of one finding in the text; --json has all
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "dim"}


class FailOn(str, Enum):
    """From which severity on the exit code is not 0."""

    WARNING = "warning"
    ERROR = "error"
    NEVER = "never"


def audit(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE…", help="Logs, JSON, CSV, Markdown; - for standard input.")
    ] = None,
    gpu: Annotated[str | None, typer.Option(help="The GPU, where the log does not name it.")] = None,
    system: Annotated[str | None, typer.Option(help="The system, of the hardware catalogue.")] = None,
    hosts: Annotated[int | None, typer.Option(min=1, help="Number of hosts, where the log does not say it.")] = None,
    ranks: Annotated[int | None, typer.Option(min=1, help="Number of ranks that the run is said to have had.")] = None,
    claims: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A CSV file of claims (table,claim) to judge instead.")
    ] = None,
    fail_on: Annotated[FailOn, typer.Option(help="From which severity on the exit code is not 0.")] = FailOn.WARNING,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON and nothing else.")] = False,
) -> None:
    """Hold a log's figures against themselves and the hardware: what does not fit, by which arithmetic, and what would
    settle it. Exits with 1 for warnings and 3 for errors."""
    with exit_codes():
        if claims is not None:
            _judge_claims(claims, files or [], json, fail_on)
            return
        if not files:
            raise UsageError("name the files to audit, or - for standard input")
        setup = Setup(gpu, system, hosts, ranks)
        found, unread = _audited(files, setup)
        if json and found.files:
            typer.echo(found.model_dump_json(indent=1))
        elif found.files:
            _print(Console(), found)
        if unread:
            raise UsageError("; ".join(unread))
        _leave(found.worst, fail_on)


def _audited(files: list[str], setup: Setup) -> tuple[Audit, list[str]]:
    """Returns what was found, and which files can't be read: the others are audited all the same."""
    session = Session(setup)
    unread = []
    for name in files:
        try:
            if name == STANDARD_INPUT:
                session.add_stream(sys.stdin.buffer, "standard input")
            else:
                session.add_file(Path(name))
        except UsageError as error:
            unread.append(str(error))
    return session.finish(), unread


def _leave(worst: Severity | None, fail_on: FailOn) -> None:
    if worst is Severity.ERROR and fail_on is not FailOn.NEVER:
        raise typer.Exit(ERRORS)
    if worst is Severity.WARNING and fail_on is FailOn.WARNING:
        raise typer.Exit(WARNINGS)


def _print(console: Console, found: Audit) -> None:
    for report in found.files:
        style = _STYLES[report.worst] if report.worst not in (None, Severity.INFO) else "bold"
        _line(console, f"{report.file}: {report.verdict}", style)
        for lines in _described(report):
            for text, style in lines:
                _line(console, text, style)
    if len(found.files) > 1:
        bad = sum(report.worst not in (None, Severity.INFO) for report in found.files)
        _line(console, f"{len(found.files)} files, {bad} of them with findings above info", "bold")


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(printable(text), style=style), soft_wrap=True, highlight=False)


def _described(report: FileReport) -> Iterator[list[tuple[str, str]]]:
    """Yields the lines of each kind of finding, each with its style."""
    for (_, code), group in groupby(sorted(report.findings, key=_order), key=_order):
        findings = list(group)
        first = findings[0]
        places = "" if len(findings) == 1 else f" (at {len(findings)} places)"
        lines = [(f"  {first.severity.value} {code}: {first.title}{places}", _STYLES[first.severity])]
        for finding in findings[:SHOWN]:
            lines.append((f"    {_place(finding)}{finding.arithmetic}", ""))
        if len(findings) > SHOWN:
            lines.append((f"    and {len(findings) - SHOWN} more: --json", "dim"))
        lines.append((f"    settled by: {first.settles}", "dim"))
        yield lines


def _order(finding: Finding) -> tuple[int, str]:
    return -finding.severity.rank, finding.code


def _place(finding: Finding) -> str:
    if not finding.rows:
        return "" if not finding.table else f"table at line {finding.table}: "
    first, last = min(finding.rows), max(finding.rows)
    more = f", {finding.num_rows} rows" if finding.num_rows > 1 else ""
    return f"line {first}: " if first == last else f"lines {first}–{last}{more}: "


def _judge_claims(path: Path, files: list[str], as_json: bool, fail_on: FailOn) -> None:
    if files:
        raise UsageError("--claims judges a file of claims: name no other files with it")
    try:
        claims = import_module("ringtree.audit.claims")
    except ImportError:
        raise UsageError("this ringtree can't judge claims: it has no ringtree.audit.claims") from None
    judgements = claims.judge_file(path)
    if as_json:
        records = [one.model_dump(mode="json") for one in judgements]
        typer.echo(json_format.dumps({"format": CLAIMS_FORMAT, "judgements": records}, indent=1))
    else:
        for line in claims.as_text(judgements).splitlines():
            typer.echo(printable(line))
    missing = claims.missing_tables(path)
    if missing:
        # After the judgements: what could be judged is not lost, but a table's name mistyped must not pass.
        raise UsageError(f"can't read {', '.join(missing)}: no readable file of that name beside {path}")
    if fail_on is not FailOn.NEVER and any(one.verdict is claims.Verdict.FALLS for one in judgements):
        raise typer.Exit(ERRORS)
