"""How many runs stand behind a printed figure, as a column beside it tells: `runs_per_cell`, `launches`.

For: checks and pages that must not call such a figure a single run. Not for: how far runs lie apart: a count says
nothing of it.
"""

from __future__ import annotations

import re

from ringtree.logs import Side

_RUNS = re.compile(r"(?:^|[ _])(?:runs|launches|repeats|repetitions)\b|\bruns_", re.IGNORECASE)


def counts_runs(heading: str) -> bool:
    """Says whether a column of this heading counts runs."""
    return _RUNS.search(heading) is not None


def num_runs(side: Side) -> int | None:
    """Returns the largest count of runs that stands beside a measurement; None if none does."""
    told = [int(one.value) for name, one in side.others if counts_runs(name) and 1 <= one.value < 1e9]
    return max(told, default=None)
