"""MPI libraries and oneCCL: which are here, in which version.

For: what the arms of MPI start. Not for: what is missing (arms.py says it for each arm).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.arms.mpi_libraries import HOW_TO_GET
from ringtree.doctor.host import Host
from ringtree.doctor.records import Fact, ok, told, warn


def libraries(host: Host) -> Iterator[Fact]:
    """Each library that is found, by its launcher."""
    found = {library: host.software.mpi(library) for library in HOW_TO_GET}
    for library, copy in found.items():
        if copy is not None:
            yield ok(library, f"{copy.version} ({copy.launcher})", "its launcher's --version")
    if not any(found.values()):
        yield told("MPI", "none", "PATH, the Python environment", "mpirun and mpicc of the same library are needed")


def inside_a_job(host: Host) -> Iterator[Fact]:
    """Whether this process was started by an MPI launcher itself."""
    by = next((name for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK") if name in host.environment), None)
    if by:
        why = (
            "the ranks of an MPI library's arm start badly or not at all from inside a launcher's job: measure these "
            "arms outside of it, or with --launcher; all others run inside"
        )
        yield warn("started by mpirun", f"{by}={host.environment[by]}", "environment", why)
