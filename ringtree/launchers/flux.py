"""Flux (flux run): FLUX_TASK_RANK and FLUX_JOB_SIZE.

For: reading its variables. Not for: its key-value store, or PMI, which it offers as well (pmi.py).

Read as its documentation describes it; there was no Flux at hand. It gives no list of hosts by a variable, so ranks on
several hosts need MASTER_ADDR.
"""

from __future__ import annotations

from ringtree.launchers.identity import Finding, Identity, Surroundings


def read(surroundings: Surroundings) -> Identity | None:
    """Returns what Flux says, None if this process is not one of its tasks."""
    found = Finding("Flux", surroundings.environment)
    if not found.has("FLUX_TASK_RANK", "FLUX_JOB_SIZE"):
        return None
    found.number("rank", "FLUX_TASK_RANK")
    size = found.number("world_size", "FLUX_JOB_SIZE")
    found.number("local_rank", "FLUX_TASK_LOCAL_ID")
    if found.number("num_hosts", "FLUX_JOB_NNODES") == 1:
        found.take("local_size", size, "FLUX_JOB_SIZE on one node")
    found.text("job", "FLUX_JOB_ID")
    return found.identity()
