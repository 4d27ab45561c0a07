"""A library whose arms run in native processes of their own: how they are found, started and called.

For: what a kind of arm says of an arm that C processes host (kind.py, `native`). Not for: which libraries there are
(mpi.py, native_engine.py), compiling their worker (worker_building.py), or talking to it
(ringtree.measure.worker_ranks).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


class Program(Protocol):
    """Starts one library's processes; equal programs are one set of them, whatever arms they host."""

    @property
    def name(self) -> str: ...

    def command(self, num_ranks: int, socket: Path, pin: Sequence[int]) -> list[str]:
        """Returns the command that starts `num_ranks` ranks, each connecting to `socket`, rank r on pin[r % len(pin)];
        without any they are left to the scheduler. May compile the worker. Raises BuildError."""

    def environment(self) -> dict[str, str]:
        """Returns the variables to set besides those of this process."""


@dataclass(frozen=True)
class Controls:
    """Variables of a library's own that an arm sets. `wanted`: as the library must then say that it has them set, by
    the names of its tool interface (MPI_T); what it says otherwise is this arm's error."""

    variables: tuple[tuple[str, str], ...] = ()
    wanted: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Native:
    """One arm in native processes: whose, with which settings. `words`: what the engine is to run; `shared`: in buffers
    that peers read in place."""

    program: Program
    controls: Controls = field(default_factory=Controls)
    words: str | None = None
    shared: bool = False


def operands(socket: Path, pin: Sequence[int]) -> list[str]:
    """Returns the options that every worker takes (workers/worker_start.c)."""
    return ["--socket", str(socket), *(["--pin", ",".join(map(str, pin))] if pin else [])]


def is_crowded(num_ranks: int, pin: Sequence[int]) -> bool:
    """Returns whether some ranks share a core: they are pinned to `pin`, or may use all cores if it is empty."""
    return num_ranks > len(set(pin) or os.sched_getaffinity(0))
