"""`ringtree audit`: what a log really says.

For: options, text and exit code of an audit. Not for: finding anything (ringtree.audit).

Exit codes: 0 nothing above info was found, 1 warnings, 3 errors, 2 the command or its input is invalid (also if a file,
or most of its rows, can't be read). With --claims: 3 if one falls, 2 if a table or column that one names is not there.
`--fail-on error` exits with 0 for warnings, `--fail-on never` with 0 for everything that was audited.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import Enum
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from ringtree.audit import Audit, AuditRun, FileReport, Finding, Setup, Severity
from ringtree.audit.claims import Verdict, as_text, judge_file
from ringtree.cli.options import MACHINE, AsJson, asks
from ringtree.cli.outcome import FAILED, exit_codes
from ringtree.errors import UsageError
from ringtree.show.printable import printable

STANDARD_INPUT = "-"
WARNINGS, ERRORS = FAILED, 3
SHOWN = 3  # places of one finding in the text; --json has all
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "dim"}


class FailOn(str, Enum):
    """Lowest severity that fails (exit code other than 0)."""

    WARNING = "warning"
    ERROR = "error"
    NEVER = "never"


@asks(Setup, MACHINE, into="setup")
def audit(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE…", help="Logs, JSON, CSV, Markdown; - for standard input.")
    ] = None,
    *,
    setup: Setup,
    claims: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A TOML or JSON file of claims to judge instead (docs/claims.md)."),
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option(help="Lowest severity that fails (exit code other than 0).")
    ] = FailOn.WARNING,
    json: AsJson = False,
) -> None:
    """Check a log's figures against each other and against the hardware. Each finding comes with its arithmetic and
    with what would settle it. Exits with 1 for warnings and 3 for errors."""
    with exit_codes():
        if claims is not None:
            _judge_claims(claims, files or [], json, fail_on)
            return
        if not files:
            raise UsageError("name the files to audit, or - for standard input")
        found, unread = _audited(files, setup)
        if json and found.files:
            typer.echo(found.model_dump_json(indent=1))
        elif found.files:
            _print(Console(), found)
        mostly = [one for one in found.files if one.mostly_left_out and one.worst is not Severity.ERROR]
        unread += [f"{one.file}: most of its rows could not be read: {one.left_out}" for one in mostly]
        if unread:
            raise UsageError("; ".join(unread))
        _leave(found.worst, fail_on)


def _audited(files: list[str], setup: Setup) -> tuple[Audit, list[str]]:
    """Returns what was found, and which files can't be read: the others are audited all the same."""
    session = AuditRun(setup)
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
    judged = judge_file(path)
    if as_json:
        typer.echo(judged.model_dump_json(indent=1))
    else:
        for line in as_text(judged).splitlines():
            typer.echo(printable(line))
    if judged.missing:
        # After the judgements: what could be judged is not lost, but a name mistyped must not pass.
        raise UsageError("; ".join(judged.missing))
    if fail_on is not FailOn.NEVER and any(one.verdict is Verdict.FALLS for one in judged.judgements):
        raise typer.Exit(ERRORS)
