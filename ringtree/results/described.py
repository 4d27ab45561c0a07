"""A run in a few facts: what lists of runs show.

For: `ringtree runs` and the web app. Not for: results (reading.py, query.py).
"""

from __future__ import annotations

from typing import Any

from ringtree.errors import UsageError
from ringtree.results.listing import RunListing
from ringtree.results.writer_lock import writer_of

FIELDS = (
    "run_id",
    "path",
    "state",
    "problem",
    "created_utc",
    "purpose",
    "collective",
    "sizes",
    "arms",
    "num_ranks",
    "launches_stored",
    "launches_planned",
    "host",
    "emulated",
    "simulated",
)
COMPLETE, RUNNING, INCOMPLETE, UNREADABLE = "complete", "running", "incomplete", "unreadable"


def describe(listing: RunListing) -> dict[str, Any]:
    """Returns what FIELDS name; None for what an unreadable run does not tell."""
    row: dict[str, Any] = dict.fromkeys(FIELDS)
    row.update(run_id=listing.run_id, path=str(listing.path), state=UNREADABLE, problem=listing.problem)
    if listing.run is None:
        return row
    plan, where = listing.run.plan, listing.run.provenance
    row.update(
        state=_state(listing), created_utc=listing.run.created_utc, host=where.host_name, emulated=where.emulated
    )
    row.update(purpose=plan.purpose, collective=plan.collective, num_ranks=plan.num_ranks)
    row.update(simulated=plan.simulation is not None)
    row.update(sizes=[size.size_bytes for size in plan.sizes], arms=[arm.label for arm in plan.arms])
    row.update(launches_stored=listing.num_stored, launches_planned=listing.num_planned)
    return row


def _state(listing: RunListing) -> str:
    if listing.num_stored >= (listing.num_planned or 0):
        return COMPLETE
    try:
        return INCOMPLETE if writer_of(listing.path) is None else RUNNING
    except UsageError:
        return INCOMPLETE  # resuming it will say what is wrong with the lock
