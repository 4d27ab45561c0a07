"""Ranks of an MPI library that the user's own launcher starts: `compare --launcher 'srun --mpi=pmix'`.

For: clusters whose MPI is wired up by the scheduler, and options of mpirun that ringtree does not know. Not for: other
hosts (workers connect to the lab by a Unix socket), or finding a library (mpi_libraries.py).
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ringtree.arms.mpi_libraries import MpiProgram
from ringtree.arms.program import Native, Program, operands
from ringtree.errors import UsageError


@dataclass(frozen=True)
class LaunchedBy:
    """`program`, by `words` with -n and the number of ranks behind them; none of the options that it would get here."""

    program: MpiProgram
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.program.name

    def command(self, num_ranks: int, socket: Path, pin: Sequence[int]) -> list[str]:
        return [*self.words, "-n", str(num_ranks), str(self.program.worker()), *operands(socket, pin)]

    def environment(self) -> dict[str, str]:
        return self.program.environment()


def launched_by(words: Sequence[str], program: Program) -> Program:
    """Returns `program` as the user's launcher starts it; as it is without one, or if it is not of an MPI library."""
    return LaunchedBy(program, tuple(words)) if words and isinstance(program, MpiProgram) else program


def launcher_words(text: str, natives: Sequence[Native]) -> list[str]:
    """Returns the words of a launcher for these arms. Raises UsageError if it can't start them."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--launcher {text!r} can't be parsed: {error}") from None
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"--launcher {text!r}: {words[0] if words else 'nothing'} can't be started here")
    libraries = dict.fromkeys(one.program.name for one in natives if isinstance(one.program, MpiProgram))
    if len(libraries) != 1:
        named = ", ".join(libraries) or "none"
        raise UsageError(f"--launcher starts the ranks of one MPI library: name one with --arms, not {named}")
    return words
