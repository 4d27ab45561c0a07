"""How a comparison leaves a command: table, JSON or CSV on standard output, and the exit code.

For: what `ringtree compare` and `ringtree show` share, options included. Not for: what is said (ringtree.judge).

Standard output holds nothing but the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from ringtree.cli.outcome import FAILED, SLOWER
from ringtree.errors import RingtreeError, UsageError
from ringtree.judge.comparison import Comparison
from ringtree.judge.regression import compare_with_baseline, regression_lines
from ringtree.judge.summary import summarise
from ringtree.judge.training import summarise_training
from ringtree.results import StoredRun, find_run, read_run
from ringtree.show.comparison_csv import comparison_csv
from ringtree.show.comparison_table import print_comparison
from ringtree.show.printable import printable
from ringtree.show.training_csv import training_csv
from ringtree.show.training_table import print_training


@dataclass(frozen=True)
class Wanted:
    """How the result is wanted. `fail_if_slower_than`: the run (of the same folder, or a path) that it must not be
    slower than."""

    fail_if_slower_than: str | None = None
    verbose: bool = False
    json: bool = False
    csv: bool = False


WANTED = {
    "fail_if_slower_than": typer.Option(
        metavar="RUN", help="Exit with 3 if an arm is shown to be slower than in a stored run."
    ),
    "verbose": typer.Option("--verbose", "-v", help="Print all figures, the legend and every note."),
    "json": typer.Option("--json", help="Print JSON only."),
    "csv": typer.Option("--csv", help="Print CSV only."),
}


def check_format(wanted: Wanted) -> None:
    """Raises UsageError if two formats were asked for."""
    if wanted.json and wanted.csv:
        raise UsageError("the result is printed once: choose --json or --csv")


def warn_of(line: str | None, stderr: Console) -> None:
    """Prints a warning before a run, if there is one."""
    if line is not None:
        stderr.print(f"warning: {line}", markup=False, highlight=False, soft_wrap=True)


def finish(stored: StoredRun, runs: Path, wanted: Wanted, *, fail_on_wrong: bool = True) -> None:
    """Prints a stored run and leaves with the exit code that belongs to it: 3 if it is slower than the baseline in
    `runs`. With `fail_on_wrong`, a disqualified arm is exit code 1, which goes before. Raises UsageError for a baseline
    that can't be compared with, after the result was printed; RingtreeError if an arm is disqualified too.
    """
    check_format(wanted)
    comparison = summarise(stored)
    problem: UsageError | None = None
    if wanted.fail_if_slower_than is not None:
        # A comparison may have taken an hour: a wrong baseline must not keep its result from being printed.
        try:
            found = compare_with_baseline(stored, read_run(find_run(runs, wanted.fail_if_slower_than)))
            comparison = comparison.model_copy(update={"regression": found})
        except UsageError as error:
            problem = error
    print_result(comparison, wanted)
    wrong = fail_on_wrong and any(cell.disqualified for cell in comparison.cells)
    if problem is not None:
        # A wrong result may be why nothing could be compared: it must not leave as a mistake of the user's.
        raise RingtreeError(str(problem)) if wrong else problem
    if wrong:
        raise typer.Exit(FAILED)
    if comparison.regression is not None and comparison.regression.regressed:
        raise typer.Exit(SLOWER)


def finish_training(stored: StoredRun, wanted: Wanted, *, steps: int | None = None, fail_on_wrong: bool = True) -> None:
    """Prints a stored training and leaves with the exit code that belongs to it: 1 for a disqualified arm."""
    check_format(wanted)
    summary = summarise_training(stored)
    if wanted.json:
        typer.echo(summary.model_dump_json(indent=1))
    elif wanted.csv:
        typer.echo(training_csv(summary), nl=False)
    else:
        print_training(Console(), summary, steps, wanted.verbose)
    if fail_on_wrong and any(cell.disqualified for cell in summary.cells):
        raise typer.Exit(FAILED)


def print_result(comparison: Comparison, wanted: Wanted) -> None:
    """Prints the result on standard output; with CSV, which has no room for it, the regression on standard error."""
    if wanted.json:
        typer.echo(comparison.model_dump_json(indent=1))
    elif wanted.csv:
        typer.echo(comparison_csv(comparison), nl=False)
        for line in regression_lines(comparison.regression) if comparison.regression is not None else []:
            typer.echo(printable(line), err=True)
    else:
        print_comparison(Console(), comparison, wanted.verbose)
