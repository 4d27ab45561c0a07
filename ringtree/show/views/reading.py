"""From what a user names to views: stored runs, stored imports, log files, standard input.

For: `ringtree report` and `ringtree plot`, alike. Not for: contenders of a comparison (ringtree.judge.runs).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from ringtree.audit import Setup
from ringtree.logs.storing import find_log
from ringtree.results import find_run, read_run
from ringtree.show.views.of_logs import LogBook
from ringtree.show.views.of_run import view_of_run
from ringtree.show.views.view import View

STANDARD_INPUT = "-"


def read_views(names: Iterable[str], runs: Path, setup: Setup | None = None) -> tuple[list[View], str]:
    """Returns the views, those of runs first, and a title. Raises UsageError for what names nothing."""
    views, logs = [], LogBook(setup)
    for name in names:
        log = None if name == STANDARD_INPUT else find_log(runs, name)
        if log is not None:
            logs.add_reading(log.name, log.read)
        elif name == STANDARD_INPUT:
            logs.add_stream(sys.stdin.buffer, "standard input")
        else:
            views.append(view_of_run(read_run(find_run(runs, name))))
    parts = [f"{one.collective}, {one.num_ranks} ranks" for one in views] + ([logs.title()] if logs else [])
    return views + (logs.views() if logs else []), ", ".join(dict.fromkeys(parts))
