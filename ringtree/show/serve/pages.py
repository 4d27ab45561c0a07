"""The pages of the web app: reports, comparisons and the player, of runs by their ids in the store.

For: routes.py. Not for: what the pages draw (ringtree.show), requests.

Names come from outside: a run is one that the store lists, and no path is made of anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ringtree.errors import UsageError
from ringtree.judge.runs import Contender, compare, read_contender
from ringtree.logs.storing import list_imports
from ringtree.results import list_runs
from ringtree.results.described import FIELDS, describe
from ringtree.schedules.schedule import schedule
from ringtree.show.compare_page import compare_page
from ringtree.show.player import page, scene
from ringtree.show.run_page import report_page
from ringtree.show.training_page import read_trainings, training_page
from ringtree.show.views import read_views

MAX_RANKS = 128


def report(runs: Path, run_ids: Sequence[str]) -> str:
    """Returns the report of runs, or of trainings. Raises UsageError if the store has none of an id."""
    names = [_known(runs, one) for one in run_ids]
    trainings = read_trainings(names, runs)
    if trainings:
        return training_page(trainings)
    views, title = read_views(names, runs)
    return report_page(views, title=title)


def comparison(runs: Path, run_ids: Sequence[str]) -> tuple[str, bool]:
    """Returns the page that compares the first run, the baseline, with the others, and whether they can be compared: if
    they have nothing in common the page says so. Raises UsageError if the store has none of an id."""
    if len(run_ids) < 2:
        raise UsageError("a comparison needs two runs: choose the baseline first, then the others")
    contenders = [_contender(runs, one) for one in run_ids]
    heading = f"{', '.join(one.name for one in contenders[1:])} against {contenders[0].name}"
    try:
        return compare_page(compare(contenders), heading=heading, home="/"), True
    except UsageError as error:
        return compare_page(None, heading=heading, problem=str(error), home="/"), False


def player(algorithms: str, ranks: int, collective: str) -> str:
    """Returns the player of algorithms, by commas. Raises UsageError."""
    if not 1 <= ranks <= MAX_RANKS:
        raise UsageError(f"the player here takes 1 to {MAX_RANKS} ranks, not {ranks}")
    chosen = [schedule(collective, name, ranks) for name in algorithms.split(",") if name]
    return page(
        [scene(one) for one in chosen],
        title=", ".join(one.name for one in chosen),
        alpha=1e-5,
        bandwidth=25e9,
        size_bytes=1 << 20,
        slice_bytes=128 << 10,
    )


def described(runs: Path) -> list[dict[str, Any]]:
    """Returns the runs and then the imported logs as lists show them, newest first, without their paths."""
    rows = [describe(one) for one in list_runs(runs)]
    for header in list_imports(runs):
        row = dict.fromkeys(FIELDS) | {"run_id": header.run_id, "state": "imported", "host": header.name}
        rows.append(row | {"created_utc": header.created_utc})
    return [{name: value for name, value in row.items() if name != "path"} for row in rows]


def _contender(runs: Path, run_id: str) -> Contender:
    found = read_contender(_known(runs, run_id), runs)
    return Contender(run_id, found.series, found.notes)


def _known(runs: Path, run_id: str) -> str:
    """Where the run, or the imported log, with this id lies. Raises UsageError if the store has none."""
    stored = [one.run_id for one in list_runs(runs) if one.run is not None]
    if run_id not in [*stored, *(header.run_id for header in list_imports(runs))]:
        raise UsageError(f"there is no run {run_id!r} here")
    return str(runs / run_id)
