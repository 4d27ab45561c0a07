"""Where a measurement comes from: date, machine, versions, commit.

For: headers of stored data and the page. Not for: names of machines or people, which are not kept.
"""

from __future__ import annotations

import time
from typing import Any

from ringtree.results import Provenance, Run


def origin(emulated: bool = False) -> dict[str, Any]:
    """Of a measurement that starts now, as JSON."""
    # Loaded here: reading stored data must not need the lab.
    from ringtree.measure.environment import capture

    return _told(time.strftime("%Y-%m-%d", time.gmtime()), capture(emulated, {}))


def origin_of(run: Run) -> dict[str, Any]:
    """Of a stored run, as JSON."""
    return _told(run.created_utc[:10], run.provenance)


def _told(date: str, where: Provenance) -> dict[str, Any]:
    return {
        "date": date,
        "cpu": where.cpu_model,
        "cores": len(where.affinity),
        "kernel": where.kernel,
        "versions": where.versions,
        "commit": where.git_commit,
    }
