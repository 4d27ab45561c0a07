"""`ringtree show RUN`: what a stored run supports, again.

For: reading a run later or elsewhere, complete or not, and holding it against an earlier one. Not for: lists of runs
(runs.py) or raw samples (sql.py, export.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtree.cli.outcome import exit_codes
from ringtree.cli.output import check_format, finish
from ringtree.results import find_run, read_run


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Directory, id, the beginning of an id, or last.")],
    runs: Annotated[Path, typer.Option(help="Where runs are stored.")] = Path("runs"),
    fail_if_slower_than: Annotated[
        str | None, typer.Option(metavar="RUN", help="Exit with 3 if an arm is slower than it was in a stored run.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the result as CSV and nothing else.")] = False,
) -> None:
    """Show a stored run as `compare` printed it; complete or not."""
    with exit_codes():
        check_format(json, csv)
        stored = read_run(find_run(runs, run))
        finish(stored, runs, as_json=json, as_csv=csv, baseline=fail_if_slower_than, fail_on_wrong=False)
