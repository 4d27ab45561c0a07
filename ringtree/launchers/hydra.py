"""MPICH and Intel MPI (mpiexec.hydra): PMI_RANK, PMI_SIZE, and which of its host's ranks this is.

For: reading their variables. Not for: PMI_RANK without MPI_LOCALRANKID, which other launchers set as well (pmi.py).

Intel MPI names the job in I_MPI_HYDRA_UUID. MPICH has no variable for it; but every rank is a descendant of a
hydra_pmi_proxy, whose command line names the host and port at which mpiexec listens: the same for all ranks of a job.
"""

from __future__ import annotations

from ringtree.launchers.allocation import take_allocation
from ringtree.launchers.identity import Finding, Identity, Surroundings

_PROXY = "hydra_pmi_proxy"


def read(surroundings: Surroundings) -> Identity | None:
    """Returns what Hydra says, None if this process is not one of its ranks."""
    environment = surroundings.environment
    found = Finding("Intel MPI" if environment.get("I_MPI_HYDRA_UUID") else "MPICH", environment)
    if not found.has("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"):
        return None
    found.number("rank", "PMI_RANK")
    found.number("world_size", "PMI_SIZE")
    found.number("local_rank", "MPI_LOCALRANKID")
    found.number("local_size", "MPI_LOCALNRANKS")
    take_allocation(found, environment)
    if not found.text("job", "I_MPI_HYDRA_UUID") and (where := _mpiexec(surroundings)):
        found.take("job", where, f"the command line of {_PROXY}")
        found.take("address", where.rpartition(":")[0], f"the command line of {_PROXY}")
    return found.identity()


def _mpiexec(surroundings: Surroundings) -> str | None:
    """Where mpiexec listens, as "host:port"; None if no proxy above this process tells."""
    for words in surroundings.command_lines():
        if words and words[0].rpartition("/")[2] == _PROXY and "--control-port" in words[:-1]:
            return words[words.index("--control-port") + 1]
    return None
