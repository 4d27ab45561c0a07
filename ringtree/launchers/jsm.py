"""JSM (IBM's jsrun, under LSF): JSM_NAMESPACE_RANK and its like.

For: reading its variables. Not for: LSF itself (allocation.py); jsrun also sets Open MPI's variables, alike.

Read as the documentation of systems that have it describes it; no such system was at hand. The first host of LSF's list
is the one from which jsrun was called, and runs no rank.
"""

from __future__ import annotations

from ringtree.launchers import host_lists
from ringtree.launchers.identity import Finding, Identity, Surroundings


def read(surroundings: Surroundings) -> Identity | None:
    """Returns what jsrun says, None if this process is not one of its ranks."""
    environment = surroundings.environment
    found = Finding("JSM", environment)
    if not found.has("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"):
        return None
    found.number("rank", "JSM_NAMESPACE_RANK")
    found.number("world_size", "JSM_NAMESPACE_SIZE")
    found.number("local_rank", "JSM_NAMESPACE_LOCAL_RANK")
    found.number("local_size", "JSM_NAMESPACE_LOCAL_SIZE")
    if slots := environment.get("LSB_MCPU_HOSTS"):
        found.take("hosts", host_lists.with_counts(slots)[1:] or None, "LSB_MCPU_HOSTS")
    found.text("job", "LSB_JOBID")
    return found.identity()
