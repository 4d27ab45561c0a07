"""A rung: one arm of a ladder, the arm below it with one thing changed; and what every ladder does with its rungs.

For: what ladders are made of. Not for: which ladders there are (ladder_kinds.py; each has a file), measuring
(ladder_run.py) or arithmetic (ladder.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

Lacks = Callable[[str], str | None]  # why an arm (a label) can't run here; None: it can

# Keys that ladders share: what is changed by the rung, or taken away from the top.
START, NATIVE, WAITING, PROTOCOL, ALGORITHM, CHANNELS, STREAMING, BUFFERS = (
    "start",
    "native",
    "waiting",
    "protocol",
    "algorithm",
    "channels",
    "streaming",
    "buffers",
)


@dataclass(frozen=True)
class Rung:
    """One rung, or the top with one thing taken away. `arm`: None if nothing is measured, and `why` says why. `aside`:
    the next rung does not stand on it."""

    key: str
    title: str
    arm: str | None
    why: str | None = None
    aside: bool = False


def unless(why: str | None, key: str, title: str, arm: str, aside: bool = False) -> Rung:
    """Returns a rung that is not measured if there is a reason."""
    return Rung(key, title, arm if why is None else None, why, aside)


def arms_of(ladders: Iterable[Sequence[Rung]]) -> list[str]:
    """Returns the arms that all sizes together need, from the bottom, each once."""
    names = [rung.arm for of_size in ladders for rung in of_size]
    return list(dict.fromkeys(name for name in names if name is not None))


def without_lacking(rungs: Iterable[Rung], lacks: Lacks) -> list[Rung]:
    """Returns the rungs; those whose arm can't run here have the reason in its place."""
    found = []
    for rung in rungs:
        why = None if rung.arm is None else lacks(rung.arm)
        found.append(rung if why is None else replace(rung, arm=None, why=why))
    return found
