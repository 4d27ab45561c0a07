"""PALS (mpiexec and aprun of HPE Cray systems, under PBS): PALS_RANKID, with Cray PMI's sizes.

For: reading their variables. Not for: PBS itself, which numbers no ranks (allocation.py).

Read as the documentation of systems that have it describes it; no such system was at hand.
"""

from __future__ import annotations

from ringtree.launchers.allocation import take_allocation
from ringtree.launchers.identity import Finding, Identity, Surroundings


def read(surroundings: Surroundings) -> Identity | None:
    """Returns what PALS says, None if this process is not one of its ranks."""
    environment = surroundings.environment
    found = Finding("PALS", environment)
    if not (found.has("PALS_RANKID") and (found.has("PALS_SIZE") or found.has("PMI_SIZE"))):
        return None
    found.number("rank", "PALS_RANKID")
    found.number("world_size", "PALS_SIZE", "PMI_SIZE")
    found.number("local_rank", "PALS_LOCAL_RANKID")
    found.number("local_size", "PALS_LOCAL_SIZE", "PMI_LOCAL_SIZE")
    found.number("host_rank", "PALS_NODEID")
    found.text("job", "PALS_APID", "PBS_JOBID")
    take_allocation(found, environment)
    return found.identity()
