"""The ladder of what is called from C: from the naive algorithm to the engine's best, with the MPI libraries and oneCCL
beside the rungs that do what they do.

For: its rungs, and what can be taken away from its top. Not for: arms of Python (python_ladder.py), which are never in
one verdict with these.

A library stands twice beside the ladder: forced to the ladder's algorithm beside the engine's, which leaves the
implementation as the one difference, and with its own choice beside the engine's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ringtree.explain.python_ladder import SIMPLE, fastest, without_protocol, without_streaming
from ringtree.explain.rungs import ALGORITHM, BUFFERS, START, Rung, unless

HEAD = "native:"
TOP = f"{HEAD}auto/shared"
NAIVE = "naive"
FROM_NAIVE = "from_naive"
LIBRARIES = {"openmpi": "Open MPI", "mpich": "MPICH", "impi": "Intel MPI", "oneccl": "oneCCL"}
# What each library calls the algorithm, as a switch of its arm. One that is not named has none in every version: MPICH
# 4.0 has no ring.
THEIR_NAMES: Mapping[str, Mapping[str, str]] = {
    "ring": {"openmpi": "ring", "impi": "8", "oneccl": "ring"},
    "recursive_doubling": {
        "openmpi": "recursive_doubling",
        "mpich": "recursive_doubling",
        "impi": "1",
        "oneccl": "recursive_doubling",
    },
    "halving_doubling": {
        "openmpi": "rabenseifner",
        "mpich": "reduce_scatter_allgather",
        "impi": "2",
        "oneccl": "rabenseifner",
    },
}


def rungs(algorithm: str, protocol: str, num_ranks: int, num_cores: int) -> list[Rung]:
    """As python_ladder.rungs."""
    start, held = f"{HEAD}{NAIVE}/{SIMPLE}", f"{HEAD}{algorithm}/{SIMPLE}"
    same = f"no change: the ladder starts with {NAIVE}" if start == held else None
    names = THEIR_NAMES.get(algorithm, {})
    return [
        Rung(START, "naive, called from C", start),
        unless(same, FROM_NAIVE, f"{NAIVE} → {algorithm}", held),
        fastest(algorithm, protocol, HEAD),
        *(
            Rung(f"{library}_same", f"beside: {algorithm} of {LIBRARIES[library]}", f"{library}:{switch}", aside=True)
            for library, switch in names.items()
        ),
        Rung(ALGORITHM, f"{algorithm} → auto's choice", f"{HEAD}auto"),
        *(Rung(library, f"beside: {name}'s choice", library, aside=True) for library, name in LIBRARIES.items()),
        Rung(BUFFERS, "private buffers → shared ones", TOP),
    ]


def takings(algorithm: str, size_bytes: int, top: Mapping[str, Any] | None) -> list[Rung]:
    """As python_ladder.takings."""
    from_python = "asked for from Python only"
    why = from_python if top is None or top["algorithm"] != algorithm else f"auto runs {algorithm}"
    return [
        without_protocol(TOP, top),
        Rung(ALGORITHM, algorithm, None, why),
        *without_streaming(TOP, top),
        Rung(BUFFERS, "private buffers", None, from_python),
    ]
