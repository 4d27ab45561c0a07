"""How a comparison leaves a command: table, JSON or CSV on standard output, and the exit code.

For: what `ringtree compare` and `ringtree show` share. Not for: what is said (ringtree.judge).

Standard output holds nothing but the result.
"""

from __future__ import annotations

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
from ringtree.show.comparison_csv import csv_text
from ringtree.show.comparison_table import print_comparison
from ringtree.show.printable import printable
from ringtree.show.training_table import print_training


def check_format(as_json: bool, as_csv: bool) -> None:
    """Raises UsageError if two formats were asked for."""
    if as_json and as_csv:
        raise UsageError("the result is printed once: choose --json or --csv")


def finish(
    stored: StoredRun,
    runs: Path,
    *,
    as_json: bool,
    as_csv: bool,
    verbose: bool,
    baseline: str | None,
    fail_on_wrong: bool = True,
) -> None:
    """Prints a stored run and leaves with the exit code that belongs to it.

    `baseline`: the run (in `runs`, or a path) that it must not be slower than: exit code 3 if it is. With
    `fail_on_wrong`, a disqualified arm is exit code 1, which goes before. Raises UsageError for a baseline that can't
    be compared with, after the result was printed; RingtreeError if an arm is disqualified too.
    """
    check_format(as_json, as_csv)
    comparison = summarise(stored)
    problem: UsageError | None = None
    if baseline is not None:
        # A comparison may have taken an hour: a wrong baseline must not keep its result from being printed.
        try:
            found = compare_with_baseline(stored, read_run(find_run(runs, baseline)))
            comparison = comparison.model_copy(update={"regression": found})
        except UsageError as error:
            problem = error
    print_result(comparison, as_json, as_csv, verbose)
    wrong = fail_on_wrong and any(cell.disqualified for cell in comparison.cells)
    if problem is not None:
        # A wrong result may be why nothing could be compared: it must not leave as a mistake of the user's.
        raise RingtreeError(str(problem)) if wrong else problem
    if wrong:
        raise typer.Exit(FAILED)
    if comparison.regression is not None and comparison.regression.regressed:
        raise typer.Exit(SLOWER)


def finish_training(
    stored: StoredRun, *, as_json: bool, verbose: bool, steps: int | None = None, fail_on_wrong: bool = True
) -> None:
    """Prints a stored training and leaves with the exit code that belongs to it: 1 for a disqualified arm."""
    summary = summarise_training(stored)
    if as_json:
        typer.echo(summary.model_dump_json(indent=1))
    else:
        print_training(Console(), summary, steps, verbose)
    if fail_on_wrong and any(cell.disqualified for cell in summary.cells):
        raise typer.Exit(FAILED)


def print_result(comparison: Comparison, as_json: bool, as_csv: bool, verbose: bool) -> None:
    """Prints the result on standard output; with CSV, which has no room for it, the regression on standard error."""
    if as_json:
        typer.echo(comparison.model_dump_json(indent=1))
    elif as_csv:
        typer.echo(csv_text(comparison), nl=False)
        for line in regression_lines(comparison.regression) if comparison.regression is not None else []:
            typer.echo(printable(line), err=True)
    else:
        print_comparison(Console(), comparison, verbose)
