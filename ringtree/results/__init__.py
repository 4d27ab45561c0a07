"""RESULT: the record of raw samples with their provenance, and its store.

For: everything that reads or writes measurements. Not for: computing on them (ringtree.stats) or taking them
(ringtree.lab).
"""

from ringtree.results.records import (
    FORMAT,
    ArmPlan,
    Cell,
    EmulatedCluster,
    Launch,
    Plan,
    Provenance,
    Record,
    Run,
    SizePlan,
    WrongElement,
)
from ringtree.results.store import RunWriter, StoredRun, new_run_id, read_run

__all__ = [
    "FORMAT",
    "ArmPlan",
    "Cell",
    "EmulatedCluster",
    "Launch",
    "Plan",
    "Provenance",
    "Record",
    "Run",
    "RunWriter",
    "SizePlan",
    "StoredRun",
    "WrongElement",
    "new_run_id",
    "read_run",
]
