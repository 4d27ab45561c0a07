"""Slurm's srun: SLURM_PROCID in a job step.

For: reading the variables of a step. Not for: a batch script or an salloc shell, which are not ranks although
SLURM_PROCID is set there (a step's id is not), or an mpirun that they start (allocation.py).

The step's own counts come first: those of the job also stand in the environment of a step with fewer tasks.
"""

from __future__ import annotations

from ringtree.launchers import host_lists
from ringtree.launchers.identity import Finding, Identity, Surroundings


def read(surroundings: Surroundings) -> Identity | None:
    """Returns what srun says, None outside of a job step. Raises UsageError for lists that can't be read."""
    environment = surroundings.environment
    found = Finding("Slurm", environment)
    step = environment.get("SLURM_STEP_ID", "")
    if not (step.isdigit() and found.has("SLURM_PROCID")):
        return None
    found.number("rank", "SLURM_PROCID")
    if found.number("world_size", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS") is None:
        return None
    found.number("local_rank", "SLURM_LOCALID")
    node = found.number("host_rank", "SLURM_NODEID")
    found.number("num_hosts", "SLURM_STEP_NUM_NODES", "SLURM_NNODES")
    if tasks := environment.get("SLURM_STEP_TASKS_PER_NODE"):
        counts = host_lists.tasks_per_node(tasks)
        if node is not None and node < len(counts):
            found.take("local_size", counts[node], "SLURM_STEP_TASKS_PER_NODE")
    for variable in ("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"):
        if nodes := environment.get(variable):
            found.take("hosts", host_lists.expand(nodes), variable)
            break
    if job := environment.get("SLURM_JOB_ID"):
        found.take("job", f"{job}.{step}", "SLURM_JOB_ID, SLURM_STEP_ID")
    return found.identity()
