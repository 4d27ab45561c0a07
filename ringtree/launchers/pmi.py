"""PMI_RANK and PMI_SIZE alone, as launchers give them that have no reader here.

For: what all PMI launchers set. Not for: Hydra, which says more (hydra.py), nor Slurm, PALS and Flux, which set these
beside their own and come before this in the table.
"""

from __future__ import annotations

from ringtree.launchers.allocation import job_of, take_allocation
from ringtree.launchers.identity import Finding, Identity, Surroundings


def read(surroundings: Surroundings) -> Identity | None:
    """Returns what PMI says, None without it."""
    environment = surroundings.environment
    found = Finding("PMI", environment)
    if not found.has("PMI_RANK", "PMI_SIZE") or found.has("MPI_LOCALRANKID"):
        return None
    found.number("rank", "PMI_RANK")
    found.number("world_size", "PMI_SIZE")
    found.number("local_rank", "PMI_LOCAL_RANK")
    found.number("local_size", "PMI_LOCAL_SIZE")
    if not found.text("job", "PMI_JOBID") and (job := job_of(environment)):
        found.take("job", job[1], f"the job of {job[0]}")
    take_allocation(found, environment)
    return found.identity()
