"""`ringtree show RUN`: what a stored run supports, again.

For: reading a run later or elsewhere, complete or not, and holding it against an earlier one. Not for: lists of runs
(runs.py) or raw samples (sql.py, export.py).
"""

from __future__ import annotations

from typing import Annotated

import typer

from ringtree.cli.options import RUNS, AsCsv, AsJson, Baseline, Runs, Verbose
from ringtree.cli.outcome import exit_codes
from ringtree.cli.output import check_format, finish, finish_training
from ringtree.errors import UsageError
from ringtree.results import find_run, read_run


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Directory, id, the beginning of an id, or last.")],
    runs: Runs = RUNS,
    fail_if_slower_than: Baseline = None,
    verbose: Verbose = False,
    json: AsJson = False,
    csv: AsCsv = False,
) -> None:
    """Show a stored run as `compare` printed it; complete or not."""
    with exit_codes():
        check_format(json, csv)
        stored = read_run(find_run(runs, run))
        if stored.run.plan.training is not None:
            if csv or fail_if_slower_than is not None:
                raise UsageError("a training is shown as a table or with --json")
            finish_training(stored, as_json=json, verbose=verbose, fail_on_wrong=False)
            return
        finish(
            stored, runs, as_json=json, as_csv=csv, verbose=verbose, baseline=fail_if_slower_than, fail_on_wrong=False
        )
