"""`ringtree show RUN`: what a stored run supports, again.

For: reading a run later or elsewhere, complete or not, and holding it against an earlier one. Not for: lists of runs
(runs.py) or raw samples (sql.py, export.py).
"""

from __future__ import annotations

from typing import Annotated

import typer

from ringtree.cli.options import RUNS, Runs, asks
from ringtree.cli.outcome import exit_codes
from ringtree.cli.output import WANTED, Wanted, check_format, finish, finish_training
from ringtree.errors import UsageError
from ringtree.results import find_run, read_run


@asks(Wanted, WANTED, into="wanted")
def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Directory, id, id prefix, or last.")],
    runs: Runs = RUNS,
    *,
    wanted: Wanted,
) -> None:
    """Print a stored run as `compare` did, whether or not it is complete."""
    with exit_codes():
        check_format(wanted)
        stored = read_run(find_run(runs, run))
        if stored.run.plan.training is not None:
            if wanted.fail_if_slower_than is not None:
                raise UsageError("--fail-if-slower-than compares collectives, not training runs")
            finish_training(stored, wanted, fail_on_wrong=False)
            return
        finish(stored, runs, wanted, fail_on_wrong=False)
