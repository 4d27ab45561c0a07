"""Open MPI 4 and 5 (mpirun, PRRTE): OMPI_COMM_WORLD_*, and PMIx's namespace as the job.

For: reading their variables. Not for: `srun --mpi=pmix`, which slurm.py reads, or jsrun (jsm.py).

OMPI_COMM_WORLD_NODE_RANK is a rank's number on its host, in spite of its name. mpirun's own host is the meeting point
where no scheduler lists hosts: version 4 has its address in a URI, version 5 its name in the namespace. Rank 0 runs
there unless a host file says otherwise.
"""

from __future__ import annotations

import re

from ringtree.launchers.allocation import take_allocation
from ringtree.launchers.identity import Finding, Identity, Surroundings

_URI = re.compile(r"tcp://([0-9.]+)")  # the first address: 606273536.0;tcp://192.0.2.2,10.0.0.2:51103;tcp6://…
_NAMESPACE = re.compile(r"prterun-(.+)-\d+@\d+")


def read(surroundings: Surroundings) -> Identity | None:
    """Returns what mpirun says, None if this process is not one of its ranks."""
    environment = surroundings.environment
    found = Finding("Open MPI", environment)
    if not found.has("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"):
        return None
    found.number("rank", "OMPI_COMM_WORLD_RANK")
    found.number("world_size", "OMPI_COMM_WORLD_SIZE")
    found.number("local_rank", "OMPI_COMM_WORLD_LOCAL_RANK")
    found.number("local_size", "OMPI_COMM_WORLD_LOCAL_SIZE")
    job = found.text("job", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid")
    take_allocation(found, environment)
    if uri := _URI.search(environment.get("OMPI_MCA_orte_hnp_uri", "")):
        found.take("address", uri[1], "OMPI_MCA_orte_hnp_uri")
    elif name := _NAMESPACE.fullmatch(job or ""):
        found.take("address", name[1], "PMIX_NAMESPACE")
    return found.identity()
