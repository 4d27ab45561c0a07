"""The rows of other libraries: what there is of them on this machine.

For: the list. Not for: doing it (peers.py, open_mpi.py).
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from hosts_support import why_no_hosts

from faults import bars
from faults.matrix import Row
from faults.open_mpi import OPEN_MPI, open_mpi
from faults.peers import gloo
from faults.trial import Cell, Trial, World

KILLED, STOPPED, DROPPED = "killed in a call", "stopped for ever", "network drops all packets"
HERE, APART = World(0, 4), World(2, 2)


def rows(quick: bool) -> list[Row]:
    repeats = 1 if quick else 2

    def row(fault: str, engine: str, attempt: Callable[[Cell], Trial], world: World) -> Row:
        return Row(fault, bars.NO_BAR, attempt, [world], ["all_reduce"], repeats, engine)

    made = []
    libraries: list[tuple[str, Callable[[Cell], Trial]]] = [("Gloo", gloo)]
    if (OPEN_MPI / "mpirun").exists():
        libraries.append(("Open MPI", functools.partial(open_mpi, ulfm=False)))
        libraries.append(("Open MPI, --with-ft ulfm", functools.partial(open_mpi, ulfm=True)))
    for engine, attempt in libraries:
        made += [row(fault, engine, attempt, HERE) for fault in (KILLED, STOPPED)]
        if not why_no_hosts():
            made += [row(fault, engine, attempt, APART) for fault in (KILLED, STOPPED, DROPPED)]
    return made
