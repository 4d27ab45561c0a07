"""The switches that are tried of each library: what stands behind the colon of its arms, of all_reduce.

For: candidates. Not for: which variables they mean (ringtree.arms.mpi).

One that a version does not have is named by the library when it starts, and left out.
"""

from __future__ import annotations

import re

from ringtree.arms.mpi_libraries import IMPI, LIBRARIES, MPICH, ONECCL, OPENMPI, MpiProgram
from ringtree.errors import UsageError

COLLECTIVE = "all_reduce"
# By the number that Open MPI's rules files have for them: 0 is its own choice.
OPENMPI_ALGORITHMS = (
    "ignore",
    "basic_linear",
    "nonoverlapping",
    "recursive_doubling",
    "ring",
    "segmented_ring",
    "rabenseifner",
)
SWITCHES = {
    OPENMPI: OPENMPI_ALGORITHMS[1:],
    MPICH: ("recursive_doubling", "reduce_scatter_allgather"),
    # Without those that know of several hosts: 4 and 6.
    IMPI: ("1", "2", "3", "5", "7", "8", "9", "10", "11", "12"),
    ONECCL: ("direct", "rabenseifner", "nreduce", "ring", "double_tree", "recursive_doubling", "2d"),
}
_OF_MPICH_5 = ("ring", "tree", "recexch", "k_reduce_scatter_allgather", "recursive_multiplying")


def library_of(head: str) -> str:
    """Returns the library of "openmpi", "openmpi5", ... Raises UsageError for another arm."""
    library = re.sub(r"\d+$", "", head)
    if library not in LIBRARIES or not re.fullmatch(r"[a-z]+\d*", head):
        raise UsageError(f"--arms can't tune {head!r}: name {', '.join(LIBRARIES)}, or a version such as openmpi5")
    return library


def candidates(head: str) -> list[str]:
    """Returns the arms that are tried, the library's own choice first. Raises UsageError, BuildError."""
    library = library_of(head)
    found = SWITCHES[library]
    if library == MPICH and int(MpiProgram(head.rstrip("0123456789")).found().version.split(".")[0]) >= 5:
        found = (*found, *_OF_MPICH_5)
    return [head, *(f"{head}:{switch}" for switch in found)]
