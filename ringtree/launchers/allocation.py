"""What the scheduler gave the job: its id and its hosts, for launchers that run inside it and don't say.

For: Slurm, PBS and LSF around an mpirun. Not for: ranks, which schedulers' own launchers number (slurm.py, pals.py,
jsm.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ringtree.launchers import host_lists
from ringtree.launchers.identity import Finding

# PBS writes it on the job's first host; on the others the variable may name a file that is not there.
NODE_FILE = "PBS_NODEFILE"


def take_allocation(found: Finding, environment: Mapping[str, str]) -> None:
    """Adds the job's hosts to what was found. Raises UsageError for a list that can't be read."""
    if nodes := environment.get("SLURM_JOB_NODELIST"):
        found.take("hosts", host_lists.expand(nodes), "SLURM_JOB_NODELIST")
    elif (path := environment.get(NODE_FILE)) and Path(path).is_file():
        found.take("hosts", host_lists.from_file(path), NODE_FILE)
    elif slots := environment.get("LSB_MCPU_HOSTS"):
        found.take("hosts", host_lists.with_counts(slots), "LSB_MCPU_HOSTS")
    elif names := environment.get("LSB_HOSTS"):
        found.take("hosts", host_lists.in_order(names.split()), "LSB_HOSTS")


def job_of(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Returns the scheduler's name and its job's id, None outside of a job."""
    for scheduler, variable in (("Slurm", "SLURM_JOB_ID"), ("PBS", "PBS_JOBID"), ("LSF", "LSB_JOBID")):
        if job := environment.get(variable):
            return scheduler, job
    return None
